import SystemIO

/// The location of an archive's central directory, found from the end of the file.
///
/// Readers search for the end record in different ways. An archive is therefore accepted only if all of them find the
/// same directory: exactly one end record reaches to the end of the file, no other one begins in its comment, and its
/// fields match the directory exactly.
struct DirectoryLocation {
  /// The range of the directory in the file.
  var range: Range<Int64>
  /// The number of entries in the end record.
  var entries: UInt64
  /// The number of bytes before the archive. Its offsets are relative to this position.
  var base: Int64

  /// Locates the directory of the archive in `file`, which has `size` bytes.
  init(_ file: File, size: Int64, limits: ZipLimits, profile: ZipProfile) throws(ZipError) {
    let tailLength = Int(min(size, Int64(EndRecord.length + 0xFFFF + Self.padding)))
    let tail = try Self.read(file, tailLength, at: size - Int64(tailLength))
    guard tail.count == tailLength else { throw ZipError(.truncated) }
    let index = try Self.endRecord(in: tail)
    let plain = EndRecord(tail, at: index)
    let position = size - Int64(tailLength) + Int64(index)
    let (record, end) = try Self.zip64Record(file, before: position, plain, profile) ?? (plain, position)

    guard record.disk == 0, record.directoryDisk == 0, record.entriesHere == record.entries else {
      throw ZipError(.severalParts)
    }
    guard let start = Int64(exactly: record.directoryOffset),
      let length = Int64(exactly: record.directorySize),
      length <= end, start <= end - length, record.entries <= UInt64(length / Int64(CentralHeader.length))
    else { throw ZipError(.malformedDirectory) }
    base = end - length - start
    range = (start + base)..<end
    entries = record.entries
    guard base > 0 else { return }
    // A reader that starts at the front would find no archive.
    if profile == .strict { throw ZipError(.unaccountedBytes(at: 0)) }
    try checkPrefix(file, directoryOffset: start, limits)
  }

  /// The number of bytes that can follow the comment. Transfers in text mode or in 16-bit words append one.
  private static let padding = 1

  /// The index in `tail`, the end of the file, of the only end record that reaches to the end.
  private static func endRecord(in tail: [UInt8]) throws(ZipError) -> Int {
    var found: [(index: Int, rest: Int)] = []
    var last = -1
    var next = 0
    while let index = tail.index(of: UInt8(ascii: "P"), from: next), index <= tail.count - 4 {
      next = index + 1
      guard tail.u32(index) == Signature.end else { continue }
      last = index
      guard index + EndRecord.length <= tail.count else { continue }
      found.append((index, tail.count - index - EndRecord.length - Int(tail.u16(index + 20))))
    }
    let fitting = found.filter { (0...padding).contains($0.rest) }
    guard let end = fitting.first else {
      guard let nearest = found.last else { throw ZipError(last < 0 ? .notAnArchive : .truncated) }
      throw ZipError(nearest.rest > 0 ? .trailingBytes : .truncated)
    }
    guard fitting.count == 1, end.index == last else { throw ZipError(.ambiguousEnd) }
    return end.index
  }

  /// The ZIP64 end record before the plain one at `position`, and its offset; `nil` if there is none.
  private static func zip64Record(
    _ file: File, before position: Int64, _ plain: EndRecord, _ profile: ZipProfile
  ) throws(ZipError) -> (EndRecord, Int64)? {
    let start = position - Int64(Locator64.length)
    guard start >= 0, let locator = Locator64(try read(file, Locator64.length, at: start)) else {
      if plain.needsZip64 { throw ZipError(.endRecordsDisagree) }
      return nil
    }
    let recordStart = start - Int64(EndRecord.length64)
    guard recordStart >= 0,
      let record = EndRecord(zip64: try read(file, EndRecord.length64, at: recordStart)),
      locator.offset <= UInt64(recordStart)
    else {
      // If the directory ends directly before the end record, its last bytes can look like a locator by coincidence.
      let end = plain.directoryOffset + plain.directorySize
      if plain.needsZip64 || end != UInt64(position) || profile == .strict {
        throw ZipError(.endRecordsDisagree)
      }
      return nil
    }
    guard locator.disk == 0, locator.disks <= 1 else { throw ZipError(.severalParts) }
    let (end, overflow) = record.directoryOffset.addingReportingOverflow(record.directorySize)
    guard plain.agrees(with: record), !overflow, end == locator.offset else {
      throw ZipError(.endRecordsDisagree)
    }
    return (record, recordStart)
  }

  /// Accepts bytes before the archive that its offsets do not count, provided that no reader can take them for a part
  /// of an archive.
  private func checkPrefix(
    _ file: File, directoryOffset: Int64, _ limits: ZipLimits
  ) throws(ZipError) {
    // Check first that there is a prefix, and not a wrong offset. Otherwise an error about the prefix's length would be
    // misleading.
    guard entries > 0, try Self.signature(file, at: range.lowerBound) == Signature.centralHeader,
      try Self.signature(file, at: base) == Signature.localHeader,
      try Self.signature(file, at: directoryOffset) != Signature.centralHeader
    else { throw ZipError(.malformedDirectory) }
    try Self.checkLeadingBytes(file, base, limits)
  }

  /// Accepts the `count` bytes before the first entry if no record can begin in them.
  static func checkLeadingBytes(_ file: File, _ count: Int64, _ limits: ZipLimits) throws(ZipError) {
    guard count <= limits.leadingBytes else { throw ZipError(.limit(.leadingBytes)) }
    var offset: Int64 = 0
    while offset < count {
      let bytes = try read(file, Int(min(1 << 16, count - offset + 3)), at: offset)
      guard bytes.count > 3 else { break }
      var next = 0
      while let index = bytes.index(of: UInt8(ascii: "P"), from: next),
        index < bytes.count - 3, Int64(index) + offset < count
      {
        next = index + 1
        let signatures = [Signature.localHeader, Signature.centralHeader, Signature.end, Signature.end64]
        if signatures.contains(bytes.u32(index)) {
          throw ZipError(.unaccountedBytes(at: offset + Int64(index)))
        }
      }
      offset += Int64(bytes.count - 3)
    }
  }

  private static func signature(_ file: File, at offset: Int64) throws(ZipError) -> UInt32? {
    let bytes = try read(file, 4, at: offset)
    return bytes.count == 4 ? bytes.u32(0) : nil
  }

  private static func read(_ file: File, _ count: Int, at offset: Int64) throws(ZipError) -> [UInt8] {
    try mapSystemError { () throws(SystemError) in try file.read(upTo: count, at: offset) }
  }
}
