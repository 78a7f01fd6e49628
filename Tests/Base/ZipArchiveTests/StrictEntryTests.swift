import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Entries that the strict profile rejects and the lenient one accepts, because readers can interpret them differently.
@Suite struct StrictEntryTests: RefusalTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// `abc`, deflated.
  private static let deflated = Entry("a", [0x4B, 0x4C, 0x4A, 0x06, 0x00]).with {
    $0.method = 8
    $0.size = 3
    $0.crc = ArchiveBuilder.crc32(Array("abc".utf8))
  }

  private static func entry(_ name: String, fields: [UInt8], local: [UInt8]? = nil) -> Entry {
    Entry(name).with {
      $0.centralExtra = fields
      $0.localExtra = local ?? fields
    }
  }

  @Test func `ordinary entries are accepted`() throws {
    let streamed = Self.deflated.with {
      $0.name = Array("streamed".utf8)
      $0.flags |= 8
      ($0.local.crc, $0.local.size, $0.local.compressedSize) = (0, 0, 0)
      $0.descriptor = ArchiveBuilder.descriptor(crc: $0.crc, compressedSize: 5, size: 3)
    }
    let folder = Entry("folder/", []).with { $0.attributes = 0o040755 << 16 | 0x10 }
    let ascii = Entry("folder/plain.txt").with { ($0.flags, $0.attributes) = (0, 0) }
    #expect(
      try strictReason(folder, ascii, Entry("folder/日本語 😀"), Self.deflated, streamed, Entry("empty", []))
        == nil)
    #expect(try strictReason(ArchiveBuilder().with { $0.comment = [1, 2, 3] }) == nil)
  }

  @Test func `a Unicode path field must contain the name in the header`() throws {
    let plain = Array("recordings/a".utf8)
    let same = ArchiveBuilder.unicodePath("recordings/a", for: plain)
    let other = ArchiveBuilder.unicodePath("recordings/ä", for: plain)
    for flags: UInt16 in [0, 0x0800] {
      #expect(
        try strictReason(Self.entry("recordings/a", fields: same).with { $0.flags = flags }) == nil)
    }
    let hidden = Self.entry("recordings/a", fields: other).with { $0.flags = 0 }
    #expect(try reason(hidden) == nil)
    #expect(try strictReason(hidden) == .name(.otherUnicodePath))
    let stale = ArchiveBuilder.unicodePath("recordings/a", for: Array("b".utf8))
    #expect(try strictReason(Self.entry("recordings/a", fields: stale)) == nil)
    let onlyLocal = Self.entry("recordings/a", fields: [], local: other).with { $0.flags = 0 }
    #expect(try strictReason(onlyLocal) == .name(.otherUnicodePath))
  }

  @Test func `a name that is not ASCII must be marked as UTF-8`() throws {
    #expect(try strictReason(Entry("é")) == nil)
    for raw: [UInt8] in [Array("é".utf8), [0x81]] {
      let unmarked = Entry(raw: raw).with { $0.flags = 0 }
      #expect(try reason(unmarked) == nil)
      #expect(try strictReason(unmarked) == .name(.unmarkedUnicode))
    }
    let field = ArchiveBuilder.unicodePath("ü", for: [0x81])
    let replaced = Entry(raw: [0x81]).with { ($0.flags, $0.centralExtra, $0.localExtra) = (0, field, field) }
    #expect(try reason(replaced) == nil)
    #expect(try strictReason(replaced) == .name(.unmarkedUnicode))
  }

  @Test func `entries with the same bytes as names are rejected, whatever their encoding`() throws {
    let marked = Entry("é", [])
    let unmarked = marked.with { ($0.flags, $0.madeBy) = (0, 20) }
    #expect(try reason(marked, unmarked) == nil)
    #expect(try strictReason(marked, unmarked) == .name(.unmarkedUnicode))
    #expect(try strictReason(marked, marked) == .duplicateName)
  }

  @Test func `a folder has no data, except for the two bytes that Java deflates it to`() throws {
    let crc = ArchiveBuilder.crc32([])
    func folder(_ data: [UInt8], method: UInt16 = 8) -> Entry {
      Entry("a/", data).with { ($0.method, $0.size, $0.crc, $0.attributes) = (method, 0, crc, 0x10) }
    }
    let java = folder([3, 0]).with {
      $0.flags |= 8
      $0.descriptor = ArchiveBuilder.descriptor(crc: crc, compressedSize: 2, size: 0)
    }
    #expect(try strictReason(java) == nil)
    #expect(try strictReason(folder([], method: 0)) == nil)
    // Two empty stored blocks, and then the end of the stream.
    let longer = folder([0, 0, 0, 0xFF, 0xFF, 3, 0])
    #expect(try reason(longer) == nil)
    #expect(try strictReason(longer) == .folderWithContents)
    #expect(try strictReason(folder([3, 0, 0])) == .folderWithContents)
    #expect(try strictReason(folder([7, 7])) == .corruptData)
  }

  @Test func `an unreadable entry is rejected at once and cannot hide others`() throws {
    let hidden = ArchiveBuilder(Entry("hidden")).bytes
    func expect(_ expected: ZipError.Reason, _ change: (inout Entry) -> Void) throws {
      let entry = Entry("a").with(change).with { $0.descriptor = hidden }
      let reader = try open(ArchiveBuilder(entry, Entry("b")).bytes, in: folder)
      #expect(!reader.entries[0].isReadable)
      #expect(throws: ZipError(expected, entry: "a")) {
        try open(ArchiveBuilder(entry, Entry("b")).bytes, profile: .strict, in: folder)
      }
    }
    try expect(.encrypted) { $0.flags |= 1 }
    try expect(.encrypted) { $0.flags |= 1 << 6 }
    try expect(.encrypted) { $0.flags |= 1 << 13 }
    try expect(.unsupportedMethod(0)) { $0.flags |= 1 << 5 }
    for method: UInt16 in [1, 9, 12, 14, 93, 99] {
      try expect(.unsupportedMethod(method)) { $0.method = method }
    }
    try expect(.unsupportedVersion(64)) { $0.version = 64 }
    #expect(try strictReason(Entry("a").with { $0.version = 63 }) == nil)
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `stored data with a data descriptor is rejected`(signed: Bool, wide: Bool) throws {
    let stored = Entry.streamed("a", signed: signed, wide: wide)
    #expect(try reason(stored) == nil)
    #expect(try strictReason(stored) == .storedWithDescriptor)
  }

  @Test func `attributes of another kind than the name are rejected`() throws {
    func reason(_ name: String, _ attributes: UInt32) throws -> ZipError.Reason? {
      try strictReason(Entry(name, []).with { $0.attributes = attributes })
    }
    let (file, directory, pipe): (UInt32, UInt32, UInt32) = (0o100644 << 16, 0o040755 << 16, 0o010644 << 16)
    for attributes in [file, 0, 0o644 << 16, 0x20, file | 0x8020] {
      #expect(try reason("a", attributes) == nil, "\(attributes)")
    }
    for attributes in [directory, 0, 0o755 << 16, 0x10, directory | 0x8010] {
      #expect(try reason("a/", attributes) == nil, "\(attributes)")
    }
    for attributes in [directory, 0x10, file | 0x10, directory | 0x10] {
      #expect(try reason("a", attributes) == .kindDiffers, "\(attributes)")
    }
    for attributes in [file, file | 0x10] { #expect(try reason("a/", attributes) == .kindDiffers) }
    for attributes in [pipe, 0o120777 << 16, 0x400, 0x08, 0x40, file | 0x400, directory | 0x400] {
      for name in ["a", "a/"] {
        #expect(try reason(name, attributes) == .specialFile, "\(name) \(attributes)")
      }
    }
    #expect(try reason("a/", 0o042755 << 16) == .setUserID)
  }

  @Test func `harmless extra fields can differ between the headers`() throws {
    let harmless: [UInt16] = [0x000A, 0x5455, 0x5855, 0x6375, 0x7855, 0x7875, 0xCAFE]
    for id in harmless {
      let (one, other) = (ArchiveBuilder.extra(id, [1, 2]), ArchiveBuilder.extra(id, [1, 2, 3, 4, 5]))
      #expect(try strictReason(Self.entry("a", fields: one, local: other)) == nil, "\(id)")
      #expect(try strictReason(Self.entry("a", fields: one, local: [])) == nil, "\(id)")
      #expect(try strictReason(Self.entry("a", fields: [], local: other)) == nil, "\(id)")
    }
    let all = harmless.flatMap { ArchiveBuilder.extra($0, [0]) }
    #expect(try strictReason(Self.entry("a", fields: all)) == nil)
  }

  @Test(arguments: [0x000D, 0x756E, 0x9901, 0x6C78, 0xA220, 0x4453, 0xFFFF] as [UInt16])
  func `an unknown extra field is rejected in either header`(id: UInt16) throws {
    let field = ArchiveBuilder.extra(id, [0, 0])
    #expect(try reason(Self.entry("a", fields: field)) == nil)
    #expect(try strictReason(Self.entry("a", fields: field, local: [])) == .unknownExtraField(id))
    #expect(try strictReason(Self.entry("a", fields: [], local: field)) == .unknownExtraField(id))
  }

  @Test func `a repeated extra field and trailing bytes are rejected`() throws {
    let time = ArchiveBuilder.extra(0x5455, [0])
    for fields in [time + time, time + [0], [0, 0, 0]] {
      #expect(try reason(Self.entry("a", fields: fields)) == nil)
      #expect(try strictReason(Self.entry("a", fields: fields, local: [])) == .malformedExtraField)
      #expect(try strictReason(Self.entry("a", fields: [], local: fields)) == .malformedExtraField)
    }
  }

  @Test func `a ZIP64 field must have the same meaning for all readers`() throws {
    let numbers = ArchiveBuilder.le(UInt64(8)) + ArchiveBuilder.le(UInt64(8))
    let offset = ArchiveBuilder.le(UInt64(39))
    func reason(_ field: [UInt8], _ change: (inout Entry) -> Void) throws -> (
      ZipError.Reason?, ZipError.Reason?
    ) {
      let entry = Entry("b").with {
        $0.centralExtra = ArchiveBuilder.extra(1, field)
        change(&$0)
      }
      return (try self.reason(Entry("a"), entry), try strictReason(Entry("a"), entry))
    }
    #expect(try reason(offset) { $0.offset = .max } == (nil, nil))
    #expect(try reason(numbers + offset) { _ in } == (nil, nil))
    #expect(try reason(numbers + offset) { ($0.size, $0.local.size) = (.max, 8) } == (nil, nil))
    #expect(
      try reason(numbers + offset) {
        ($0.size, $0.local.size, $0.compressedSize, $0.local.compressedSize) = (.max, 8, .max, 8)
      } == (nil, nil))
    // A reader that takes the first number as the offset finds another entry.
    #expect(try reason(numbers + offset) { $0.offset = .max } == (nil, .malformedExtraField))
    #expect(
      try reason(numbers) { ($0.compressedSize, $0.local.compressedSize) = (.max, 8) }
        == (nil, .malformedExtraField))
    let local = Entry("a").with {
      $0.localExtra = ArchiveBuilder.extra(1, numbers)
      $0.local.compressedSize = .max
    }
    #expect(try self.reason(local) == nil)
    #expect(try strictReason(local) == .malformedExtraField)
  }

  @Test func `bytes before the archive are rejected whether or not its offsets count them`() throws {
    let program = Array("#!/bin/sh\n".utf8)
    #expect(
      try strictReason(ArchiveBuilder(Entry("a")).with { $0.leading = program }) == .unaccountedBytes(at: 0))
    #expect(try strictReason(Entry("a").with { $0.gap = program }) == .unaccountedBytes(at: 0))
  }

  @Test func `a directory that ends like a ZIP64 locator is rejected`() throws {
    let locator = Array(ArchiveBuilder.zip64End(entries: 1, size: 1, offset: 1, at: 1).suffix(20))
    let entry = Entry("a").with { $0.comment = locator }
    #expect(try reason(entry) == nil)
    #expect(try strictReason(entry) == .endRecordsDisagree)
  }
}
