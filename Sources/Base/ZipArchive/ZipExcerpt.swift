/// Lays out an archive of entries of another archive. Their data is neither inflated nor read: the parts refer to it in
/// the other archive's file.
///
/// The same entries give the same bytes. The memory used depends on the number of entries and the length of their
/// names, and not on their sizes.
package struct ZipExcerpt: Sendable {
  /// A part of the archive.
  package enum Part: Sendable, Hashable {
    /// Bytes of headers.
    case bytes([UInt8])
    /// Bytes of the other archive's file.
    case source(offset: Int64, count: Int64)
  }

  /// The parts of the archive so far, in order.
  package private(set) var parts: [Part] = []
  /// The length of the parts in bytes.
  package private(set) var length: Int64 = 0

  private var directory: [UInt8] = []
  private var entries = 0

  /// Starts an archive.
  package init() {}

  /// Appends `entry` under another name. No two entries may have the same name.
  ///
  /// Throws if the entry can't be read, or if the name is longer than the format allows.
  package mutating func append(_ entry: ZipEntry, as name: String) throws(ZipError) {
    if let refusal = entry.refusal { throw ZipError(refusal, entry: entry.name) }
    guard name.utf8.count <= 0xFFFF else { throw ZipError(.limit(.nameLength), entry: entry.name) }
    var header = EntryHeader(name, offset: length, size: entry.size, ZipWriter.Thresholds())
    header.isExecutable = entry.isExecutable
    header.encoded = .init(
      method: entry.method == .deflate ? 8 : 0, crc32: entry.crc32, size: entry.size,
      compressedSize: entry.compressedSize)
    append(.bytes(header.local))
    if entry.compressedSize > 0 {
      append(.source(offset: entry.dataOffset, count: entry.compressedSize))
    }
    directory += header.central
    entries += 1
  }

  /// Appends the central directory. No entries can be appended afterwards.
  package mutating func finish() {
    let end = ArchiveEnd(entries: entries, directorySize: Int64(directory.count), directoryOffset: length)
    append(.bytes(directory + end.bytes(ZipWriter.Thresholds())))
    directory = []
  }

  private mutating func append(_ part: Part) {
    parts.append(part)
    switch part {
    case .bytes(let bytes): length += Int64(bytes.count)
    case .source(_, let count): length += count
    }
  }
}
