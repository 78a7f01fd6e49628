package import SystemIO

/// Reads a ZIP archive whose entries are all held in memory, from where they are found at once.
///
/// Opening checks the whole structure, as ``ZipDirectory/init(checking:limits:)`` does. May be used from many threads at
/// once.
///
/// Opening takes memory in proportion to the names that are really there, reading takes a fixed amount; nothing
/// is ever allocated because an archive says that it needs it.
package final class ZipReader: Sendable {
  /// The entries, in the directory's order.
  package let entries: [ZipEntry]
  /// The file that is read.
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
    // Names that are canonically equivalent were refused as duplicates.
    indices = Dictionary(uniqueKeysWithValues: zip(entries.lazy.map(\.name), entries.indices))
  }

  /// The entry of that exact name.
  package func entry(named name: String) -> ZipEntry? {
    guard let index = indices[name], entries[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return entries[index]
  }

  /// Inflates `entry` piece by piece into `sink`, checking size, limits and CRC on the way; when it returns, every
  /// byte was right. The pieces are valid only during the call of `sink`.
  /// - Throws: A ``ZipError``, or what `sink` throws, as it is.
  package func read(_ entry: ZipEntry, into sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    let stream = try EntryStream(file, entry)
    while let piece = try stream.next() { try sink(piece) }
  }

  /// The whole of a small entry; refuses one that is larger than `limit` bytes.
  package func contents(of entry: ZipEntry, upTo limit: Int) throws(ZipError) -> [UInt8] {
    guard entry.size <= Int64(limit) else { throw ZipError(.larger(than: limit), entry: entry.name) }
    let stream = try EntryStream(file, entry)
    var bytes: [UInt8] = []
    while let piece = try stream.next() { bytes.append(contentsOf: piece) }
    return bytes
  }

  /// Inflates and checks every entry, keeping nothing.
  package func verify() throws(ZipError) {
    for entry in entries {
      let stream = try EntryStream(file, entry)
      while try stream.next() != nil {}
    }
  }
}

extension ZipEntry {
  /// An entry that was checked, and where its data begins. Sizes of entries that can't be read may be any number.
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
