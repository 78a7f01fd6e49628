import SnapshotStore
import Synchronization

/// Has the requests about one upload take turns: a newer one ends the bodies of those before it, and then waits for its
/// turn.
///
/// A turn is given up however its work ends, so that no upload can be stuck: what a request waits for is that a body
/// is no longer read, and that what it brought is on the disk.
final class UploadTurns: Sendable {
  private struct Waiting {
    let turn: UploadTurn
    /// Who waits; `nil` for the one whose turn it is.
    var continuation: CheckedContinuation<Void, Never>?
  }

  private let queues = Mutex<[UploadID: [Waiting]]>([:])

  /// Does `work` when all that came before it about the same upload has ended.
  func take<Value>(
    _ id: UploadID, _ work: (UploadTurn) async throws(UploadError) -> Value
  ) async throws(UploadError) -> Value {
    let turn = UploadTurn()
    await enter(turn, id)
    defer { leave(id) }
    return try await work(turn)
  }

  /// How many requests are about an upload, one of them at work.
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

/// One request's turn.
final class UploadTurn: Sendable {
  private struct State {
    var isOver = false
    /// Ends the body that is being read.
    var cancel: (@Sendable () -> Void)?
  }

  private let state = Mutex(State())

  /// Whether a newer request waits.
  var isOver: Bool { state.withLock { $0.isOver } }

  /// Ends the body that is being read, or that is yet to be.
  func end() {
    let cancel = state.withLock { state in
      state.isOver = true
      return state.cancel
    }
    cancel?()
  }

  /// Reads a body in a task of its own, which is cancelled when a newer request comes, or with the caller's.
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
