public import SystemIO

/// Reads a ZIP archive over its central directory.
///
/// Opening checks the whole structure: directory, names, sizes, overlaps, limits, and every local header against
/// the directory. An archive that opens holds no entry that could be written outside a folder, none that two
/// readers would see differently, and no link. May be used from many threads at once.
///
/// Opening takes memory in proportion to the names that are really there, reading takes a fixed amount; nothing
/// is ever allocated because an archive says that it needs it.
public final class ZipReader: Sendable {
  /// The entries, in the directory's order.
  public let entries: [ZipEntry]
  /// The file that is read.
  public let file: File

  private let indices: [String: Int]

  /// Opens the archive in `file` and checks its structure.
  public init(_ file: File, limits: ZipLimits = .default) throws(ZipError) {
    self.file = file
    let size = try mapSystemError { () throws(SystemError) in try file.size }
    let location = try DirectoryLocation(file, size: size, limits: limits)
    let (directory, total) = try Self.directory(file, location, limits)
    if let limit = limits.exceeded(totalSize: total, archiveSize: size) { throw ZipError(.limit(limit)) }
    let dataOffsets = try ArchiveLayout(file, location).dataOffsets(of: directory)
    entries = zip(directory, dataOffsets).map(ZipEntry.init)
    // Names that are canonically equivalent were refused as duplicates.
    indices = Dictionary(uniqueKeysWithValues: zip(entries.lazy.map(\.name), entries.indices))
  }

  /// The entry of that exact name.
  public func entry(named name: String) -> ZipEntry? {
    guard let index = indices[name], entries[index].name.utf8.elementsEqual(name.utf8) else { return nil }
    return entries[index]
  }

  /// Inflates `entry` piece by piece into `sink`, checking size, limits and CRC on the way; when it returns, every
  /// byte was right. The pieces are valid only during the call of `sink`.
  /// - Throws: A ``ZipError``, or what `sink` throws, as it is.
  public func read(_ entry: ZipEntry, into sink: (UnsafeRawBufferPointer) throws -> Void) throws {
    let stream = try EntryStream(file, entry)
    while let piece = try stream.next() { try sink(piece) }
  }

  /// The whole of a small entry; refuses one that is larger than `limit` bytes.
  public func contents(of entry: ZipEntry, upTo limit: Int) throws(ZipError) -> [UInt8] {
    guard entry.size <= Int64(limit) else { throw ZipError(.larger(than: limit), entry: entry.name) }
    let stream = try EntryStream(file, entry)
    var bytes: [UInt8] = []
    while let piece = try stream.next() { bytes.append(contentsOf: piece) }
    return bytes
  }

  /// Inflates and checks every entry, keeping nothing.
  public func verify() throws(ZipError) {
    for entry in entries {
      let stream = try EntryStream(file, entry)
      while try stream.next() != nil {}
    }
  }

  private static func directory(
    _ file: File, _ location: DirectoryLocation, _ limits: ZipLimits
  ) throws(ZipError) -> (entries: [DirectoryEntry], totalSize: UInt64) {
    guard location.entries <= UInt64(clamping: limits.entries) else { throw ZipError(.limit(.entries)) }
    var window = FileWindow(file, location.range)
    var entries: [DirectoryEntry] = []
    var names = NameIndex()
    var total: UInt64 = 0
    for _ in 0..<location.entries {
      let entry = try DirectoryEntry(&window, limits: limits)
      if let conflict = names.conflict(with: entry.name, size: entry.numbers.size) {
        throw ZipError(conflict, entry: entry.name)
      }
      names.insert(entry.name, size: entry.numbers.size)
      let (sum, overflow) = total.addingReportingOverflow(entry.refusal == nil ? entry.numbers.size : 0)
      guard !overflow, sum <= UInt64(clamping: limits.totalSize) else { throw ZipError(.limit(.totalSize)) }
      total = sum
      entries.append(entry)
    }
    guard window.offset == window.end else { throw ZipError(.malformedDirectory) }
    return (entries, total)
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
    refusal = entry.refusal
  }
}
