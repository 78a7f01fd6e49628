/// An entry as described by the central directory. Its local header has not been read.
struct DirectoryEntry {
  let name: String
  let rawName: [UInt8]
  let header: CentralHeader
  let numbers: ExtraFields.Numbers
  let unicodePath: ExtraFields.UnicodePath?
  /// The reason why the entry can be listed but not read; `nil` if it can be read.
  let refusal: ZipError.Reason?

  /// The offset of the local header from the beginning of the archive.
  var offset: UInt64 { numbers.offset }

  /// Reads the next entry of the directory. Checks it on its own unless `isChecked` is true, which is for archives that
  /// were checked before.
  init(
    _ window: inout FileWindow, limits: ZipLimits, profile: ZipProfile = .lenient, isChecked: Bool = false
  ) throws(ZipError) {
    guard let header = try CentralHeader.next(in: &window),
      let rawName = try window.take(Int(header.common.nameLength)),
      let extra = try window.take(Int(header.common.extraLength)),
      window.skip(Int(header.commentLength))
    else { throw ZipError(.malformedDirectory) }
    let common = header.common
    guard rawName.count <= limits.nameLength else {
      throw ZipError(.limit(.nameLength), entry: CP437.decode(Array(rawName.prefix(64))) + "…")
    }
    guard let fields = ExtraFields(extra[...]), let numbers = fields.widened(header) else {
      throw ZipError(.malformedExtraField, entry: CP437.decode(rawName))
    }
    let decoded = try EntryName.decode(
      rawName, flags: common.flags, isUnix: header.isUnix, unicodePath: fields.unicodePath)
    self.rawName = rawName
    self.header = header
    self.numbers = numbers
    unicodePath = fields.unicodePath
    refusal = Self.refusal(common)
    // The name of an unreadable entry is only displayed; no file is written under it.
    name = refusal == nil ? decoded : EntryName.printable(decoded)
    guard !isChecked else { return }
    try check(limits, profile)
    if profile == .strict { try checkStrictly(fields) }
  }

  private static func refusal(_ header: CommonHeader) -> ZipError.Reason? {
    if header.flags & Flag.anyEncryption != 0 { return .encrypted }
    if header.flags & Flag.patched != 0 || ![0, 8].contains(header.method) {
      return .unsupportedMethod(header.method)
    }
    // The upper byte is the operating system of the writer. 6.3 is the latest version of the format.
    let version = UInt8(truncatingIfNeeded: header.versionNeeded)
    return version > 63 ? .unsupportedVersion(version) : nil
  }

  private func check(_ limits: ZipLimits, _ profile: ZipProfile) throws(ZipError) {
    func require(_ condition: Bool, _ reason: @autoclosure () -> ZipError.Reason) throws(ZipError) {
      if !condition { throw ZipError(reason(), entry: name) }
    }
    // Old archives contain entries with an empty name. They are harmless, because no file can be written under it.
    if let problem = EntryName.problem(with: name), problem != .empty || profile == .strict {
      throw ZipError(.name(problem), entry: name)
    }
    try require(EntryName.parts(of: name).count <= limits.depth, .limit(.depth))
    try require(numbers.disk == 0, .severalParts)
    let mode = header.externalAttributes >> 16
    // For input from a pipe, Info-ZIP writes an ordinary file with the mode of a pipe.
    try require([0, 0o010000, 0o040000, 0o100000].contains(mode & 0o170000), .specialFile)
    let isFolder = name.utf8.last == UInt8(ascii: "/")
    // On a folder, set-group-ID only makes new files inherit the folder's group. It grants no rights.
    let isSharedFolder = isFolder && mode & 0o174000 == 0o040000 && profile == .lenient
    try require(mode & 0o6000 == 0 || isSharedFolder, .setUserID)
    try require(!isFolder || numbers.size == 0, .folderWithContents)
    // The data of an unreadable entry is never used, so its sizes are not checked.
    guard refusal == nil else { return }
    try require(header.common.method != 0 || numbers.size == numbers.compressedSize, .storedSizesDiffer)
    if let limit = limits.exceeded(size: numbers.size, compressedSize: numbers.compressedSize) {
      throw ZipError(.limit(limit), entry: name)
    }
  }
}
