import Logging
import SnapshotFormat
import SystemIO

/// Puts right what a crash left, before anything is served.
struct Recovery {
  let shelf: Shelf
  let logger: Logger

  /// Makes the folders of a storage that has none, each of them lasting.
  static func prepare(_ shelf: Shelf) throws(SystemError) {
    var missing: [String] = []
    var path = shelf.bundles
    while !Folder.exists(path) {
      missing.append(path)
      path = Folder.parent(of: path)
    }
    for folder in [shelf.bundles, shelf.uploads] { try Folder.create(folder) }
    for folder in missing { try Folder.synchronize(Folder.parent(of: folder)) }
  }

  /// Removes what was staged and never published, ends deletions that were begun, and makes what is published
  /// last: a crash may have come between a publication and the flush of its folder.
  /// - Returns: the folders in `bundles/`, each of which would survive a power cut.
  func run() throws(SystemError) -> Set<String> {
    for name in try Folder.entries(shelf.uploads) {
      try Folder.removeTree(shelf.uploads + "/" + name)
      logger.info("Removed an upload that was never committed", metadata: ["upload": "\(name)"])
    }
    let folders = try shelf.folders()
    for folder in folders {
      try tidy(folder)
      try Folder.synchronize(folder)
    }
    for folder in [shelf.bundles, shelf.root] { try Folder.synchronize(folder) }
    return Set(folders)
  }

  private func tidy(_ folder: String) throws(SystemError) {
    var found: [SnapshotID: Set<Shelf.Kind>] = [:]
    for name in try Folder.entries(folder) {
      if let (id, kind) = Shelf.parse(name, in: folder) {
        found[id, default: []].insert(kind)
      } else {
        logger.warning(
          "There is a file in the storage that is none of its own", metadata: ["path": "\(folder)/\(name)"])
      }
    }
    for (id, kinds) in found {
      if kinds.contains(.tombstone) {
        try endDeletion(of: id, kinds)
      } else if !kinds.contains(.record) {
        try setAside(id)
      } else if !kinds.contains(.bundle) {
        try Folder.removeIfPresent(shelf.path(.record, of: id))
        logger.info("Removed the record of a bundle that was never published", metadata: ["id": "\(id)"])
      }
    }
  }

  private func endDeletion(of id: SnapshotID, _ kinds: Set<Shelf.Kind>) throws(SystemError) {
    guard kinds.count > 1 else { return }
    try Folder.removeIfPresent(shelf.path(.bundle, of: id))
    try Folder.removeIfPresent(shelf.path(.record, of: id))
    logger.info("Ended a deletion", metadata: ["id": "\(id)"])
  }

  /// Nobody knows the report of a bundle without a record, so nobody may fetch it; but it is not ours to remove.
  private func setAside(_ id: SnapshotID) throws(SystemError) {
    try Folder.create(shelf.setAside)
    let place = "\(shelf.setAside)/\(SnapshotID())-\(id).zip"
    try Folder.publish(shelf.path(.bundle, of: id), as: place)
    logger.error("Set aside a bundle that has no record", metadata: ["id": "\(id)", "path": "\(place)"])
  }
}
