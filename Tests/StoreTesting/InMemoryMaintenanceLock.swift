import SnapshotStore
import SystemIO

/// A lock of maintenance that the servers in one process share.
package final class InMemoryMaintenanceLock: MaintenanceLock {
  private struct State {
    var isHeld = false
    /// Continued with whether they hold the lock now.
    var waiting: [(number: Int, continuation: CheckedContinuation<Bool, Never>)] = []
    var cancelled: Set<Int> = []
    var next = 0
    /// Cancels the work of the holder.
    var cancelWork: (@Sendable () -> Void)?
    var isRevoked = false
  }

  private let state = Lock(State())

  /// Creates a lock that nobody holds.
  package init() {}

  /// Takes the lock from its holder, as if its connection were interrupted.
  package func revoke() {
    let cancel = state.withLock { state in
      state.isRevoked = state.cancelWork != nil
      return state.cancelWork
    }
    cancel?()
  }

  package func whileHeld(_ work: @escaping @Sendable () async -> Void) async {
    while await acquire() {
      let task = Task { await work() }
      state.withLock { $0.cancelWork = { task.cancel() } }
      await withTaskCancellationHandler {
        await task.value
      } onCancel: {
        task.cancel()
      }
      guard release(), !Task.isCancelled else { return }
    }
  }

  /// - Returns: whether this task holds the lock now; otherwise it was cancelled.
  private func acquire() async -> Bool {
    let number = state.withLock { state in
      state.next += 1
      return state.next
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let decision: Bool? = state.withLock { state in
          if state.cancelled.remove(number) != nil { return false }
          if !state.isHeld {
            state.isHeld = true
            return true
          }
          state.waiting.append((number, continuation))
          return nil
        }
        if let decision { continuation.resume(returning: decision) }
      }
    } onCancel: {
      let continuation = state.withLock { state in
        guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
          state.cancelled.insert(number)
          return CheckedContinuation<Bool, Never>?.none
        }
        return state.waiting.remove(at: index).continuation
      }
      continuation?.resume(returning: false)
    }
  }

  /// - Returns: whether the lock was revoked, and not released.
  private func release() -> Bool {
    let (wasRevoked, next) = state.withLock { state in
      defer { (state.cancelWork, state.isRevoked, state.isHeld) = (nil, false, !state.waiting.isEmpty) }
      return (state.isRevoked, state.waiting.isEmpty ? nil : state.waiting.removeFirst().continuation)
    }
    next?.resume(returning: true)
    return wasRevoked
  }
}
