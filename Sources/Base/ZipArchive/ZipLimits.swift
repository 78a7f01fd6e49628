/// How much a ZIP reader takes before it refuses, and so how much a writer writes. Checked against what the
/// directory declares before anything is inflated, and against what really comes out while inflating.
public struct ZipLimits: Sendable, Hashable {
  /// The most entries.
  public var entries = 200_000
  /// The longest name, in bytes as they stand in the archive.
  public var nameLength = 4096
  /// The most parts of a name, each a folder in the next.
  public var depth = 128
  /// The most folders, whether they are entries themselves or stand in the names of others alone.
  public var folders = 200_000
  /// The most bytes that one entry inflates to.
  public var entrySize: Int64 = 4 << 30
  /// The most bytes that all entries inflate to.
  public var totalSize: Int64 = 16 << 30
  /// The most bytes that one compressed byte may inflate to, for entries over ``ratioThreshold``. JSON rarely
  /// passes 50; deflate itself ends at 1032, which only bombs and runs of one pattern come near.
  public var ratio: Int64 = 500
  /// The size up to which an entry's ratio doesn't matter.
  public var ratioThreshold: Int64 = 1 << 20
  /// The size of all entries together up to which only each one's own ratio matters.
  public var totalRatioThreshold: Int64 = 64 << 20
  /// The most bytes before the archive, such as a program that unpacks it.
  public var leadingBytes: Int64 = 1 << 20

  /// The limits above.
  public init() {}

  /// The limits above.
  public static let `default` = ZipLimits()

  /// The limit that an entry of these sizes is over, if any.
  func exceeded(size: UInt64, compressedSize: UInt64) -> ZipError.Limit? {
    if size > UInt64(clamping: entrySize) { return .entrySize }
    return isBomb(size, from: compressedSize, over: ratioThreshold) ? .ratio : nil
  }

  /// The limit that all entries of an archive of that length are over together, if any.
  func exceeded(totalSize size: UInt64, archiveSize: Int64) -> ZipError.Limit? {
    if size > UInt64(clamping: totalSize) { return .totalSize }
    return isBomb(size, from: UInt64(clamping: archiveSize), over: totalRatioThreshold) ? .ratio : nil
  }

  private func isBomb(_ size: UInt64, from compressedSize: UInt64, over threshold: Int64) -> Bool {
    guard size > UInt64(clamping: threshold) else { return false }
    let (most, overflow) = compressedSize.multipliedReportingOverflow(by: UInt64(clamping: ratio))
    return !overflow && size > most
  }
}
