/// What may still be read and told of recordings that differ.
struct ComparisonBudget<Time: Clock> where Time.Duration == Duration {
  private let limits: ComparisonLimits
  private let clock: Time
  private let end: Time.Instant?
  private var bytes: Int64
  private var changes: Int

  init(_ limits: ComparisonLimits, clock: Time) {
    self.limits = limits
    self.clock = clock
    end = limits.duration.map { clock.now.advanced(by: $0) }
    bytes = limits.totalBytes
    changes = limits.totalChanges
  }

  /// How many changes may be told of recordings of these sizes; `nil` where they are not to be read.
  mutating func take(_ first: Int64, _ second: Int64) -> Int? {
    guard max(first, second) <= Int64(limits.recordingBytes), first + second <= bytes, changes > 0,
      end.map({ clock.now < $0 }) ?? true
    else { return nil }
    bytes -= first + second
    return min(limits.changes, changes)
  }

  /// Notes that so many changes were told.
  mutating func told(_ count: Int) { changes -= count }
}
