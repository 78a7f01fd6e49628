/// The contents of a store.
public struct StoreUsage: Sendable, Hashable {
  /// The number of bundles, including those that were set aside as damaged.
  public var bundles: Int
  /// The total size of the bundles in bytes.
  public var bytes: Int64
  /// The number of published bundles whose bytes are gone, as far as that is known. ``bundles`` does not include them.
  public var lost: Int

  /// Creates a usage.
  public init(bundles: Int = 0, bytes: Int64 = 0, lost: Int = 0) {
    self.bundles = bundles
    self.bytes = bytes
    self.lost = lost
  }
}
