import SystemIO

/// Reads an archive in file order and checks that each byte before the directory belongs to exactly one entry, and that
/// the local headers match the directory.
///
/// This ensures that readers that read from front to back see the same entries as readers that use the directory.
struct ArchiveLayout {
  private let file: File
  private let directory: DirectoryLocation
  private let profile: ZipProfile

  init(_ file: File, _ directory: DirectoryLocation, _ profile: ZipProfile = .lenient) {
    self.file = file
    self.directory = directory
    self.profile = profile
  }

  /// Checks all entries. `entries` returns them in file order.
  func check(_ entries: inout EntrySequence, limits: ZipLimits) throws(ZipError) {
    var position = directory.base
    var upcoming = try entries.next()
    if profile == .lenient, position == 0, let first = upcoming {
      // Leading bytes are accepted whether or not the archive's offsets count them.
      position = try start(of: first)
      try DirectoryLocation.checkLeadingBytes(file, position, limits)
    }
    while let entry = upcoming {
      let start = try self.start(of: entry)
      if start > position { throw ZipError(.unaccountedBytes(at: position)) }
      if start < position { throw ZipError(.overlap, entry: entry.name) }
      upcoming = try entries.next()
      let next = if let upcoming { try self.start(of: upcoming) } else { directory.range.lowerBound }
      let dataOffset = try checkLocalHeader(of: entry, at: start)
      guard dataOffset <= next else { throw ZipError(.overlap, entry: entry.name) }
      position = try end(of: entry, dataOffset: dataOffset, next: next)
    }
    guard position == directory.range.lowerBound else { throw ZipError(.unaccountedBytes(at: position)) }
  }

  /// The offset of the data of one entry. Does not check whether the entry overlaps others; ``check(_:limits:)`` does.
  func dataOffset(of entry: DirectoryEntry) throws(ZipError) -> Int64 {
    let dataOffset = try checkLocalHeader(of: entry, at: start(of: entry))
    let room = directory.range.lowerBound - dataOffset
    guard room >= 0, entry.refusal != nil || entry.numbers.compressedSize <= UInt64(room) else {
      throw ZipError(.overlap, entry: entry.name)
    }
    return dataOffset
  }

  private func start(of entry: DirectoryEntry) throws(ZipError) -> Int64 {
    guard let offset = Int64(exactly: entry.offset),
      offset <= directory.range.lowerBound - directory.base - Int64(LocalHeader.length)
    else { throw ZipError(.noLocalHeader, entry: entry.name) }
    return directory.base + offset
  }

  /// The end of the entry's data and data descriptor. With a descriptor, this must be `next`.
  private func end(of entry: DirectoryEntry, dataOffset: Int64, next: Int64) throws(ZipError) -> Int64 {
    // The data of an unreadable entry is never used, so its length is not checked.
    guard entry.refusal == nil else { return next }
    guard let length = Int64(exactly: entry.numbers.compressedSize), length <= next - dataOffset else {
      throw ZipError(.overlap, entry: entry.name)
    }
    let dataEnd = dataOffset + length
    guard entry.header.common.flags & Flag.descriptor != 0 else { return dataEnd }
    guard next - dataEnd <= 24 else { throw ZipError(.descriptorDiffers, entry: entry.name) }
    let bytes = try read(Int(next - dataEnd), at: dataEnd, entry)
    guard isDescriptor(bytes, of: entry) else { throw ZipError(.descriptorDiffers, entry: entry.name) }
    return next
  }

  /// Whether `bytes` are a data descriptor (APPNOTE 4.3.9), in one of its four forms, with the same numbers as the
  /// directory.
  private func isDescriptor(_ bytes: [UInt8], of entry: DirectoryEntry) -> Bool {
    guard [12, 16, 20, 24].contains(bytes.count) else { return false }
    let isSigned = bytes.count == 16 || bytes.count == 24
    if isSigned, bytes.u32(0) != Signature.descriptor { return false }
    let start = isSigned ? 4 : 0
    let isWide = bytes.count >= 20
    let compressedSize = isWide ? bytes.u64(start + 4) : UInt64(bytes.u32(start + 4))
    let size = isWide ? bytes.u64(start + 12) : UInt64(bytes.u32(start + 8))
    return bytes.u32(start) == entry.header.common.crc32 && compressedSize == entry.numbers.compressedSize
      && size == entry.numbers.size
  }

  /// Compares the local header at `start` with the directory. Returns the offset of the data.
  private func checkLocalHeader(of entry: DirectoryEntry, at start: Int64) throws(ZipError) -> Int64 {
    let expected = LocalHeader.length + entry.rawName.count
    var bytes = try read(expected + 64, at: start, entry)
    guard let local = LocalHeader(bytes)?.common else { throw ZipError(.noLocalHeader, entry: entry.name) }
    let central = entry.header.common
    func require(_ condition: Bool, _ field: ZipError.HeaderField) throws(ZipError) {
      if !condition { throw ZipError(.localHeaderDiffers(field), entry: entry.name) }
    }
    let length = expected + Int(local.extraLength)
    if bytes.count < length { bytes = try read(length, at: start, entry) }
    try require(local.nameLength == central.nameLength && bytes.count >= expected, .name)
    try require(bytes[LocalHeader.length..<expected].elementsEqual(entry.rawName), .name)
    try require((local.flags ^ central.flags) & Flag.decisive == 0, .flags)
    try require(local.method == central.method, .method)
    try require(local.time == central.time, .time)
    guard bytes.count >= length, let fields = ExtraFields(bytes[expected..<length]) else {
      throw ZipError(.malformedExtraField, entry: entry.name)
    }
    if profile == .strict { try fields.checkStrictly(local, entry.rawName, entry: entry.name) }
    if entry.unicodePath != fields.unicodePath {
      let name = try EntryName.decode(
        entry.rawName, flags: local.flags, isUnix: entry.header.isUnix, unicodePath: fields.unicodePath)
      try require(name.utf8.elementsEqual(entry.name.utf8), .name)
    }
    guard let numbers = fields.widened(local) else {
      throw ZipError(.malformedExtraField, entry: entry.name)
    }
    // If a data descriptor follows, the local header can have zeros for numbers that were not known yet.
    let mayBeZero = central.flags & Flag.descriptor != 0
    try require(local.crc32 == central.crc32 || mayBeZero && local.crc32 == 0, .checksum)
    try require(numbers.size == entry.numbers.size || mayBeZero && numbers.size == 0, .size)
    try require(
      numbers.compressedSize == entry.numbers.compressedSize || mayBeZero && numbers.compressedSize == 0,
      .compressedSize)
    return start + Int64(length)
  }

  private func read(_ count: Int, at offset: Int64, _ entry: DirectoryEntry) throws(ZipError) -> [UInt8] {
    try mapSystemError(entry: entry.name) { () throws(SystemError) in try file.read(upTo: count, at: offset) }
  }
}
