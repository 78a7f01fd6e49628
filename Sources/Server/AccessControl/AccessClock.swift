package import Foundation

/// The clocks that access control uses. Tests inject their own.
package struct AccessClock: Sendable {
  /// Returns the time of day, for expiry dates.
  package var now: @Sendable () -> Date
  /// Returns the time since a fixed moment, for rates. It never decreases.
  package var elapsed: @Sendable () -> Duration
  /// Suspends the task for a duration.
  package var sleep: @Sendable (Duration) async throws -> Void

  /// Creates a clock. The defaults are the system's clocks.
  package init(
    now: @escaping @Sendable () -> Date = { Date() },
    elapsed: @escaping @Sendable () -> Duration = { ContinuousClock.now - start },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.now = now
    self.elapsed = elapsed
    self.sleep = sleep
  }

  /// The moment at which the default ``elapsed`` is zero.
  package static let start = ContinuousClock.now
}
