import Dispatch
import SystemIO

/// Counts the callers that will soon wait for a flush, and lets a round of flushes wait for them. On a busy machine, the
/// disk is faster than the processor: without this, each round would find only one or two callers, and flush for them
/// alone.
final class ExpectedCallers: Sendable {
  private struct State {
    var count = 0
    var isAwaited = false
  }

  private let patience: DispatchTimeInterval
  private let state = Lock(State())
  private let arrival = DispatchSemaphore(value: 0)

  /// - Parameter patience: how long a round waits at most.
  init(patience: DispatchTimeInterval) { self.patience = patience }

  func add() { state.withLock { $0.count += 1 } }

  /// Notes that an expected caller waits for the flush now, or was refused.
  func remove() {
    let isLast = state.withLock { state in
      state.count -= 1
      guard state.count == 0, state.isAwaited else { return false }
      state.isAwaited = false
      return true
    }
    if isLast { arrival.signal() }
  }

  /// Blocks until no caller is expected, but not longer than the patience. Only one thread may wait.
  func wait() {
    let isNeeded = state.withLock { state in
      state.isAwaited = state.count > 0
      return state.isAwaited
    }
    guard isNeeded, arrival.wait(timeout: .now() + patience) == .timedOut else { return }
    let isSignalled = state.withLock { state in
      defer { state.isAwaited = false }
      return !state.isAwaited
    }
    // The signal came after the timeout, and must not end the next wait.
    if isSignalled { arrival.wait() }
  }
}
