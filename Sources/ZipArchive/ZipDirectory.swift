public import SystemIO

/// The directory of an archive that was checked as a whole when it came: entries are found again without checking all
/// of it once more.
///
/// ``init(checking:limits:)`` is for archives that nobody knows yet. Afterwards only what belongs to the entries that are asked for is
/// looked at: in constant memory, and in some hundred nanoseconds for each entry that is passed over. Safe to use from
/// many threads at once.
public struct ZipDirectory: Sendable {
  /// The file that is read.
  public let file: File

  let location: DirectoryLocation
  let limits: ZipLimits

  /// Finds the directory of the archive in `file`, which was checked when it came.
  public init(_ file: File, limits: ZipLimits = .default) throws(ZipError) {
    self.file = file
    self.limits = limits
    let size = try mapSystemError { () throws(SystemError) in try file.size }
    location = try DirectoryLocation(file, size: size, limits: limits)
    guard location.entries <= UInt64(clamping: limits.entries) else { throw ZipError(.limit(.entries)) }
  }

  /// How many entries there are, folders included.
  public var count: Int { Int(location.entries) }

  /// Up to `limit` entries in the directory's order, from the one at `first`, counted from 0.
  public func entries(from first: Int, limit: Int) throws(ZipError) -> [ZipEntry] {
    var entries: [ZipEntry] = []
    var window = FileWindow(file, location.range)
    for index in 0..<count {
      if entries.count >= limit { break }
      if index < first {
        _ = try Self.pass(&window)
      } else {
        entries.append(try located(DirectoryEntry(&window, limits: limits)))
      }
    }
    return entries
  }

  /// The entry of that exact name.
  public func entry(named name: String) throws(ZipError) -> ZipEntry? {
    try entries(named: [name])[name]
  }

  /// The entries of exactly these names, as far as they are there; looks through the directory once.
  public func entries(named names: Set<String>) throws(ZipError) -> [String: ZipEntry] {
    let wanted = Set(names.map { Array($0.utf8) })
    let isASCII = wanted.allSatisfy { $0.allSatisfy { $0 < 0x80 } }
    var found: [String: ZipEntry] = [:]
    var window = FileWindow(file, location.range)
    for _ in 0..<count {
      if found.count == wanted.count { break }
      let start = window.offset
      let (rawName, hasExtra) = try Self.pass(&window)
      // A name in ASCII stands there as it is. Any other one may be spelt in three ways, but not in ASCII alone.
      let isCandidate =
        wanted.contains(rawName) || !isASCII && (hasExtra || rawName.contains { $0 >= 0x80 })
      guard isCandidate else { continue }
      var again = FileWindow(file, start..<window.offset)
      let entry = try DirectoryEntry(&again, limits: limits)
      if wanted.contains(Array(entry.name.utf8)) { found[entry.name] = try located(entry) }
    }
    return found
  }

  /// What the directory says of all entries, one after the other.
  public var listing: ZipListing { ZipListing(self) }

  func located(_ entry: DirectoryEntry) throws(ZipError) -> ZipEntry {
    ZipEntry(entry, dataOffset: try ArchiveLayout(file, location).dataOffset(of: entry))
  }

  /// Passes over one entry.
  private static func pass(
    _ window: inout FileWindow
  ) throws(ZipError) -> (rawName: [UInt8], hasExtra: Bool) {
    guard let fixed = try window.take(CentralHeader.length), let header = CentralHeader(fixed),
      let rawName = try window.take(Int(header.common.nameLength)),
      window.skip(Int(header.common.extraLength) + Int(header.commentLength))
    else { throw ZipError(.malformedDirectory) }
    return (rawName, header.common.extraLength > 0)
  }
}
