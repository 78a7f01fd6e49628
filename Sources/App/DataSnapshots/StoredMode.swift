import Foundation
import SnapshotFormat
import SystemIO

/// `mode.json`: the values that are kept across launches. They are in one file, so that one rename changes both.
struct StoredMode: Codable {
  var state: SnapshotMode.State
  /// The name of the active snapshot's folder.
  var active: SnapshotID?

  /// The maximum number of bytes read. A written file has about 80.
  static let maximumSize = 4096

  /// Replaces the file durably.
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

extension ModeState.Core {
  /// Returns the values of the last launch. The state is disabled if there was none.
  static func restored(from storage: Storage) throws -> ModeState.Core {
    let json: [UInt8]
    do {
      json = try File(storage.mode).read(upTo: StoredMode.maximumSize, at: 0)
    } catch  where error.isNotFound {
      return ModeState.Core(stored: .disabled)
    }
    let stored = try SnapshotJSON.decode(StoredMode.self, from: Data(json))
    guard let active = stored.active else { return ModeState.Core(stored: stored.state) }
    return ModeState.Core(stored: stored.state, active: try load(active, storage))
  }

  private static func load(_ id: SnapshotID, _ storage: Storage) throws -> ActiveSnapshot {
    try ActiveSnapshot(id: id, in: storage.snapshots + "/\(id)")
  }
}
