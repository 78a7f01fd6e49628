package import AccessControl
package import Foundation
import SystemIO

/// A clock that only advances when a test says so. Sleeping tasks let others run, and return.
package final class HandClock: Sendable {
  private struct State {
    var passed = Duration.zero
    /// How far the time of day was set ahead.
    var ahead = Duration.zero
    var slept: [Duration] = []
  }

  private let state = Lock(State())
  /// A whole second, because dates are stored with millisecond precision.
  private let start = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))

  /// Creates a clock that shows the current second.
  package init() {}

  /// The time of day.
  package var now: Date { start.addingTimeInterval(state.withLock { $0.passed + $0.ahead } / .seconds(1)) }
  /// The pauses that tasks asked for, in their order.
  package var slept: [Duration] { state.withLock { $0.slept } }

  /// The time that has passed, whatever the time of day is.
  package var elapsed: Duration { state.withLock { $0.passed } }

  /// Changes the time of day only.
  package func jump(_ time: Duration) { state.withLock { $0.ahead += time } }

  /// Advances the time, and with it the time of day.
  package func pass(_ time: Duration) { state.withLock { $0.passed += time } }

  /// The clock for an access policy.
  package var accessClock: AccessClock {
    AccessClock(
      now: { self.now }, elapsed: { self.elapsed },
      sleep: { time in
        self.state.withLock { $0.slept.append(time) }
        await Task.yield()
      })
  }
}
