import Dispatch

/// Runs work items one after the other on a separate thread with low priority. The thread ends when no work remains.
///
/// A Dispatch queue is not enough: on Linux all its threads have the same priority.
package final class BackgroundQueue: Sendable {
  private struct State: Sendable {
    var waiting: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let state = Lock(State())

  /// Creates an empty queue.
  package init() {}

  /// Runs blocking work on this queue without blocking the caller's executor. Cancelling the task does not end the
  /// wait.
  package func perform<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  /// Adds `work` to the queue. It runs after all work that was added before.
  package func async(_ work: @escaping @Sendable () -> Void) {
    let starts = state.withLock { state in
      state.waiting.append(work)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    guard starts else { return }
    let hasStarted = DetachedThread.start {
      CurrentThread.giveWay()
      self.work()
    }
    // If the system has no thread left, a shared thread does the work; on Linux, that has normal priority.
    if !hasStarted { DispatchQueue.global(qos: .background).async { self.work() } }
  }

  private func work() {
    while let waiting = takeWaiting() {
      for work in waiting { work() }
    }
  }

  /// The number of work items that have not started.
  package var waiting: Int { state.withLock { $0.waiting.count } }

  private func takeWaiting() -> [@Sendable () -> Void]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isRunning = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }
}
