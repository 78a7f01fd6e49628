import SystemIO

@testable import ZipArchive

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension FuzzedParser {
  private static let limits = {
    var limits = ZipLimits()
    (limits.entries, limits.nameLength, limits.depth, limits.leadingBytes) = (16, 64, 4, 64)
    (limits.entrySize, limits.totalSize) = (1 << 16, 1 << 18)
    (limits.ratio, limits.ratioThreshold, limits.totalRatioThreshold) = (100, 1 << 10, 1 << 12)
    return limits
  }()

  /// An archive that opens stays within its limits. Its entries do not overlap, and are extracted only below the
  /// destination folder. Its readable contents survive being written to another archive.
  func checkZipDirectory(_ input: [UInt8]) throws {
    let file = try scratchFile(input)
    try checkLooking(into: file)
    let wide = try opened { () throws(ZipError) in try ZipReader(file) }
    guard let reader = try opened({ () throws(ZipError) in try ZipReader(file, limits: Self.limits) }) else {
      return
    }
    try require(wide?.entries == reader.entries, "smaller limits accept what larger ones refuse")
    let entries = reader.entries
    try require(entries.count <= Self.limits.entries, "\(entries.count) entries")
    try require(Set(entries.map(\.name)).count == entries.count, "two entries with the same name")
    for entry in entries {
      try checkName(entry.name)
      try require(reader.entry(named: entry.name) == entry, "\(entry.name) is found as another entry")
    }
    try checkDirectory(of: reader)
    try checkProfile(of: reader, input)
    let readable = entries.filter { $0.refusal == nil }
    try checkSizes(of: readable, in: input.count)
    try checkContents(of: readable, in: reader)
  }

  /// Reading from an unchecked archive terminates, and returns no more bytes than the archive declares.
  private func checkLooking(into file: File) throws {
    guard let directory = try opened({ () throws(ZipError) in try ZipDirectory(file, limits: Self.limits) })
    else { return }
    try require(directory.count <= Self.limits.entries, "\(directory.count) entries")
    _ = try opened { () throws(ZipError) in
      var listing = directory.listing
      while let line = try listing.next() { _ = try directory.entry(named: line.name) }
    }
    _ = try opened { () throws(ZipError) in try directory.entries(from: 0, limit: .max) }
  }

  /// Reading a checked archive entry by entry finds the same entries as the check.
  private func checkDirectory(of reader: ZipReader) throws {
    let directory = try ZipDirectory(reader.file, limits: Self.limits)
    try require(
      try directory.entries(from: 0, limit: .max) == reader.entries, "the directory has other entries")
    var listing = directory.listing
    for entry in reader.entries {
      let line = try listing.next()
      try require(
        line?.name == entry.name && line?.size == entry.size && line?.crc32 == entry.crc32,
        "\(entry.name) is listed as another entry")
      try require(try directory.entry(named: entry.name) == entry, "\(entry.name) is not found")
    }
    try require(try listing.next() == nil, "too many entries are listed")
  }

  /// In an archive that conforms to the strict profile, the names are the same in the central directory, in the local
  /// headers from the first to the last, and in this reader. Each name is unique.
  private func checkProfile(of reader: ZipReader, _ input: [UInt8]) throws {
    guard
      let strict = try opened({ () throws(ZipError) in
        try ZipReader(reader.file, limits: Self.limits, profile: .strict)
      })
    else { return }
    try require(strict.entries == reader.entries, "the profiles have other entries")
    let names = strict.entries.map { Array($0.name.utf8) }
    try require(Set(names).count == names.count, "two entries with the same name")
    try require(strict.entries.allSatisfy { $0.refusal == nil }, "an entry that cannot be read")
    let signature = (0...input.count - EndRecord.length).last { input.u32($0) == Signature.end }
    guard let end = signature else { throw BrokenProperty(description: "no end record") }
    var offset = Int(input.u32(end + 16))
    // Numbers in a ZIP64 field are covered by the comparison of the two profiles.
    guard offset < Int(UInt32.max) else { return }
    var places: [(offset: Int, compressedSize: Int, name: [UInt8])] = []
    let directory = offset
    for name in names {
      try require(input.u32(offset) == Signature.centralHeader, "no central header at \(offset)")
      let (start, length) = (offset + CentralHeader.length, Int(input.u16(offset + 28)))
      try require(input[start..<(start + length)].elementsEqual(name), "a name has other bytes")
      places.append((Int(input.u32(offset + 42)), Int(input.u32(offset + 20)), name))
      offset = start + length + Int(input.u16(offset + 30)) + Int(input.u16(offset + 32))
    }
    guard places.allSatisfy({ max($0.offset, $0.compressedSize) < Int(UInt32.max) }) else { return }
    offset = 0
    places.sort { $0.offset < $1.offset }
    for (index, place) in places.enumerated() {
      try require(place.offset == offset, "there are other bytes before \(offset)")
      try require(input.u32(offset) == Signature.localHeader, "no local header at \(offset)")
      let (start, length) = (offset + LocalHeader.length, Int(input.u16(offset + 26)))
      try require(input[start..<(start + length)].elementsEqual(place.name), "a local name has other bytes")
      let dataEnd = start + length + Int(input.u16(offset + 28)) + place.compressedSize
      let hasDescriptor = input.u16(offset + 6) & Flag.descriptor != 0
      offset = index + 1 < places.count ? places[index + 1].offset : directory
      try require(
        (hasDescriptor ? [12, 16, 20, 24] : [0]).contains(offset - dataEnd),
        "there are other bytes at \(dataEnd)")
    }
  }

  private func checkName(_ name: String) throws {
    // Old archives can contain empty names, which are never written.
    guard !name.isEmpty else { return }
    try require(
      name.utf8.count <= 3 * Self.limits.nameLength && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        && !name.hasPrefix("/") && !name.hasPrefix("\\"), "the name \(name.debugDescription)")
    let parts = (name.utf8.last == 0x2F ? name.utf8.dropLast() : name.utf8[...])
      .split(omittingEmptySubsequences: false) { $0 == 0x2F || $0 == 0x5C }
    try require(parts.count <= Self.limits.depth, "\(parts.count) parts")
    for part in parts.map(Array.init) {
      try require(
        !part.isEmpty && part != [0x2E] && part != [0x2E, 0x2E],
        "the name \(name.debugDescription) leads out of the folder")
    }
  }

  private func checkSizes(of entries: [ZipEntry], in length: Int) throws {
    var end: Int64 = 0
    var total: Int64 = 0
    let order = { (entry: ZipEntry) in (entry.dataOffset, entry.compressedSize) }
    for entry in entries.sorted(by: { order($0) < order($1) }) {
      try require(
        entry.dataOffset >= end && entry.compressedSize <= Int64(length) - entry.dataOffset,
        "\(entry.name) is outside the archive, or overlaps another entry")
      try require(entry.size <= Self.limits.entrySize, "\(entry.name) has \(entry.size) bytes")
      end = entry.dataOffset + entry.compressedSize
      total += entry.size
    }
    try require(total <= Self.limits.totalSize, "\(total) bytes in all")
  }

  private func checkContents(of entries: [ZipEntry], in reader: ZipReader) throws {
    var contents: [(entry: ZipEntry, bytes: [UInt8])] = []
    for entry in entries {
      let whole = try opened { () throws(ZipError) in try reader.contents(of: entry, upTo: 1 << 16) }
      var pieces: [UInt8] = []
      do {
        try reader.read(entry) { pieces += $0 }
        try require(whole == pieces, "\(entry.name) differs when read as a whole and in pieces")
        try require(pieces.count == Int(entry.size), "\(entry.name) has \(pieces.count) bytes")
      } catch is ZipError {
        try require(whole == nil, "\(entry.name) can only be read as a whole")
        try require(pieces.count <= Int(entry.size), "\(entry.name) returns \(pieces.count) bytes")
      }
      if let whole, !entry.name.isEmpty { contents.append((entry, whole)) }
    }
    let copy = try scratchFile([])
    let writer = ZipWriter(copy)
    for (entry, bytes) in contents { try writer.add(entry.name, bytes: bytes) }
    try writer.finish()
    let again = try ZipReader(copy)
    try require(again.entries.map(\.name) == contents.map(\.entry.name), "the copy has other names")
    for (entry, content) in zip(again.entries, contents) {
      try require(entry.crc32 == content.entry.crc32, "\(entry.name) has another checksum in the copy")
      try require(
        try again.contents(of: entry, upTo: 1 << 16) == content.bytes,
        "\(entry.name) has other contents in the copy")
    }
  }

  /// The result of `open`; `nil` if it refuses the archive.
  private func opened<Result>(_ open: () throws(ZipError) -> Result) throws -> Result? {
    do throws(ZipError) {
      return try open()
    } catch {
      if case .system = error.reason { throw error }
      try require(
        error.description.utf8.allSatisfy { $0 >= 0x20 }, "the description contains a control character")
      return nil
    }
  }

  /// An unlinked file that contains `bytes`.
  private func scratchFile(_ bytes: [UInt8]) throws -> File {
    let path = "\(ScratchFolder.path)/\(UInt64.random(in: .min ... .max))"
    let file = try File(path, .create(mode: 0o600))
    unlink(path)
    try file.write(bytes, at: 0)
    return file
  }
}

/// The folder for files that are removed as soon as they are open.
private enum ScratchFolder {
  static let path: String = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"
}
