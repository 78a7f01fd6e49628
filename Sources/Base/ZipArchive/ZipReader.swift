package import SystemIO

/// Reads a ZIP archive and keeps all its entries in memory, so that they are found immediately. Thread-safe.
///
/// Opening checks the whole structure, as ``ZipDirectory/init(checking:limits:profile:)`` does. It takes memory in
/// proportion to the names that the archive contains; reading takes a fixed amount. A declared size never causes an
/// allocation.
package final class ZipReader: Sendable {
  /// The entries in directory order.
  package let entries: [ZipEntry]
  /// The archive file.
  package let file: File

  private let indices: [String: Int]

  /// Opens the archive in `file` and checks its structure.
  package init(
    _ file: File, limits: ZipLimits = .default, profile: ZipProfile = .lenient
  ) throws(ZipError) {
    self.file = file
    let directory = try ZipDirectory(checking: file, limits: limits, profile: profile)
    var listing = directory.listing
    var entries: [ZipEntry] = []
    while let entry = try listing.nextEntry() { entries.append(entry) }
    self.entries = entries
    // Canonically equivalent names were rejected as duplicates, so keys are unique.
    indices = Dictionary(uniqueKeysWithValues: zip(entries.lazy.map(\.name), entries.indices))
  }

  /// The entry with exactly this name, or `nil`.
  package func entry(named name: String) -> ZipEntry? {
    guard let index = indices[name], entries[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return entries[index]
  }

  /// Inflates `entry` piece by piece into `sink` and verifies size, limits and CRC. All bytes are verified when it
  /// returns. The pieces are valid only during the call of `sink`.
  /// - Throws: A ``ZipError``, or the error of `sink`.
  package func read(_ entry: ZipEntry, into sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    let stream = try EntryStream(file, entry)
    while let piece = try stream.next() { try sink(piece) }
  }

  /// The contents of a small entry. Throws if the entry has more than `limit` bytes.
  package func contents(of entry: ZipEntry, upTo limit: Int) throws(ZipError) -> [UInt8] {
    guard entry.size <= Int64(limit) else { throw ZipError(.larger(than: limit), entry: entry.name) }
    let stream = try EntryStream(file, entry)
    var bytes: [UInt8] = []
    while let piece = try stream.next() { bytes.append(contentsOf: piece) }
    return bytes
  }

  /// Inflates and verifies all entries.
  package func verify() throws(ZipError) {
    for entry in entries {
      let stream = try EntryStream(file, entry)
      while try stream.next() != nil {}
    }
  }
}

extension ZipEntry {
  /// Creates an entry from a checked directory entry and the offset of its data. The sizes of unreadable entries are
  /// not verified.
  init(_ entry: DirectoryEntry, dataOffset: Int64) {
    name = entry.name
    method =
      switch entry.header.common.method {
      case 0: .stored
      case 8: .deflate
      case let number: .unsupported(number)
      }
    isEncrypted = entry.header.common.flags & Flag.anyEncryption != 0
    compressedSize = Int64(clamping: entry.numbers.compressedSize)
    size = Int64(clamping: entry.numbers.size)
    crc32 = entry.header.common.crc32
    self.dataOffset = dataOffset
    isExecutable = entry.header.isUnix && (entry.header.externalAttributes >> 16) & 0o170100 == 0o100100
    refusal = entry.refusal
  }
}

/// The contents of an entry, inflated on demand. Not thread-safe.
///
/// Takes a fixed amount of memory, independently of the declared sizes. Never returns more bytes than declared, and
/// reaches the end only if size and checksum are correct.
package final class ZipContents {
  private let stream: EntryStream
  private let range: Range<Int64>
  private let reachesEnd: Bool
  private var position: Int64 = 0

  /// Starts reading the contents of `entry` in the archive `file`, or only the bytes in `range`.
  ///
  /// Bytes before the range are inflated and discarded. If the range ends before the contents, the remaining bytes are
  /// not read and the checksum is not verified. Throws if the entry can only be listed.
  package init(_ file: File, _ entry: ZipEntry, range: Range<Int64>? = nil) throws(ZipError) {
    stream = try EntryStream(file, entry)
    self.range = range ?? 0..<entry.size
    reachesEnd = self.range.upperBound >= entry.size
  }

  /// The next bytes, at least one; `nil` at the end. If this throws, bytes that it returned before may be wrong as
  /// well.
  package func next() throws(ZipError) -> [UInt8]? { try next { Array($0) } }

  /// Calls `body` with the next bytes, at least one, which are valid only during the call, and returns its result;
  /// `nil` at the end. If this throws, bytes of earlier calls may be wrong as well.
  package func next<Value>(_ body: (UnsafeRawBufferPointer) -> Value) throws(ZipError) -> Value? {
    while reachesEnd || position < range.upperBound {
      guard let piece = try stream.next() else { return nil }
      let start = position
      position += Int64(piece.count)
      let wanted = range.clamped(to: start..<position)
      if !wanted.isEmpty {
        let part = Int(wanted.lowerBound - start)..<Int(wanted.upperBound - start)
        return body(UnsafeRawBufferPointer(rebasing: piece[part]))
      }
    }
    return nil
  }
}
