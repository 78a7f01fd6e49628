/// Remembers whether writing to a disk takes so long that it must not be done on a thread that serves requests.
///
/// After a slow write, the disk counts as slow for a short time, because the thread may only have been interrupted. If
/// the next attempt is slow, too, the time doubles.
package struct WritingPace: Sendable {
  /// A write that takes longer is slow.
  private let patience: Duration
  /// The shortest and the longest time for which the disk counts as slow.
  private let periods: ClosedRange<Duration>
  private var period: Duration
  private var slowUntil: ContinuousClock.Instant?

  /// Creates a pace. The disk does not count as slow.
  package init(patience: Duration, periods: ClosedRange<Duration>) {
    (self.patience, self.periods, period) = (patience, periods, periods.lowerBound)
  }

  /// Whether the disk counts as slow at `now`.
  package func isSlow(at now: ContinuousClock.Instant) -> Bool { slowUntil.map { now < $0 } ?? false }

  /// Adds a write.
  package mutating func add(from start: ContinuousClock.Instant, to end: ContinuousClock.Instant) {
    if end - start > patience {
      slowUntil = end + period
      period = min(period * 2, periods.upperBound)
    } else if !isSlow(at: start) {
      period = periods.lowerBound
    }
  }
}
