import Dispatch
import SnapshotStore
import SystemIO

/// One resumable upload of a store.
final class Resumable: Sendable {
  private struct State {
    /// The durable session.
    var session: UploadSession
    /// The number of the durable progress.
    var number: Int
    /// Whether a later progress was written that may or may not be durable.
    var isUncertain = false
    /// Whether all of its files exist.
    var isThere: Bool
  }

  let id: UploadID
  let bytes: ArrivingBytes
  private let folder: StorageFolder
  private let state: Lock<State>

  /// An upload whose files are not created yet.
  init(_ session: UploadSession, on queue: DispatchQueue, in folder: StorageFolder) {
    id = session.id
    self.folder = folder
    bytes = Self.bytes(of: session.id, on: queue, in: folder)
    state = Lock(State(session: session, number: 0, isThere: false))
  }

  /// An upload that recovery has found.
  init(_ found: UploadRecovery.Found, on queue: DispatchQueue, in folder: StorageFolder) {
    id = found.session.id
    self.folder = folder
    bytes = Self.bytes(of: found.session.id, on: queue, in: folder)
    if found.session.outcome == nil { bytes.restore(found.session.offset) }
    state = Lock(State(session: found.session, number: found.number, isThere: true))
  }

  private static func bytes(
    of id: UploadID, on queue: DispatchQueue, in folder: StorageFolder
  ) -> ArrivingBytes {
    ArrivingBytes(folder.layout.staged(id), on: queue, in: folder, isTransient: false)
  }

  /// Whether all of its files exist. Until then, it is not listed.
  var isThere: Bool { state.withLock { $0.isThere } }

  /// Marks its files as complete.
  func show() { state.withLock { $0.isThere = true } }

  /// The durable session.
  var session: UploadSession { state.withLock { $0.session } }

  /// Whether the file may differ from ``session``.
  var isUncertain: Bool { state.withLock { $0.isUncertain } }

  /// Makes `session` durable, and then adopts it.
  func save(_ session: UploadSession) async throws(StoreError) {
    let epoch = folder.flusher.epoch
    let file = try await bytes.queue.perform { [self] () throws(StoreError) in
      return try StoreError.disk { () throws(SystemError) in try write(session) }
    }
    try await folder.flush([.file(file)], since: epoch, .flushProgress)
    adopt(session)
  }

  /// Writes the progress of `session`. Flush the returned file to make it durable, then call ``adopt(_:)``. Blocks:
  /// call on the queue of ``bytes``.
  func write(_ session: UploadSession) throws(SystemError) -> File {
    try folder.faults.before(.writeProgress)
    let file = try File(folder.layout.path(.state, of: id), .update)
    // If a flush fails, the number is not advanced, so the next write overwrites the same slot.
    let number = state.withLock { state in
      state.isUncertain = true
      return state.number + 1
    }
    try UploadFile.write(session.progress, number: number, to: file)
    return file
  }

  /// Adopts the session that was written and is now durable.
  func adopt(_ session: UploadSession) {
    state.withLock { state in
      state.session = session
      state.number += 1
      state.isUncertain = false
    }
  }
}
