/// Goes through the directory of an archive that was checked when it came, in constant memory and with no look at where
/// the entries' bytes are.
public struct ZipListing {
  /// An entry, as the directory has it.
  public struct Line: Sendable, Hashable {
    /// The name, as ``ZipEntry/name``.
    public let name: String
    /// The length when inflated.
    public let size: Int64
    /// The CRC-32 of the inflated bytes.
    public let crc32: UInt32

    /// Whether this is a folder.
    public var isFolder: Bool { name.utf8.last == UInt8(ascii: "/") }
  }

  private var window: FileWindow
  private var rest: Int
  private let limits: ZipLimits

  init(_ window: FileWindow, count: Int, limits: ZipLimits) {
    self.window = window
    rest = count
    self.limits = limits
  }

  /// The next entry in the directory's order; `nil` behind the last.
  public mutating func next() throws(ZipError) -> Line? {
    guard rest > 0 else { return nil }
    rest -= 1
    let entry = try DirectoryEntry(&window, limits: limits, isChecked: true)
    return Line(
      name: entry.name, size: Int64(clamping: entry.numbers.size), crc32: entry.header.common.crc32)
  }
}
