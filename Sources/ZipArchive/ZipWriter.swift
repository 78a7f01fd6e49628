public import SystemIO

/// Writes a ZIP archive in one pass, entry by entry: deflated where that makes it smaller, ZIP64 where needed,
/// reproducible (the same entries give the same bytes). Not for use from two threads at once.
public final class ZipWriter {
  /// Begins an archive at the start of `file`, which is empty and open for writing.
  /// - Parameter level: zlib's, 0 (stored) to 9.
  public init(_ file: File, level: Int32 = 6) { fatalError("stub") }

  /// Appends an entry that holds what `source` holds.
  public func add(_ name: String, contentsOf source: File) throws(ZipError) { fatalError("stub") }

  /// Appends an entry that holds `bytes`.
  public func add(_ name: String, bytes: [UInt8]) throws(ZipError) { fatalError("stub") }

  /// Writes the central directory; nothing may be added afterwards.
  /// - Returns: the archive's length in bytes.
  @discardableResult
  public func finish() throws(ZipError) -> Int64 { fatalError("stub") }
}
