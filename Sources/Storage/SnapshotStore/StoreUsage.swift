/// How much a store holds.
public struct StoreUsage: Sendable, Hashable {
  /// How many bundles, those set aside among them.
  public var bundles: Int
  /// How many bytes they have together.
  public var bytes: Int64

  /// So many bundles of so many bytes.
  public init(bundles: Int = 0, bytes: Int64 = 0) {
    self.bundles = bundles
    self.bytes = bytes
  }
}
