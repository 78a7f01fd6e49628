/// The contents of a store.
public struct StoreUsage: Sendable, Hashable {
  /// The number of bundles, including those that were set aside as damaged.
  public var bundles: Int
  /// The total size of the bundles in bytes.
  public var bytes: Int64

  /// Creates a usage.
  public init(bundles: Int = 0, bytes: Int64 = 0) {
    self.bundles = bundles
    self.bytes = bytes
  }
}
