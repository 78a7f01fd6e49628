package import SystemIO

/// The directory of an archive that was checked as a whole when it came: entries are found again without checking all
/// of it once more.
///
/// ``init(checking:limits:)`` is for archives that nobody knows yet. Afterwards only what belongs to the entries that are asked for is
/// looked at: in constant memory, and in some hundred nanoseconds for each entry that is passed over. Safe to use from
/// many threads at once.
package struct ZipDirectory: Sendable {
  /// The file that is read.
  package let file: File

  let location: DirectoryLocation
  let limits: ZipLimits

  /// Finds the directory of the archive in `file`, which was checked when it came.
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

  /// How many entries there are, folders included.
  package var count: Int { Int(location.entries) }

  /// Up to `limit` entries in the directory's order, from the one at `first`, counted from 0.
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

  /// The entry of that exact name.
  package func entry(named name: String) throws(ZipError) -> ZipEntry? {
    try entries(named: [name])[name]
  }

  /// The entries of exactly these names, as far as they are there; looks through the directory once.
  package func entries(named names: Set<String>) throws(ZipError) -> [String: ZipEntry] {
    let isASCII = names.allSatisfy { $0.utf8.allSatisfy { $0 < 0x80 } }
    var wanted: Set<[UInt8]> = []
    // Hashing all bytes of a name at once is quicker than what a set of arrays does.
    var hashes = HashTable()
    for name in names {
      let name = Array(name.utf8)
      hashes.mark(Self.hash(name[...]))
      wanted.insert(name)
    }
    var found: [String: ZipEntry] = [:]
    var window = FileWindow(file, location.range)
    for _ in 0..<count {
      if found.count == wanted.count { break }
      // A name in ASCII stands there as it is. Any other one may be spelt in three ways, but not in ASCII alone.
      let entry = try next(in: &window) { name, hasExtra in
        hashes.mark(of: Self.hash(name)) != nil || !isASCII && (hasExtra || name.contains { $0 >= 0x80 })
      }
      guard let entry, wanted.contains(Array(entry.name.utf8)) else { continue }
      found[entry.name] = try located(entry)
    }
    return found
  }

  /// What the directory says of all entries, one after the other.
  package var listing: ZipListing { ZipListing(self) }

  /// What the directory says of the entries whose names begin with one of `prefixes`, which are in ASCII: those that do
  /// not are passed over without a closer look.
  package func listing(under prefixes: [String]) -> ZipListing { ZipListing(self, prefixes: prefixes) }

  func located(_ entry: DirectoryEntry) throws(ZipError) -> ZipEntry {
    ZipEntry(entry, dataOffset: try ArchiveLayout(file, location).dataOffset(of: entry))
  }

  /// Passes over the entry that stands next, and answers what it is if it is wanted.
  /// - Parameter isWanted: Gets the name as it stands there, and whether there is more that may say how it is meant.
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
