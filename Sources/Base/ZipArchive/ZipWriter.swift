import Dispatch
package import SystemIO

/// Writes a ZIP archive sequentially, entry by entry. Entries are deflated if that makes them smaller; ZIP64 is used
/// only if needed. The output is reproducible: the same entries give the same bytes. Not thread-safe.
///
/// ``ZipReader`` accepts every archive that it writes: names and sizes that the reader rejects are rejected here by the
/// same rules. If adding an entry fails, the archive does not contain that entry and remains usable. The file is a
/// valid archive only after ``finish()``.
package final class ZipWriter {
  /// The sizes and counts from which the wider fields of ZIP64 are used.
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

  /// Starts an archive at the beginning of `file`, which must be empty and open for writing.
  /// - Parameters:
  ///   - level: The compression level of zlib, 0 (stored) to 9.
  ///   - limits: The limits of the archive's reader.
  ///   - profile: The profile of the archive's reader.
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

  /// Appends an entry with the contents of `source`, a regular file. Takes a fixed amount of memory.
  /// - Parameter name: The name, with components separated by `/`. A name that ends in `/` is a folder and needs an
  ///   empty source.
  package func add(_ name: String, contentsOf source: File) throws(ZipError) {
    try naming(name) { () throws(ZipError) in try add(name, EntrySource(source)) }
  }

  /// Appends an entry with the contents `bytes`.
  /// - Parameter name: The name, with components separated by `/`. A name that ends in `/` is a folder and needs empty
  ///   contents.
  package func add(_ name: String, bytes: [UInt8]) throws(ZipError) {
    try naming(name) { () throws(ZipError) in try add(name, EntrySource(bytes)) }
  }

  /// An entry whose contents are stored as they are, and arrive piece by piece.
  package struct StoredEntry {
    fileprivate let name: String
    fileprivate var header: EntryHeader
    fileprivate var sink: FileSink

    /// Appends `bytes`.
    package mutating func write(_ bytes: [UInt8]) throws(ZipError) {
      guard sink.count + Int64(bytes.count) <= header.encoded.size else {
        throw ZipError(.sourceChanged, entry: name)
      }
      header.encoded.crc32 = bytes.withUnsafeBytes { checksum(of: $0, after: header.encoded.crc32) }
      try sink.write(bytes)
    }
  }

  /// Starts an entry with `size` bytes, which are written next. The archive contains it after ``finish(_:)``; no other
  /// entry can be added before.
  package func beginStored(_ name: String, size: Int64) throws(ZipError) -> StoredEntry {
    try naming(name) { () throws(ZipError) in try check(name, size: size) }
    let header = EntryHeader(name, offset: end, size: size, thresholds)
    return StoredEntry(name: name, header: header, sink: FileSink(file, at: end + header.localLength))
  }

  /// Ends an entry. Throws if it has fewer bytes than stated.
  package func finish(_ entry: StoredEntry) throws(ZipError) {
    guard entry.sink.count == entry.header.encoded.size else {
      throw ZipError(.sourceChanged, entry: entry.name)
    }
    try naming(entry.name) { () throws(ZipError) in try append(entry.header, data: []) }
  }

  /// Writes the central directory. No entries can be added afterwards.
  /// - Returns: The length of the archive in bytes.
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

  /// Appends an entry whose data was encoded in advance.
  func add(
    _ name: String, _ encoded: EntryEncoder.Encoded, data: [UInt8], isExecutable: Bool
  ) throws(ZipError) {
    try check(name, size: encoded.size)
    var header = EntryHeader(name, offset: end, size: encoded.size, thresholds)
    header.isExecutable = isExecutable
    header.encoded = encoded
    try append(header, data: data)
  }

  /// Writes the local header, followed by `data`; `data` is empty if the entry's data is already in the file.
  private func append(_ header: EntryHeader, data: [UInt8]) throws(ZipError) {
    let start = end
    try mapSystemError { () throws(SystemError) in try file.write(header.local + data, at: start) }
    end += header.localLength + header.encoded.compressedSize
    directory += header.central
    names.insert(header.name, size: UInt64(header.encoded.size))
    entries += 1
    totalSize += header.encoded.size
  }

  /// Throws for a name or size that a reader would reject.
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

  /// Adds the name of the entry to any error that `body` throws.
  func naming<Result>(
    _ name: String, _ body: () throws(ZipError) -> Result
  ) throws(ZipError) -> Result {
    do { return try body() } catch { throw ZipError(error.reason, entry: name) }
  }

  private func endRecords() -> [UInt8] {
    ArchiveEnd(entries: entries, directorySize: Int64(directory.count), directoryOffset: end)
      .bytes(thresholds)
  }
}

extension ZipWriter {
  /// The maximum number of files and bytes that are deflated in memory before they are written. Larger files are
  /// deflated directly into the archive, one by one.
  private static let batchFiles = 64
  private static let batchSize: Int64 = 16 << 20

  /// Appends one entry for each file, in this order. The result is identical to repeated ``add(_:contentsOf:)``, but
  /// all processor cores are used. Blocks the calling thread.
  ///
  /// After an error, the archive contains the entries before the one named in the error, and no others.
  /// - Parameters:
  ///   - files: The names of the entries and the paths of their contents, which must be regular files. Links
  ///     are not followed.
  ///   - executables: The names of the entries to mark as executable.
  package func addFiles(
    _ files: [(name: String, path: String)], executables: Set<String> = []
  ) throws(ZipError) {
    var batch: [(name: String, source: EntrySource)] = []
    var batchSize: Int64 = 0
    for file in files {
      let source: EntrySource
      do {
        source = try naming(file.name) { () throws(ZipError) in
          try EntrySource(mapSystemError { () throws(SystemError) in try File(file.path) })
        }
      } catch {
        try add(batch, executables)
        throw error
      }
      if batch.count == Self.batchFiles || batchSize + source.size > Self.batchSize {
        try add(batch, executables)
        batch.removeAll()
        batchSize = 0
      }
      batch.append((file.name, source))
      batchSize += source.size
    }
    try add(batch, executables)
  }

  private typealias Made = Result<(encoded: EntryEncoder.Encoded, data: [UInt8]), ZipError>

  /// Deflates the sources in parallel and appends them in order.
  private func add(
    _ batch: [(name: String, source: EntrySource)], _ executables: Set<String>
  ) throws(ZipError) {
    guard batch.count > 1 else {
      for (name, source) in batch {
        try naming(name) { () throws(ZipError) in
          try add(name, source, isExecutable: executables.contains(name))
        }
      }
      return
    }
    let made = Lock([Made?](repeating: nil, count: batch.count))
    let encoder = encoder
    DispatchQueue.concurrentPerform(iterations: batch.count) { index in
      let result = Made { () throws(ZipError) in
        var sink = MemorySink()
        let encoded = try encoder.encode(batch[index].source, into: &sink)
        return (encoded, sink.bytes)
      }
      made.withLock { $0[index] = result }
    }
    for (file, made) in zip(batch, made.withLock { $0 }) {
      guard let made else { continue }
      try naming(file.name) { () throws(ZipError) in
        let (encoded, data) = try made.get()
        try add(file.name, encoded, data: data, isExecutable: executables.contains(file.name))
      }
    }
  }
}
