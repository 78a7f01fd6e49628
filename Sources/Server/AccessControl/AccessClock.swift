package import Foundation

/// The time as access control sees it.
package struct AccessClock: Sendable {
  /// The time of day, for what expires.
  package var now: @Sendable () -> Date
  /// The time since some moment, which never goes back, for rates.
  package var elapsed: @Sendable () -> Duration
  /// Waits.
  package var sleep: @Sendable (Duration) async throws -> Void

  /// The system's clocks, unless told otherwise.
  package init(
    now: @escaping @Sendable () -> Date = { Date() },
    elapsed: @escaping @Sendable () -> Duration = { ContinuousClock.now - start },
    sleep: @escaping @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) {
    self.now = now
    self.elapsed = elapsed
    self.sleep = sleep
  }

  /// Where ``elapsed`` counts from.
  package static let start = ContinuousClock.now
}
