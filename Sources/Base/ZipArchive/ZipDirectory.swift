package import SystemIO

/// The directory of an archive that was fully checked when it was received. Finds entries without checking the whole
/// archive again.
///
/// Use ``init(checking:limits:profile:)`` for archives that have not been checked. Afterwards, only the requested
/// entries are read and checked, in constant memory; skipping an entry takes about a hundred nanoseconds. Thread-safe.
package struct ZipDirectory: Sendable {
  /// The archive file.
  package let file: File

  let location: DirectoryLocation
  let limits: ZipLimits

  /// Opens the directory of the archive in `file`, which must have been checked before.
  package init(_ file: File, limits: ZipLimits = .default) throws(ZipError) {
    try self.init(file, limits, .lenient)
  }

  init(_ file: File, _ limits: ZipLimits, _ profile: ZipProfile) throws(ZipError) {
    self.file = file
    self.limits = limits
    let size = try mapSystemError { () throws(SystemError) in try file.size }
    location = try DirectoryLocation(file, size: size, limits: limits, profile: profile)
    guard location.entries <= UInt64(clamping: limits.entries) else { throw ZipError(.limit(.entries)) }
  }

  /// The number of entries, including folders.
  package var count: Int { Int(location.entries) }

  /// Up to `limit` entries in directory order, starting at index `first`.
  package func entries(from first: Int, limit: Int) throws(ZipError) -> [ZipEntry] {
    var entries: [ZipEntry] = []
    var window = FileWindow(file, location.range)
    for index in 0..<count {
      if entries.count >= limit { break }
      if index < first {
        _ = try next(in: &window) { _, _ in false }
      } else {
        entries.append(try located(DirectoryEntry(&window, limits: limits)))
      }
    }
    return entries
  }

  /// The entry with this name, or `nil`. A canonically equivalent name (Unicode NFC and NFD) is found too, unless an
  /// entry has exactly this name.
  package func entry(named name: String) throws(ZipError) -> ZipEntry? {
    try entries(named: [name])[name]
  }

  /// The entries with these names, as ``entry(named:)`` finds each, without those that do not exist. Reads the directory
  /// once.
  package func entries(named names: Set<String>) throws(ZipError) -> [String: ZipEntry] {
    let isASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
    var wanted: Set<[UInt8]> = []
    // Hashing all bytes of a name at once is faster than hashing an array of them, as a set does.
    var hashes = HashTable()
    for name in names {
      let name = Array(name.utf8)
      hashes.mark(Self.hash(name[...]))
      wanted.insert(name)
    }
    // Strings are equal if they are canonically equivalent.
    var found: [String: ZipEntry] = [:]
    var exact = 0
    var window = FileWindow(file, location.range)
    for _ in 0..<count {
      if exact == wanted.count { break }
      // An ASCII name is stored unchanged. Any other name has up to three encodings, all with an extra field or with
      // bytes outside ASCII.
      let entry = try next(in: &window) { name, hasExtra in
        hashes.mark(of: Self.hash(name)) != nil || !isASCII && (hasExtra || name.contains { $0 >= 0x80 })
      }
      guard let entry else { continue }
      let isExact = wanted.contains(Array(entry.name.utf8))
      guard isExact || names.contains(entry.name) && found[entry.name] == nil else { continue }
      if isExact { exact += 1 }
      found[entry.name] = try located(entry)
    }
    return found
  }

  /// The entries as described by the directory, one after the other.
  package var listing: ZipListing { ZipListing(self) }

  /// The entries whose names begin with one of `prefixes`, as described by the directory. The prefixes must be ASCII.
  /// Other entries are skipped quickly.
  package func listing(under prefixes: [String]) -> ZipListing { ZipListing(self, prefixes: prefixes) }

  func located(_ entry: DirectoryEntry) throws(ZipError) -> ZipEntry {
    ZipEntry(entry, dataOffset: try ArchiveLayout(file, location).dataOffset(of: entry))
  }

  /// Reads the next entry if `isWanted` returns `true`; skips it and returns `nil` otherwise.
  /// - Parameter isWanted: Called with the name as stored, and with whether the header has extra fields, which can
  ///   change the name's meaning.
  func next(
    in window: inout FileWindow, isChecked: Bool = false, _ isWanted: (ArraySlice<UInt8>, Bool) -> Bool
  ) throws(ZipError) -> DirectoryEntry? {
    let start = window.offset
    guard let header = try CentralHeader.next(in: &window) else { throw ZipError(.malformedDirectory) }
    let length = Int(header.common.nameLength)
    let isCandidate = try window.take(length) { bytes, index in
      isWanted(bytes[index..<(index + length)], header.common.extraLength > 0)
    }
    guard let isCandidate, window.skip(Int(header.common.extraLength) + Int(header.commentLength)) else {
      throw ZipError(.malformedDirectory)
    }
    guard isCandidate else { return nil }
    window.goBack(to: start)
    return try DirectoryEntry(&window, limits: limits, isChecked: isChecked)
  }

  private static func hash(_ name: ArraySlice<UInt8>) -> Int {
    var hasher = Hasher()
    name.withUnsafeBytes { hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

extension ZipDirectory {
  /// Locates the directory of the archive in `file` and checks the whole structure: directory, names, sizes, overlaps,
  /// limits, and every local header against the directory.
  ///
  /// In an archive that passes, no entry is a link or can be written outside a folder, and different readers see the
  /// same entries. Takes 10 to 20 bytes of memory for each entry and each folder, independently of the length of the
  /// names, and 24 more for each entry if the order of entries in the file differs from the directory.
  /// - Parameter profile: How strictly to check the archive. Later reading needs no profile, because an archive that
  ///   passes the strict profile is read identically by both.
  package init(
    checking file: File, limits: ZipLimits = .default, profile: ZipProfile = .lenient
  ) throws(ZipError) {
    try self.init(file, limits, profile)
    let isInOrder = try checkEntries(profile)
    var entries = EntrySequence(self, order: isInOrder ? nil : try order())
    try ArchiveLayout(file, location, profile).check(&entries, limits: limits)
  }

  /// Checks each entry on its own, and all entries together. Returns whether the order of entries in the file is that
  /// of the directory.
  private func checkEntries(_ profile: ZipProfile) throws(ZipError) -> Bool {
    let size = try mapSystemError { () throws(SystemError) in try file.size }
    var window = FileWindow(file, location.range)
    var names = NameIndex(mostFolders: limits.folders, profile: profile)
    var total: UInt64 = 0
    var last: UInt64 = 0
    var isInOrder = true
    for _ in 0..<count {
      let entry = try DirectoryEntry(&window, limits: limits, profile: profile)
      if let conflict = names.conflict(with: entry.name, size: entry.numbers.size) {
        throw ZipError(conflict, entry: entry.name)
      }
      names.insert(entry.name, size: entry.numbers.size)
      let (sum, overflow) = total.addingReportingOverflow(entry.refusal == nil ? entry.numbers.size : 0)
      guard !overflow, sum <= UInt64(clamping: limits.totalSize) else { throw ZipError(.limit(.totalSize)) }
      total = sum
      if entry.offset < last { isInOrder = false }
      last = entry.offset
    }
    guard window.offset == window.end else { throw ZipError(.malformedDirectory) }
    if let limit = limits.exceeded(totalSize: total, archiveSize: size) { throw ZipError(.limit(limit)) }
    return isInOrder
  }

  /// The offsets of the directory's entries, sorted by the position of their local headers in the file.
  private func order() throws(ZipError) -> [Int64] {
    var window = FileWindow(file, location.range)
    var places: [(offset: UInt64, place: Int64)] = []
    for _ in 0..<count {
      let place = window.offset
      places.append((try DirectoryEntry(&window, limits: limits, isChecked: true).offset, place))
    }
    return places.sorted { $0 < $1 }.map(\.place)
  }
}

/// Reads the entries of a checked directory again, one after the other.
struct EntrySequence {
  private let directory: ZipDirectory
  private var order: [Int64]?
  private var window: FileWindow
  private var index = 0

  /// - Parameter order: The offsets of the directory's entries in the order in which to read them; `nil` for directory
  ///   order.
  init(_ directory: ZipDirectory, order: [Int64]?) {
    self.directory = directory
    self.order = order
    window = FileWindow(directory.file, directory.location.range)
  }

  mutating func next() throws(ZipError) -> DirectoryEntry? {
    guard index < directory.count else { return nil }
    if let order, window.offset != order[index] {
      window = FileWindow(directory.file, order[index]..<directory.location.range.upperBound, piece: 512)
    }
    index += 1
    return try DirectoryEntry(&window, limits: directory.limits, isChecked: true)
  }
}
