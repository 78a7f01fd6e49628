/// Iterates over the directory of a checked archive in constant memory.
package struct ZipListing {
  /// An entry as described by the directory, without the offset of its data.
  package struct Line: Sendable, Hashable {
    /// The name, as in ``ZipEntry/name``.
    package let name: String
    /// The uncompressed size in bytes.
    package let size: Int64
    /// The CRC-32 of the uncompressed contents.
    package let crc32: UInt32

    /// Whether this is a folder.
    package var isFolder: Bool { name.utf8.last == UInt8(ascii: "/") }
  }

  private let directory: ZipDirectory
  /// The prefixes of the listed names; `nil` to list all.
  private let prefixes: [[UInt8]]?
  private var window: FileWindow
  private var rest: Int

  init(_ directory: ZipDirectory, prefixes: [String]? = nil) {
    self.directory = directory
    self.prefixes = prefixes.map { $0.map { Array($0.utf8) } }
    window = FileWindow(directory.file, directory.location.range)
    rest = directory.count
  }

  /// The next entry in directory order; `nil` at the end.
  package mutating func next() throws(ZipError) -> Line? {
    guard let entry = try nextHeader() else { return nil }
    return Line(
      name: entry.name, size: Int64(clamping: entry.numbers.size), crc32: entry.header.common.crc32)
  }

  /// The next entry, with the offset of its data.
  package mutating func nextEntry() throws(ZipError) -> ZipEntry? {
    guard let entry = try nextHeader() else { return nil }
    return try directory.located(entry)
  }

  private mutating func nextHeader() throws(ZipError) -> DirectoryEntry? {
    while rest > 0 {
      rest -= 1
      guard let prefixes else {
        return try DirectoryEntry(&window, limits: directory.limits, isChecked: true)
      }
      // The prefixes are ASCII, which is the same in every encoding. Only an extra field can replace the name by
      // another one.
      let entry = try directory.next(in: &window, isChecked: true) { name, hasExtra in
        hasExtra || prefixes.contains { name.starts(with: $0) }
      }
      if let entry, prefixes.contains(where: { entry.name.utf8.starts(with: $0) }) { return entry }
    }
    return nil
  }
}
