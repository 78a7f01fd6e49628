/// The set of archives that a reader accepts and a writer produces.
public enum ZipProfile: Sendable, Hashable {
  /// Any archive that can be read safely. Where readers differ, the interpretation of most of them is used.
  case lenient
  /// Only archives that all readers read identically: the same names with the same contents on every file system. The
  /// documentation of `SnapshotFormat` explains each rule.
  case strict
}

extension ZipProfile {
  /// The reason why an archive cannot contain `name`; `nil` if it can.
  func problem(with name: String) -> ZipError.NameProblem? {
    EntryName.problem(with: name) ?? (self == .strict ? EntryName.strictProblem(with: name) : nil)
  }

  /// Whether no archive contains a file with this name, which is a single component.
  package func refuses(_ name: String) -> Bool { problem(with: name) != nil }

  /// The form in which two names are equal that ``strict`` does not allow in one folder.
  package static func folded(_ name: String) -> String { NameIndex.strictFold(name[...]) }

  /// Whether the name is that of a device on Windows.
  package static func isDevice(_ name: String) -> Bool { EntryName.isDevice(name[...]) }

  /// Throws for the first name that an archive cannot contain, on its own or together with the names before it. A
  /// ``ZipWriter`` rejects it as well, but only after writing the preceding entries.
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
  /// Checks the rules of ``ZipProfile/strict`` for the entry and its extra fields in the directory.
  func checkStrictly(_ fields: ExtraFields) throws(ZipError) {
    func require(_ condition: Bool, _ reason: @autoclosure () -> ZipError.Reason) throws(ZipError) {
      if !condition { throw ZipError(reason(), entry: name) }
    }
    // The contents of an unreadable entry cannot be checked, and its declared size cannot be verified.
    if let refusal { throw ZipError(refusal, entry: name) }
    try require(
      header.common.flags & Flag.utf8 != 0 || rawName.allSatisfy { $0 < 0x80 }, .name(.unmarkedUnicode))
    try fields.checkStrictly(header, rawName, entry: name)
    if let problem = EntryName.strictProblem(with: name) { throw ZipError(.name(problem), entry: name) }

    let isStored = header.common.method == 0
    // Only a deflate stream marks its own end. The end of stored data is unknown to a reader that reads from front to
    // back, because the length follows in the descriptor.
    try require(!isStored || header.common.flags & Flag.descriptor == 0, .storedWithDescriptor)

    let isFolder = name.utf8.last == UInt8(ascii: "/")
    // Java deflates the empty contents of a folder, to two bytes.
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

/// The bits of the external attributes that MS-DOS and Windows define (APPNOTE 4.4.15).
private enum DOSAttribute {
  static let volumeLabel: UInt32 = 0x08
  static let folder: UInt32 = 0x10
  static let device: UInt32 = 0x40
  static let link: UInt32 = 0x400

  static let special = volumeLabel | device | link
}

extension ExtraFields {
  /// Fields that do not affect an entry's name, size or contents, or whose values are compared with the header.
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

  /// Checks the rules of ``ZipProfile/strict`` for the fields of a central header.
  fileprivate func checkStrictly(
    _ header: CentralHeader, _ rawName: [UInt8], entry: String
  ) throws(ZipError) {
    try checkStrictly(rawName, entry: entry)
    let numbers = [header.common.size, header.common.compressedSize, header.offset]
    guard isReadInOneWay(numbers.map { $0 == .max } + [header.disk == .max]) else {
      throw ZipError(.malformedExtraField, entry: entry)
    }
  }

  /// Checks the rules of ``ZipProfile/strict`` for the fields of a local header.
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

  /// Whether the ZIP64 field has the same meaning for readers that take the needed numbers in sequence and for readers
  /// that take each number from its fixed position. This holds if no unneeded number precedes a needed one.
  /// - Parameter isNeeded: Whether the size, the compressed size, the offset and the disk are needed, in this order.
  private func isReadInOneWay(_ isNeeded: [Bool]) -> Bool {
    guard let zip64 else { return true }
    let needed = isNeeded.indices.filter { isNeeded[$0] }
    let exact = needed.reduce(0) { $0 + ($1 == 3 ? 4 : 8) }
    return zip64.count == exact || needed == Array(0..<needed.count)
  }
}
