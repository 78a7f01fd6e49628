/// How much a ZIP reader takes before it refuses. Checked against what the directory declares before anything
/// is inflated, and against what really comes out while inflating.
public struct ZipLimits: Sendable, Hashable {
  /// The most entries.
  public var entries = 200_000
  /// The longest name, in bytes.
  public var nameLength = 4096
  /// The most bytes that one entry inflates to.
  public var entrySize: Int64 = 4 << 30
  /// The most bytes that all entries inflate to.
  public var totalSize: Int64 = 16 << 30
  /// The most bytes that one compressed byte may inflate to, for entries over 1 MiB; deflate itself ends at 1032.
  public var ratio: Int64 = 1032

  /// The limits above.
  public init() {}

  /// The limits above.
  public static let `default` = ZipLimits()
}
