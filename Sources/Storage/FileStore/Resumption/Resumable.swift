import Dispatch
import SnapshotStore
import Synchronization
import SystemIO

/// One upload of a store that may be resumed.
final class Resumable: Sendable {
  private struct State {
    /// As it lasts.
    var session: UploadSession
    /// The number of the progress that lasts.
    var number: Int
    /// Whether another progress was written, of which nobody knows whether it lasts.
    var isUncertain = false
    /// Whether its files are all there.
    var isThere: Bool
  }

  let id: UploadID
  /// Where its files are written.
  let queue: DispatchQueue
  /// The room that its bytes take.
  let arrival: QuotaTracker.Arrival
  /// The digest of what is there, as far as it was computed.
  let digest = Mutex(PrefixDigest())
  private let state: Mutex<State>

  /// An upload whose files are yet to be made.
  init(_ session: UploadSession, on queue: DispatchQueue, in quotaTracker: QuotaTracker) {
    id = session.id
    self.queue = queue
    arrival = QuotaTracker.Arrival(in: quotaTracker)
    state = Mutex(State(session: session, number: 0, isThere: false))
  }

  /// An upload as it was found.
  init(_ found: UploadRecovery.Found, on queue: DispatchQueue, in quotaTracker: QuotaTracker) {
    id = found.session.id
    self.queue = queue
    arrival = QuotaTracker.Arrival(in: quotaTracker)
    if found.session.outcome == nil { arrival.restore(found.session.offset) }
    state = Mutex(State(session: found.session, number: found.number, isThere: true))
  }

  /// Whether its files are all there: before that, nobody knows of it.
  var isThere: Bool { state.withLock { $0.isThere } }

  /// Its files are there.
  func show() { state.withLock { $0.isThere = true } }

  /// How far it is.
  var session: UploadSession { state.withLock { $0.session } }

  /// Whether the file may say something else than ``session``.
  var isUncertain: Bool { state.withLock { $0.isUncertain } }

  /// Writes how far it is. It lasts once the file is flushed; then ``adopt(_:)`` it. Blocks: on ``queue``.
  func write(_ session: UploadSession, to path: String, _ faults: FaultInjection) throws(SystemError) -> File
  {
    try faults.before(.writeProgress)
    let file = try File(path, .update)
    // One that was written and could not be flushed is written over by the next, of the same number.
    let number = state.withLock { state in
      state.isUncertain = true
      return state.number + 1
    }
    try UploadFile.write(session.progress, number: number, to: file)
    return file
  }

  /// What was written lasts.
  func adopt(_ session: UploadSession) {
    state.withLock { state in
      state.session = session
      state.number += 1
      state.isUncertain = false
    }
  }
}
