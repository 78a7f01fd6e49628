public import SnapshotFormat

/// What goes by itself, and when. Without any limit only what has an end of its own does.
///
/// Whatever the rules say, a pinned snapshot stays. An end of its own can only make a snapshot go earlier than the
/// rules would have it.
public struct RetentionRules: Sendable, Hashable {
  /// The most that is kept; `nil` is without a limit.
  public struct Limits: Sendable, Hashable {
    /// How old a snapshot gets, by when the server had it.
    public var age: TimeSpan?
    /// How many of one report are kept, the newest ones; pinned ones are not counted.
    public var countPerReport: Int?
    /// How many bytes the bundles have together, pinned ones included: the oldest leave first.
    public var totalBytes: Int64?

    /// Limits by their values.
    public init(age: TimeSpan? = nil, countPerReport: Int? = nil, totalBytes: Int64? = nil) {
      self.age = age
      self.countPerReport = countPerReport
      self.totalBytes = totalBytes
    }
  }

  /// The limits of all snapshots, whichever application made them.
  public var limits: Limits
  /// Applications with limits of their own, by identifier: their snapshots are under these instead of
  /// ``limits``, of which only ``Limits/totalBytes`` counts them too.
  public var applications: [String: Limits]

  /// Rules by their limits.
  public init(_ limits: Limits = Limits(), applications: [String: Limits] = [:]) {
    self.limits = limits
    self.applications = applications
  }
}
