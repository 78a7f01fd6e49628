/// The limits of a ZIP reader. A writer enforces them as well. Declared sizes are checked before inflating, and actual
/// sizes while inflating.
public struct ZipLimits: Sendable, Hashable {
  /// The maximum number of entries.
  public var entries = 200_000
  /// The maximum length of a name, in bytes as stored in the archive.
  public var nameLength = 4096
  /// The maximum number of components in a name.
  public var depth = 128
  /// The maximum number of folders, counting both entries and folders that occur only in the names of entries.
  public var folders = 200_000
  /// The maximum uncompressed size of one entry, in bytes.
  public var entrySize: Int64 = 4 << 30
  /// The maximum uncompressed size of all entries together, in bytes.
  public var totalSize: Int64 = 16 << 30
  /// The maximum ratio of uncompressed to compressed size, for entries larger than ``ratioThreshold``. JSON rarely
  /// exceeds 50. Deflate cannot exceed 1032; only decompression bombs and repeated patterns come close.
  public var ratio: Int64 = 500
  /// The uncompressed size in bytes up to which the ratio of an entry is not checked.
  public var ratioThreshold: Int64 = 1 << 20
  /// The uncompressed size in bytes of all entries up to which their common ratio is not checked.
  public var totalRatioThreshold: Int64 = 64 << 20
  /// The maximum number of bytes before the archive, such as the program of a self-extracting archive.
  public var leadingBytes: Int64 = 1 << 20

  /// Creates the default limits.
  public init() {}

  /// The default limits.
  public static let `default` = ZipLimits()

  /// The limit that an entry with these sizes exceeds, or `nil`.
  func exceeded(size: UInt64, compressedSize: UInt64) -> ZipError.Limit? {
    if size > UInt64(clamping: entrySize) { return .entrySize }
    return isBomb(size, from: compressedSize, over: ratioThreshold) ? .ratio : nil
  }

  /// The limit that all entries together exceed in an archive with `archiveSize` bytes, or `nil`.
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
