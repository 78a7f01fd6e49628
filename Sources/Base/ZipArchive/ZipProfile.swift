/// Which archives a reader takes, and so which a writer writes.
public enum ZipProfile: Sendable, Hashable {
  /// Any archive that can be read safely, whoever made it. Where readers differ, the reading that most of them share
  /// is taken.
  case lenient
  /// Only archives that all readers read alike: the same names, each with the same contents, on every file system.
  /// The documentation of `SnapshotFormat` gives the reason for each rule.
  case strict
}

extension ZipProfile {
  /// What keeps `name` out of an archive, if anything does.
  func problem(with name: String) -> ZipError.NameProblem? {
    EntryName.problem(with: name) ?? (self == .strict ? EntryName.strictProblem(with: name) : nil)
  }

  /// Refuses the first of `names` that an archive can't hold, by itself or beside those before it. A ``ZipWriter`` would
  /// refuse it as well, but only when it gets there.
  package func check(_ names: some Sequence<String>) throws(ZipError) {
    var index = NameIndex(mostFolders: .max, profile: self)
    for name in names {
      if let problem = problem(with: name) { throw ZipError(.name(problem), entry: name) }
      if let conflict = index.conflict(with: name, size: 0) { throw ZipError(conflict, entry: name) }
      index.insert(name, size: 0)
    }
  }
}

extension DirectoryEntry {
  /// Checks what ``ZipProfile/strict`` asks of the entry and of its extra fields in the directory.
  func checkStrictly(_ fields: ExtraFields) throws(ZipError) {
    func require(_ condition: Bool, _ reason: @autoclosure () -> ZipError.Reason) throws(ZipError) {
      if !condition { throw ZipError(reason(), entry: name) }
    }
    // What can't be read can't be checked, and its length is a claim that nothing confirms.
    if let refusal { throw ZipError(refusal, entry: name) }
    try require(
      header.common.flags & Flag.utf8 != 0 || rawName.allSatisfy { $0 < 0x80 }, .name(.unmarkedUnicode))
    try fields.checkStrictly(header, rawName, entry: name)
    if let problem = EntryName.strictProblem(with: name) { throw ZipError(.name(problem), entry: name) }

    let isStored = header.common.method == 0
    // Only a deflate stream says itself where it ends, before the descriptor has told its length.
    try require(!isStored || header.common.flags & Flag.descriptor == 0, .storedWithDescriptor)

    let isFolder = name.utf8.last == UInt8(ascii: "/")
    // Java deflates the nothing that a folder holds: to two bytes.
    try require(!isFolder || numbers.compressedSize <= (isStored ? 0 : 2), .folderWithContents)
    let attributes = header.externalAttributes
    try require(attributes & DOSAttribute.special == 0, .specialFile)
    switch (attributes >> 16) & 0o170000 {
    case 0: break
    case 0o040000: try require(isFolder, .kindDiffers)
    case 0o100000: try require(!isFolder, .kindDiffers)
    default: throw ZipError(.specialFile, entry: name)
    }
    try require(isFolder || attributes & DOSAttribute.folder == 0, .kindDiffers)
  }
}

/// The bits of the external attributes that are MS-DOS's and Windows' (APPNOTE 4.4.15).
private enum DOSAttribute {
  static let volumeLabel: UInt32 = 0x08
  static let folder: UInt32 = 0x10
  static let device: UInt32 = 0x40
  static let link: UInt32 = 0x400

  static let special = volumeLabel | device | link
}

extension ExtraFields {
  /// The fields that change nothing about an entry's name, size or contents, or whose numbers are compared.
  private static let known: Set<UInt16> = [
    0x0001,  // ZIP64
    0x000A,  // NTFS: times
    0x5455,  // Info-ZIP: times, fewer in the directory than in the local header
    0x5855,  // Info-ZIP, macOS: times, user and group
    0x6375,  // Unicode comment
    0x7075,  // Unicode path
    0x7855,  // Info-ZIP: user and group
    0x7875,  // Info-ZIP: user and group, wider
    0xCAFE,  // Java: this is a JAR
  ]

  /// Checks what ``ZipProfile/strict`` asks of the fields of a central header.
  fileprivate func checkStrictly(
    _ header: CentralHeader, _ rawName: [UInt8], entry: String
  ) throws(ZipError) {
    try checkStrictly(rawName, entry: entry)
    let numbers = [header.common.size, header.common.compressedSize, header.offset]
    guard isReadInOneWay(numbers.map { $0 == .max } + [header.disk == .max]) else {
      throw ZipError(.malformedExtraField, entry: entry)
    }
  }

  /// Checks what ``ZipProfile/strict`` asks of the fields of a local header.
  func checkStrictly(_ header: CommonHeader, _ rawName: [UInt8], entry: String) throws(ZipError) {
    try checkStrictly(rawName, entry: entry)
    guard isReadInOneWay([header.size, header.compressedSize].map { $0 == .max }) else {
      throw ZipError(.malformedExtraField, entry: entry)
    }
  }

  private func checkStrictly(_ rawName: [UInt8], entry: String) throws(ZipError) {
    guard isWhole, Set(ids).count == ids.count else { throw ZipError(.malformedExtraField, entry: entry) }
    if let unknown = ids.first(where: { !Self.known.contains($0) }) {
      throw ZipError(.unknownExtraField(unknown), entry: entry)
    }
    guard unicodePath == nil || unicodePath?.name == rawName else {
      throw ZipError(.name(.otherUnicodePath), entry: entry)
    }
  }

  /// Whether the ZIP64 field gives the same numbers to readers that take those that they need one after the other, and
  /// to readers that take each from its place: it holds no other number before one that is needed.
  /// - Parameter isNeeded: Of the size, the compressed size, the offset and the disk, in that order.
  private func isReadInOneWay(_ isNeeded: [Bool]) -> Bool {
    guard let zip64 else { return true }
    let needed = isNeeded.indices.filter { isNeeded[$0] }
    let exact = needed.reduce(0) { $0 + ($1 == 3 ? 4 : 8) }
    return zip64.count == exact || needed == Array(0..<needed.count)
  }
}
