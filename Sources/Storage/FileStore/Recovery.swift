import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Repairs the storage after a crash, before the store serves any request.
struct Recovery {
  let layout: StorageLayout
  let logger: Logger

  /// Creates the folders of a new storage, and makes each durable.
  static func prepare(_ layout: StorageLayout) throws(SystemError) {
    for folder in [layout.bundles, layout.uploads] { try Folder.createDurably(folder) }
    // A process that was killed may have created the folder without flushing its name. It is then still empty.
    if try Folder.entries(layout.bundles).isEmpty { try Folder.synchronize(Folder.parent(of: layout.root)) }
  }

  /// Removes staged files that were never published, except those of resumable uploads; completes deletions; and
  /// synchronizes published bundles, since a crash can come between a publication and the flush of its folder.
  /// - Returns: the folders in `bundles/`, each of them durable, and the number and bytes of their bundles.
  func run() throws(SystemError) -> (folders: Set<String>, usage: StoreUsage) {
    for name in try Folder.entries(layout.uploads) where StorageLayout.upload(ofFile: name) == nil {
      try Folder.removeTree(layout.uploads + "/" + name)
      logger.info("Removed an upload that was never committed", metadata: ["upload": "\(name)"])
    }
    let folders = try layout.folders()
    var usage = StoreUsage()
    for folder in folders {
      try tidy(folder, &usage)
      try Folder.synchronize(folder)
    }
    for folder in [layout.bundles, layout.root] { try Folder.synchronize(folder) }
    return (Set(folders), usage)
  }

  private func tidy(_ folder: String, _ usage: inout StoreUsage) throws(SystemError) {
    var found: [SnapshotID: Set<StorageLayout.Kind>] = [:]
    for name in try Folder.entries(folder) {
      if let (id, kind) = StorageLayout.parse(name, in: folder) {
        found[id, default: []].insert(kind)
      } else {
        logger.warning(
          "There is a file in the storage that the server did not create",
          metadata: ["path": "\(folder)/\(name)"])
      }
    }
    for (id, kinds) in found {
      let bundles: [StorageLayout.Kind] = [.bundle, .damaged].filter(kinds.contains)
      if kinds.contains(.tombstone) {
        if kinds.count > 1 { try endDeletion(of: id) }
      } else if !kinds.contains(.record) {
        for kind in bundles { try setAside(id, kind) }
      } else if let bundle = bundles.first {
        // The damaged bundle was uploaded again, and a crash came before the damaged file was removed.
        if bundles.count > 1 { try Folder.removeIfPresent(layout.path(.damaged, of: id)) }
        usage.bundles += 1
        usage.bytes += try Folder.size(of: layout.path(bundle, of: id))
      } else {
        try Folder.removeIfPresent(layout.path(.record, of: id))
        logger.info("Removed the record of a bundle that was never published", metadata: ["id": "\(id)"])
      }
    }
  }

  private func endDeletion(of id: SnapshotID) throws(SystemError) {
    for kind in [StorageLayout.Kind.bundle, .damaged, .record] {
      try Folder.removeIfPresent(layout.path(kind, of: id))
    }
    logger.info("Completed a deletion", metadata: ["id": "\(id)"])
  }

  /// The report of a bundle without a record is unknown, so no client may fetch it. But the store must not delete it
  /// either.
  private func setAside(_ id: SnapshotID, _ kind: StorageLayout.Kind) throws(SystemError) {
    try Folder.create(layout.setAside)
    let place = "\(layout.setAside)/\(SnapshotID())-\(id).\(kind.rawValue)"
    try Folder.publish(layout.path(kind, of: id), as: place)
    logger.error("Set aside a bundle that has no record", metadata: ["id": "\(id)", "path": "\(place)"])
  }
}
