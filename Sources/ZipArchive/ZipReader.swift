public import SystemIO

/// Reads a ZIP archive over its central directory.
///
/// Opening checks the whole structure: directory, names, sizes, overlaps, limits, and every local header against
/// the directory. An archive that opens holds no entry that could be written outside a folder. May be used from
/// many threads at once.
public final class ZipReader: Sendable {
  /// The entries, in the directory's order.
  public let entries: [ZipEntry]
  /// The file that is read.
  public let file: File

  /// Opens the archive in `file` and checks its structure.
  public init(_ file: File, limits: ZipLimits = .default) throws(ZipError) { fatalError("stub") }

  /// The entry of that exact name.
  public func entry(named name: String) -> ZipEntry? { fatalError("stub") }

  /// Inflates `entry` piece by piece into `sink`, checking size, limits and CRC on the way; when it returns, every
  /// byte was right. What `sink` throws comes out as it is.
  public func read(_ entry: ZipEntry, into sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    fatalError("stub")
  }

  /// The whole of a small entry; refuses one that is larger than `limit` bytes.
  public func contents(of entry: ZipEntry, upTo limit: Int) throws(ZipError) -> [UInt8] { fatalError("stub") }

  /// Inflates and checks every entry, keeping nothing.
  public func verify() throws(ZipError) { fatalError("stub") }
}

/// One entry of a ZIP archive, as the central directory has it.
public struct ZipEntry: Sendable, Hashable {
  /// How the bytes are stored.
  public enum Method: Sendable, Hashable {
    case stored
    case deflate
    /// A method by its number that is listed here but not read.
    case unsupported(UInt16)
  }

  /// The name, parts separated by `/`; a folder's ends in `/`.
  public let name: String
  /// How the bytes are stored.
  public let method: Method
  /// Whether a password is needed: listed here, never read.
  public let isEncrypted: Bool
  /// The length in the archive.
  public let compressedSize: Int64
  /// The length when inflated, as declared.
  public let size: Int64
  /// The CRC-32 of the inflated bytes, as declared.
  public let crc32: UInt32
  /// Where the entry's data begins in the file.
  public let dataOffset: Int64

  /// Whether this is a folder.
  public var isFolder: Bool { name.hasSuffix("/") }
}
