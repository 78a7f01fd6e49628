import SnapshotStore
import SystemIO

/// Serializes the requests to each upload. A new request cancels the bodies of those before it, then waits for its
/// turn.
///
/// A turn ends however its work ends, so that no upload can get stuck. When a request's turn begins, no earlier body is
/// being read, and all their bytes are on the disk.
final class UploadTurns: Sendable {
  private struct Waiting {
    let turn: UploadTurn
    /// The continuation of a waiting request; `nil` for the one whose turn it is.
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let queues = Lock<[UploadID: [Waiting]]>([:])

  /// Performs `work` after all earlier requests to the same upload have ended.
  func take<Value>(
    _ id: UploadID, _ work: (UploadTurn) async throws(UploadError) -> Value
  ) async throws(UploadError) -> Value {
    let turn = UploadTurn()
    await enter(turn, id)
    defer { leave(id) }
    return try await work(turn)
  }

  /// Returns the number of requests to an upload, including the one whose turn it is.
  func count(_ id: UploadID) -> Int { queues.withLock { $0[id]?.count ?? 0 } }

  private func enter(_ turn: UploadTurn, _ id: UploadID) async {
    await withCheckedContinuation { continuation in
      let older = queues.withLock { queues in
        let older = queues[id, default: []]
        queues[id] = older + [Waiting(turn: turn, continuation: older.isEmpty ? nil : continuation)]
        return older.map(\.turn)
      }
      if older.isEmpty { continuation.resume() }
      for turn in older { turn.end() }
    }
  }

  private func leave(_ id: UploadID) {
    let next: CheckedContinuation<Void, Never>? = queues.withLock { queues in
      queues[id]?.removeFirst()
      guard queues[id]?.isEmpty == false else {
        queues[id] = nil
        return nil
      }
      return queues[id]?[0].continuation.take()
    }
    next?.resume()
  }
}

/// The turn of one request.
final class UploadTurn: Sendable {
  private struct State {
    var isOver = false
    /// Cancels the body that is being read.
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Lock(State())

  /// Whether a newer request is waiting.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Cancels the body that is being read, or will be read.
  func end() {
    let cancel = state.withLock { state in
      state.isOver = true
      return state.cancel
    }
    cancel?()
  }

  /// Reads a body in a separate task, which is cancelled by a newer request, or with the calling task.
  func reading<Value: Sendable>(
    _ read: @escaping @Sendable () async -> Value
  ) async -> Value {
    let task = Task { await read() }
    let isOver = state.withLock { state in
      state.cancel = { task.cancel() }
      return state.isOver
    }
    if isOver { task.cancel() }
    let value = await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }
    state.withLock { $0.cancel = nil }
    return value
  }
}
