import Foundation
import SnapshotClient
import SystemIO

/// A clock that a test sets. It wakes the sleepers whose time has come.
final class ManualClock: Sendable {
  private struct Sleeper {
    let due: Date
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var now = Date(timeIntervalSince1970: 1_700_000_000)
    var count = 0
    var sleepers: [Int: Sleeper] = [:]
    var cancelled: Set<Int> = []
    var expected: [(due: Date, continuation: CheckedContinuation<Void, Never>)] = []
    /// Whether the test was cancelled, for example by its time limit.
    var isOver = false
  }

  /// Allows for rounding errors of fractional seconds.
  private static let tolerance = 0.001
  private let state = Lock(State())

  var now: Date { state.withLock { $0.now } }

  /// Waits until a task sleeps until `due`, and then sets the clock to that time.
  func reach(_ due: Date) async {
    await waitForSleep(until: due)
    set(due)
  }

  /// Waits until a task sleeps until `due`.
  func waitForSleep(until due: Date) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isThere = state.withLock { state in
          if state.isOver || Self.isAwaited(due, state) { return true }
          state.expected.append((due, continuation))
          return false
        }
        if isThere { continuation.resume() }
      }
    } onCancel: {
      let waiting = state.withLock { state in
        defer { (state.expected, state.isOver) = ([], true) }
        return state.expected.map(\.continuation)
      }
      for continuation in waiting { continuation.resume() }
    }
  }

  /// Sets the clock to `date`, which can be earlier or later.
  func set(_ date: Date) {
    let woken = state.withLock { state in
      state.now = date
      let woken = state.sleepers.filter { $0.value.due <= date.addingTimeInterval(Self.tolerance) }
      for number in woken.keys { state.sleepers[number] = nil }
      return woken.values.map(\.continuation)
    }
    for continuation in woken { continuation.resume(returning: true) }
  }

  func sleep(_ duration: Duration) async throws {
    let number = state.withLock { state in
      state.count += 1
      return state.count
    }
    let isOver = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (isCancelled, seen) = state.withLock { state in
          if state.cancelled.contains(number) { return (true, [CheckedContinuation<Void, Never>]()) }
          let due = state.now.addingTimeInterval(duration / .seconds(1))
          state.sleepers[number] = Sleeper(due: due, continuation: continuation)
          let current = state
          let seen = current.expected.filter { Self.isAwaited($0.due, current) }.map(\.continuation)
          state.expected = current.expected.filter { !Self.isAwaited($0.due, current) }
          return (false, seen)
        }
        if isCancelled { continuation.resume(returning: false) }
        for observer in seen { observer.resume() }
      }
    } onCancel: {
      let sleeper = state.withLock { state in
        state.cancelled.insert(number)
        return state.sleepers.removeValue(forKey: number)
      }
      sleeper?.continuation.resume(returning: false)
    }
    if !isOver { throw CancellationError() }
  }

  private static func isAwaited(_ due: Date, _ state: State) -> Bool {
    state.sleepers.values.contains { abs($0.due.timeIntervalSince(due)) <= tolerance }
  }
}
