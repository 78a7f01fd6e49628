import Foundation
import SnapshotFormat
import SystemIO

/// `mode.json`: what outlives a launch. One file, so that state and snapshot change in one rename.
struct StoredMode: Codable {
  var state: SnapshotMode.State
  /// The name of the active snapshot's folder.
  var active: SnapshotID?

  /// Replaces the file, durably.
  func save(in storage: Storage) throws(SystemError) {
    let active = active.map { ",\"active\":\"\($0)\"" } ?? ""
    let json = Array("{\"state\":\"\(state.rawValue)\"\(active)}".utf8)
    do {
      try DurableFile.replace(storage.mode, with: json)
    } catch  where error.isNotFound {
      try Folder.create(storage.folder)
      try DurableFile.replace(storage.mode, with: json)
    }
  }
}

extension SnapshotMode.Core {
  /// What the last launch left; disabled, with an event, where that can't be read.
  static func restored(from storage: Storage, onEvent: (SnapshotMode.Event) -> Void) -> SnapshotMode.Core {
    do {
      let file = try File(storage.mode)
      let stored = try SnapshotJSON.decode(StoredMode.self, from: Data(file.read(upTo: 4096, at: 0)))
      return SnapshotMode.Core(state: stored.state, active: try stored.active.map { try load($0, storage) })
    } catch let error as SystemError where error.isNotFound && error.path == storage.mode {
      return SnapshotMode.Core(state: .disabled)
    } catch {
      onEvent(.init(.stateNotRestored, "\(error)"))
      return SnapshotMode.Core(state: .disabled)
    }
  }

  private static func load(_ id: SnapshotID, _ storage: Storage) throws -> ActiveSnapshot {
    let folder = storage.snapshots + "/\(id)"
    let file = try File(folder + "/manifest.json")
    let json = try file.read(upTo: Manifest.Limits.default.size + 1, at: 0)
    return ActiveSnapshot(id: id, manifest: try Manifest(json: Data(json)), folder: folder)
  }
}
