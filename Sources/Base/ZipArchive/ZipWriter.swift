package import SystemIO

/// Writes a ZIP archive in one pass, entry by entry: deflated where that makes it smaller, ZIP64 where needed,
/// reproducible (the same entries give the same bytes). Not for use from two threads at once.
///
/// What it writes, ``ZipReader`` takes: a name or a size that the reader refuses is refused here, by the same
/// rules. After an error the entry isn't in the archive, which goes on without it. The file is an archive only
/// once ``finish()`` returned.
package final class ZipWriter {
  /// The sizes and counts from which on ZIP64's wider fields are used.
  struct Thresholds {
    var size: Int64 = 0xFFFF_FFFF
    var entries = 0xFFFF
  }

  let encoder: EntryEncoder
  private let file: File
  private let limits: ZipLimits
  private let profile: ZipProfile
  private let thresholds: Thresholds
  private var names: NameIndex
  private var directory: [UInt8] = []
  private var entries = 0
  private var totalSize: Int64 = 0
  private var end: Int64 = 0
  private var isFinished = false

  /// Begins an archive at the start of `file`, which is empty and open for writing.
  /// - Parameters:
  ///   - level: zlib's, 0 (stored) to 9.
  ///   - limits: What the reader of the archive takes.
  ///   - profile: How strictly the reader checks it.
  package convenience init(
    _ file: File, level: Int32 = 6, limits: ZipLimits = .default, profile: ZipProfile = .lenient
  ) {
    self.init(file, level: level, limits: limits, profile: profile, thresholds: Thresholds())
  }

  init(
    _ file: File, level: Int32 = 6, limits: ZipLimits = .default, profile: ZipProfile = .lenient,
    thresholds: Thresholds
  ) {
    self.file = file
    self.limits = limits
    self.profile = profile
    self.thresholds = thresholds
    names = NameIndex(mostFolders: limits.folders, profile: profile)
    encoder = EntryEncoder(level: level, limits: limits)
  }

  /// Appends an entry that holds what `source`, a regular file, holds. Takes a fixed amount of memory.
  /// - Parameter name: Parts separated by `/`. Only an empty source makes a folder, whose name ends in `/`.
  package func add(_ name: String, contentsOf source: File) throws(ZipError) {
    try naming(name) { () throws(ZipError) in try add(name, EntrySource(source)) }
  }

  /// Appends an entry that holds `bytes`.
  /// - Parameter name: Parts separated by `/`. A folder's ends in `/` and it holds no bytes.
  package func add(_ name: String, bytes: [UInt8]) throws(ZipError) {
    try naming(name) { () throws(ZipError) in try add(name, EntrySource(bytes)) }
  }

  /// Writes the central directory; nothing may be added afterwards.
  /// - Returns: the archive's length in bytes.
  @discardableResult
  package func finish() throws(ZipError) -> Int64 {
    guard !isFinished else { throw ZipError(.finished) }
    let tail = directory + endRecords()
    let length = end + Int64(tail.count)
    try mapSystemError { () throws(SystemError) in
      try file.write(tail, at: end)
      try file.truncate(to: length)
    }
    isFinished = true
    return length
  }

  func add(_ name: String, _ source: EntrySource, isExecutable: Bool = false) throws(ZipError) {
    try check(name, size: source.size)
    var header = EntryHeader(name, offset: end, size: source.size, thresholds)
    header.isExecutable = isExecutable
    var sink = FileSink(file, at: end + header.localLength)
    header.encoded = try encoder.encode(source, into: &sink)
    try append(header, data: [])
  }

  /// Appends an entry whose data was made ahead.
  func add(
    _ name: String, _ encoded: EntryEncoder.Encoded, data: [UInt8], isExecutable: Bool
  ) throws(ZipError) {
    try check(name, size: encoded.size)
    var header = EntryHeader(name, offset: end, size: encoded.size, thresholds)
    header.isExecutable = isExecutable
    header.encoded = encoded
    try append(header, data: data)
  }

  /// Writes the local header before its data, which is `data` or stands in its place already.
  private func append(_ header: EntryHeader, data: [UInt8]) throws(ZipError) {
    let start = end
    try mapSystemError { () throws(SystemError) in try file.write(header.local + data, at: start) }
    end += header.localLength + header.encoded.compressedSize
    directory += header.central
    names.insert(header.name, size: UInt64(header.encoded.size))
    entries += 1
    totalSize += header.encoded.size
  }

  /// Refuses what a reader would refuse.
  private func check(_ name: String, size: Int64) throws(ZipError) {
    guard !isFinished else { throw ZipError(.finished) }
    if let problem = profile.problem(with: name) { throw ZipError(.name(problem)) }
    guard name.utf8.count <= min(limits.nameLength, 0xFFFF) else { throw ZipError(.limit(.nameLength)) }
    guard EntryName.parts(of: name).count <= limits.depth else { throw ZipError(.limit(.depth)) }
    guard name.utf8.last != UInt8(ascii: "/") || size == 0 else { throw ZipError(.folderWithContents) }
    if let conflict = names.conflict(with: name, size: UInt64(size)) { throw ZipError(conflict) }
    guard entries < limits.entries else { throw ZipError(.limit(.entries)) }
    guard size <= limits.entrySize else { throw ZipError(.limit(.entrySize)) }
    guard size <= limits.totalSize - totalSize else { throw ZipError(.limit(.totalSize)) }
  }

  /// Names the entry in whatever `body` throws.
  func naming<Result>(
    _ name: String, _ body: () throws(ZipError) -> Result
  ) throws(ZipError) -> Result {
    do throws(ZipError) { return try body() } catch { throw ZipError(error.reason, entry: name) }
  }

  private func endRecords() -> [UInt8] {
    let size = Int64(directory.count)
    let isWide = entries >= thresholds.entries || size >= thresholds.size || end >= thresholds.size
    var bytes: [UInt8] = []
    if isWide {
      bytes.append(littleEndian: Signature.end64)
      bytes.append(littleEndian: UInt64(EndRecord.length64 - 12))
      bytes.append(littleEndian: EntryHeader.madeBy)
      bytes.append(littleEndian: UInt16(45))
      bytes.append(littleEndian: UInt64(0))
      bytes.append(littleEndian: UInt64(entries))
      bytes.append(littleEndian: UInt64(entries))
      bytes.append(littleEndian: size)
      bytes.append(littleEndian: end)
      bytes.append(littleEndian: Signature.locator64)
      bytes.append(littleEndian: UInt32(0))
      bytes.append(littleEndian: end + size)
      bytes.append(littleEndian: UInt32(1))
    }
    let count = entries >= thresholds.entries ? .max : UInt16(entries)
    bytes.append(littleEndian: Signature.end)
    bytes.append(littleEndian: UInt32(0))
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: count)
    bytes.append(littleEndian: size >= thresholds.size ? .max : UInt32(size))
    bytes.append(littleEndian: end >= thresholds.size ? .max : UInt32(end))
    bytes.append(littleEndian: UInt16(0))
    return bytes
  }
}
