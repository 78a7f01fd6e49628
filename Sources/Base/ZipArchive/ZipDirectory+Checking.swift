package import SystemIO

extension ZipDirectory {
  /// Finds the directory of the archive in `file`, and checks the whole structure: directory, names, sizes, overlaps,
  /// limits, and every local header against the directory.
  ///
  /// An archive that passes holds no entry that could be written outside a folder, none that two readers would see
  /// differently, and no link. Takes some ten bytes of memory for each entry and each folder, however long their names
  /// are; twenty-four more for each entry where these don't stand in the directory's order.
  /// - Parameter profile: How strictly it is checked. Reading it later takes no profile: what passed the strict one is
  ///   read alike by both.
  package init(
    checking file: File, limits: ZipLimits = .default, profile: ZipProfile = .lenient
  ) throws(ZipError) {
    try self.init(file, limits, profile)
    let isInOrder = try checkEntries(profile)
    var entries = EntrySequence(self, order: isInOrder ? nil : try order())
    try ArchiveLayout(file, location, profile).check(&entries, limits: limits)
  }

  /// Checks each entry by itself, and what all of them are together; answers whether they stand in the file in the
  /// directory's order.
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

  /// Where in the directory the entries are, in the order in which they stand in the file.
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

/// The entries of a directory that were checked, read again one after the other.
struct EntrySequence {
  private let directory: ZipDirectory
  private var order: [Int64]?
  private var window: FileWindow
  private var index = 0

  /// - Parameter order: Where in the directory the entries are to be read; `nil` for the directory's own order.
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
