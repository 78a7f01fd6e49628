/// Limits for comparing two snapshots. They bound memory and time, and the length of the result.
///
/// A comparison keeps the contents of one recording at a time in memory, from both snapshots, and 32 bytes for each
/// JSON value in it.
public struct ComparisonLimits: Sendable, Hashable {
  /// The maximum size of a compared recording, in bytes, in either snapshot.
  public var recordingBytes = 64 << 20
  /// The maximum number of bytes read from all recordings. The smallest recordings are compared first.
  public var totalBytes: Int64 = 4 << 30
  /// The maximum number of values in a JSON document.
  public var values = 8_000_000
  /// The maximum nesting depth of a JSON document.
  public var depth = 256
  /// The maximum number of reported changes in one recording. All are counted.
  public var changes = 1000
  /// The number of changes in each recording before the first reported one.
  public var skippedChanges = 0
  /// The maximum number of reported changes in all recordings.
  public var totalChanges = 100_000
  /// The maximum number of reported recordings of each kind (added, removed and changed), and of reported files. The
  /// first ones in order are reported; all are counted.
  public var listed = Int.max
  /// The maximum number of reported bytes of a value.
  public var excerptLength = 160
  /// The maximum number of reported bytes of a key in a path.
  public var keyLength = Int.max
  /// The maximum time for comparing contents. Recordings that remain are only reported as different.
  public var duration: Duration?

  /// Creates the default limits.
  public init() {}

  /// The default limits.
  public static let `default` = ComparisonLimits()
}

/// The remaining budget for reading recordings and reporting their changes.
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

  /// The number of changes that can be reported for two recordings of these sizes; `nil` if they must not be read.
  mutating func take(_ first: Int64, _ second: Int64) -> Int? {
    guard max(first, second) <= Int64(limits.recordingBytes), first + second <= bytes, changes > 0,
      end.map({ clock.now < $0 }) ?? true
    else { return nil }
    bytes -= first + second
    return min(limits.changes, changes)
  }

  /// Subtracts the reported changes from the budget.
  mutating func told(_ count: Int) { changes -= count }
}
