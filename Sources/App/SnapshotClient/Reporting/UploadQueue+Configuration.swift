extension UploadQueue {
  /// What may be set.
  public struct Configuration: Sendable {
    /// What the queue holds at most.
    public var limits = Limits()
    /// How long is waited after a failure.
    public var backOff = BackOff()
    /// Which networks uploads may use.
    public var network = NetworkPolicy.any
    /// How many uploads run at the same time, at least 1.
    public var concurrentUploads = 1
    /// Time and chance.
    public var environment = ClientEnvironment()

    /// The defaults above.
    public init() {}
  }

  /// What a queue holds at most.
  ///
  /// Where a new bundle would go beyond, the bundles of uploads that have failed for good leave first, oldest first;
  /// those uploads stay in the list. What is not given up is never dropped: where that is not enough, the new
  /// bundle is refused (``ReportingError/full(_:)``).
  public struct Limits: Sendable, Hashable {
    /// The bytes of all bundles together.
    public var bytes: Int64 = 512 * 1024 * 1024
    /// The bundles.
    public var items = 100
    /// The uploads without a bundle that are still listed, for their outcome; the oldest leave the list first.
    public var outcomes = 100

    /// The defaults above.
    public init() {}
  }
}
