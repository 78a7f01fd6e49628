import Foundation
import SnapshotFormat
import SystemIO

/// `mode.json`: what outlives a launch. One file, so that state and snapshot change in one rename.
struct StoredMode: Codable {
  var state: SnapshotMode.State
  /// The name of the active snapshot's folder.
  var active: SnapshotID?

  /// The most bytes that are read; what is written has some eighty.
  static let maximumSize = 4096

  /// Replaces the file, durably.
  func save(in storage: Storage) throws(SystemError) {
    let active = active.map { ",\"active\":\"\($0)\"" } ?? ""
    let json = Array("{\"state\":\"\(state.rawValue)\"\(active)}".utf8)
    do {
      try DurableFile.replace(storage.mode, with: json)
    } catch  where error.isNotFound {
      try Folder.createDurably(storage.folder)
      try DurableFile.replace(storage.mode, with: json)
    }
  }
}

extension SnapshotMode.Core {
  /// What the last launch left; disabled where there was none.
  static func restored(from storage: Storage) throws -> SnapshotMode.Core {
    let json: [UInt8]
    do {
      json = try File(storage.mode).read(upTo: StoredMode.maximumSize, at: 0)
    } catch  where error.isNotFound {
      return SnapshotMode.Core(stored: .disabled)
    }
    let stored = try SnapshotJSON.decode(StoredMode.self, from: Data(json))
    guard let active = stored.active else { return SnapshotMode.Core(stored: stored.state) }
    return SnapshotMode.Core(stored: stored.state, active: try load(active, storage))
  }

  private static func load(_ id: SnapshotID, _ storage: Storage) throws -> ActiveSnapshot {
    let folder = storage.snapshots + "/\(id)"
    let file = try File(folder + "/manifest.json")
    let json = try file.read(upTo: Manifest.Limits.default.size + 1, at: 0)
    return ActiveSnapshot(id: id, manifest: try Manifest(json: Data(json)), folder: folder)
  }
}
