import Dispatch
import Synchronization

/// Does one thing after the other on a thread of its own, which gives way to all others and ends when nothing is left.
///
/// A queue of Dispatch would not do: on Linux all its threads weigh the same.
package final class BackgroundQueue: Sendable {
  private struct State: Sendable {
    var waiting: [@Sendable () -> Void] = []
    var isRunning = false
  }

  private let state = Mutex(State())

  /// A queue with nothing to do.
  package init() {}

  /// Does blocking work here while the caller's executor is free for others. Cancelling the task doesn't end the wait.
  package func perform<Value: Sendable, Failure: Error>(
    _ work: @escaping @Sendable () throws(Failure) -> Value
  ) async throws(Failure) -> Value {
    let result: Result<Value, Failure> = await withCheckedContinuation { continuation in
      self.async { continuation.resume(returning: Result(catching: work)) }
    }
    return try result.get()
  }

  /// Has `work` done after what waits before it.
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
    // Without a thread of its own it is done by a shared one, which gives way to nobody.
    if !hasStarted { DispatchQueue.global(qos: .background).async { self.work() } }
  }

  private func work() {
    while let waiting = takeWaiting() {
      for work in waiting { work() }
    }
  }

  /// How much waits to be begun.
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
