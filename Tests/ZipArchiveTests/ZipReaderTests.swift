import SystemIO
import TestSupport
import Testing
import ZipArchive

@Suite struct ZipReaderTests {
  typealias Entry = ArchiveBuilder.Entry
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func reason(_ builder: ArchiveBuilder, limits: ZipLimits = .default) throws -> ZipError.Reason? {
    try refusal(of: builder, limits: limits, in: folder)?.reason
  }

  private func reason(_ entries: Entry...) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = entries
    return try reason(builder)
  }

  // MARK: What is right

  @Test func `an entry says what the directory says and holds what was put in`() throws {
    let reader = try open(ArchiveBuilder(Entry("a/b.txt"), Entry("a/c", [])).bytes, in: folder)
    let entry = try #require(reader.entry(named: "a/b.txt"))
    #expect(reader.entries.map(\.name) == ["a/b.txt", "a/c"])
    #expect(entry.size == 8 && entry.compressedSize == 8 && entry.method == .stored && !entry.isEncrypted)
    #expect(entry.dataOffset == 37)
    #expect(entry.crc32 == ArchiveBuilder.crc32(Array("contents".utf8)))
    #expect(try reader.contents(of: entry, upTo: 8) == Array("contents".utf8))
    #expect(reader.entry(named: "b.txt") == nil)
    #expect(reader.entry(named: "A/b.txt") == nil)
  }

  @Test func `an entry is found by its exact name only, not by an equivalent one`() throws {
    let reader = try open(ArchiveBuilder(Entry("\u{E9}")).bytes, in: folder)
    #expect(reader.entry(named: "\u{E9}") != nil)
    #expect(reader.entry(named: "e\u{301}") == nil)
  }

  @Test func `a folder is an entry whose name ends in a slash, whatever stands before it`() throws {
    let reader = try open(
      ArchiveBuilder(Entry("a/", []), Entry("\u{600}/", []), Entry("b")).bytes, in: folder)
    #expect(reader.entries.map(\.isFolder) == [true, true, false])
  }

  @Test func `an archive without entries is read`() throws {
    let reader = try open(ArchiveBuilder().with { $0.comment = Array("nothing".utf8) }.bytes, in: folder)
    #expect(reader.entries.isEmpty)
  }

  @Test func `names not marked as UTF-8 are read as CP437`() throws {
    let raw: [UInt8] = [0x01, 0x81, 0x7F, 0xE1, 0xFE]
    let reader = try open(ArchiveBuilder(Entry(raw: raw).with { $0.flags = 0 }).bytes, in: folder)
    #expect(reader.entries.map(\.name) == ["☺ü⌂ß■"])
  }

  @Test func `a Unicode path field stands in for a name of another encoding`() throws {
    let raw: [UInt8] = [0xC4, 0xE3]
    let field = ArchiveBuilder.unicodePath("你", for: raw)
    let entry = Entry(raw: raw).with {
      $0.flags = 0
      $0.centralExtra = field
      $0.localExtra = field
    }
    #expect(try open(ArchiveBuilder(entry).bytes, in: folder).entries.map(\.name) == ["你"])
  }

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func `a data descriptor in each of its forms is taken`(signed: Bool, wide: Bool) throws {
    let entry = streamed("streamed", signed: signed, wide: wide)
    #expect(try reason(entry, Entry("next")) == nil)
    #expect(try reason(Entry("before"), entry) == nil)
  }

  @Test func `a program before the archive is passed over`() throws {
    let builder = ArchiveBuilder(Entry("a"), Entry("b")).with { $0.leading = Array("#!/bin/sh\n".utf8) }
    let reader = try open(builder.bytes, in: folder)
    #expect(try reader.contents(of: #require(reader.entry(named: "b")), upTo: 8) == Array("contents".utf8))
  }

  @Test func `a ZIP64 end record is followed`() throws {
    let plain = ArchiveBuilder(Entry("a"))
    let end = zip64End(of: plain)
    let builder = plain.with {
      $0.afterDirectory = end
      $0.count = 0xFFFF
      $0.directoryOffset = .max
      $0.directorySize = .max
    }
    #expect(try open(builder.bytes, in: folder).entries.map(\.name) == ["a"])
  }

  @Test func `sizes in a ZIP64 field are taken`() throws {
    let field = ArchiveBuilder.extra(1, ArchiveBuilder.le(UInt64(8)) + ArchiveBuilder.le(UInt64(8)))
    let entry = Entry("a").with {
      $0.size = .max
      $0.compressedSize = .max
      $0.centralExtra = field
      $0.localExtra = field
    }
    #expect(try reason(entry) == nil)
  }

  @Test(arguments: [Flagged.encrypted, .method, .patched, .version])
  func `what can't be read is listed and refused when read`(flagged: Flagged) throws {
    let entry = Entry("a").with {
      switch flagged {
      case .encrypted: $0.flags |= 1
      case .method: $0.method = 12
      case .patched: $0.flags |= 1 << 5
      case .version: $0.version = 64
      }
    }
    let reader = try open(ArchiveBuilder(entry, Entry("b")).bytes, in: folder)
    #expect(reader.entries.map(\.isEncrypted) == [flagged == .encrypted, false])
    let expected: ZipError.Reason =
      switch flagged {
      case .encrypted: .encrypted
      case .method: .unsupportedMethod(12)
      case .patched: .unsupportedMethod(0)
      case .version: .unsupportedVersion(64)
      }
    #expect(throws: ZipError(expected, entry: "a")) { try reader.contents(of: reader.entries[0], upTo: 100) }
    #expect(throws: ZipError(expected, entry: "a")) { try reader.read(reader.entries[0]) { _ in } }
    #expect(throws: ZipError(expected, entry: "a")) { try reader.verify() }
    #expect(try reader.contents(of: reader.entries[1], upTo: 100).count == 8)
  }

  enum Flagged { case encrypted, method, patched, version }

  // MARK: The archive

  @Test func `bytes without an end record are no archive`() throws {
    #expect(try refusal(of: [], in: folder)?.reason == .notAnArchive)
    #expect(try refusal(of: [UInt8](repeating: 0x50, count: 70_000), in: folder)?.reason == .notAnArchive)
  }

  @Test func `bytes after the archive are refused, but for one that pads it`() throws {
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.trailing = [10] }) == nil)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.trailing = [13, 10] }) == .trailingBytes)
    #expect(
      try reason(
        ArchiveBuilder(Entry("a")).with {
          $0.comment = [1, 2]; $0.commentLength = 0
        }) == .trailingBytes)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.commentLength = 1 }) == .truncated)
  }

  @Test func `an archive within the comment of another is refused`() throws {
    let inner = ArchiveBuilder(Entry("inner")).bytes
    #expect(try reason(ArchiveBuilder(Entry("outer")).with { $0.comment = inner }) == .ambiguousEnd)
    let cut = inner.dropLast(4)
    #expect(try reason(ArchiveBuilder(Entry("outer")).with { $0.comment = Array(cut) }) == .ambiguousEnd)
  }

  @Test func `an archive may be an entry of another`() throws {
    #expect(try reason(Entry("inner.zip", ArchiveBuilder(Entry("inner")).bytes)) == nil)
  }

  @Test func `a part of several is refused`() throws {
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.disk = 1 }) == .severalParts)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.countHere = 0 }) == .severalParts)
    #expect(try reason(Entry("a").with { $0.disk = 1 }) == .severalParts)
  }

  @Test(arguments: [UInt16(0), 1, 3, 0xFFFE])
  func `another count of entries than there are is refused`(count: UInt16) throws {
    #expect(
      try reason(ArchiveBuilder(Entry("a"), Entry("b")).with { $0.count = count }) == .malformedDirectory)
  }

  @Test func `a directory of another length or place is refused`() throws {
    let builder = ArchiveBuilder(Entry("a"))
    for change in [-1, 1, 1000] {
      #expect(
        try reason(builder.with { $0.directorySize = UInt32(47 + change) }) == .malformedDirectory,
        "\(change)")
      #expect(
        try reason(builder.with { $0.directoryOffset = UInt32(39 + change) }) == .malformedDirectory,
        "\(change)")
    }
    #expect(try reason(builder.with { $0.afterDirectory = [0] }) == .malformedDirectory)
    #expect(try reason(builder.with { $0.directorySize = .max }) == .endRecordsDisagree)
  }

  @Test func `bytes that belong to nothing are refused`() throws {
    let gap = Entry("b").with { $0.gap = [0] }
    #expect(try reason(Entry("a"), gap) == .unaccountedBytes(at: 39))
    #expect(
      try reason(ArchiveBuilder(Entry("a")).with { $0.beforeDirectory = [0] }) == .unaccountedBytes(at: 39))
  }

  @Test func `records before the archive are refused`() throws {
    let builder = ArchiveBuilder(Entry("a"))
    for record in [Array(builder.bytes.prefix(30)), Array("PK\u{5}\u{6}".utf8)] {
      #expect(try reason(builder.with { $0.leading = record }) == .unaccountedBytes(at: 0))
    }
    #expect(try reason(builder.with { $0.leading = builder.bytes }) == .malformedDirectory)
    #expect(try reason(ArchiveBuilder().with { $0.leading = [1] }) == .malformedDirectory)
  }

  @Test func `a second directory where a reader without regard for leading bytes looks is refused`() throws {
    let builder = ArchiveBuilder(Entry("a", [UInt8](repeating: 0, count: 200)))
    let directory = Array("PK\u{1}\u{2}".utf8)
    let offset = 31 + 200
    var leading = [UInt8](repeating: 32, count: 300)
    leading.replaceSubrange(offset..<(offset + 4), with: directory)
    #expect(try reason(builder.with { $0.leading = leading }) == .malformedDirectory)
  }

  @Test func `end records that disagree are refused`() throws {
    let plain = ArchiveBuilder(Entry("a"))
    let size = UInt64(47)
    let wrong = [
      ArchiveBuilder.zip64End(entries: 2, size: size, offset: 39, at: 86),
      ArchiveBuilder.zip64End(entries: 1, size: size - 1, offset: 39, at: 86),
      ArchiveBuilder.zip64End(entries: 1, size: size, offset: 38, at: 86),
      ArchiveBuilder.zip64End(entries: 1, size: size, offset: 39, at: 85),
      ArchiveBuilder.zip64End(entries: 1, size: size, offset: 39, at: .max),
      ArchiveBuilder.zip64End(entries: 1, size: .max, offset: 48, at: 86),
      ArchiveBuilder.zip64End(entries: 1, size: size, offset: 39, at: 86, recordSize: 45),
      ArchiveBuilder.zip64End(entries: 1, size: size, offset: 39, at: 86, recordSize: .max),
    ]
    for end in wrong {
      #expect(try reason(plain.with { $0.afterDirectory = end }) == .endRecordsDisagree)
    }
    let several = ArchiveBuilder.zip64End(entries: 1, size: size, offset: 39, at: 86, disks: 2)
    #expect(try reason(plain.with { $0.afterDirectory = several }) == .severalParts)
    #expect(try reason(plain.with { $0.afterDirectory = zip64End(of: plain) }) == nil)
    #expect(try reason(plain.with { $0.count = 0xFFFF }) == .endRecordsDisagree)
  }

  @Test func `a huge count costs nothing`() throws {
    let end = ArchiveBuilder.zip64End(entries: .max, size: 47, offset: 39, at: 86)
    let builder = ArchiveBuilder(Entry("a")).with {
      $0.afterDirectory = end
      $0.count = 0xFFFF
    }
    #expect(try reason(builder) == .malformedDirectory)
  }

  // MARK: Entries

  @Test func `entries that share bytes are refused`() throws {
    let first = Entry("a")
    #expect(
      try reason(
        first,
        first.with {
          $0.name = Array("b".utf8); $0.offset = 0
        }) == .overlap)
    let long = Entry("a").with {
      $0.size = 60
      $0.compressedSize = 60
    }
    #expect(try reason(long, Entry("b")) == .overlap)
    #expect(try reason(long) == .overlap)
    let endless = Entry("a").with {
      $0.method = 8
      $0.compressedSize = .max - 1
    }
    #expect(try reason(endless) == .overlap)
  }

  @Test func `an entry without a local header is refused`() throws {
    #expect(try reason(Entry("a").with { $0.local.signature = 0 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = 20 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = .max - 1 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = 1 }) == .unaccountedBytes(at: 0))
  }

  @Test func `a local header that differs is refused`() throws {
    func differs(_ change: (inout Entry) -> Void) throws -> ZipError? {
      try refusal(of: ArchiveBuilder(Entry("abc").with(change), Entry("next")), in: folder)
    }
    #expect(
      try differs { $0.local.name = Array("abd".utf8) } == ZipError(.localHeaderDiffers(.name), entry: "abc"))
    #expect(
      try differs { $0.local.name = Array("ab".utf8) } == ZipError(.localHeaderDiffers(.name), entry: "abc"))
    #expect(try differs { $0.local.name = [] } == ZipError(.localHeaderDiffers(.name), entry: "abc"))
    #expect(try differs { $0.local.flags = 0 } == ZipError(.localHeaderDiffers(.flags), entry: "abc"))
    #expect(try differs { $0.local.flags = 0x0801 } == ZipError(.localHeaderDiffers(.flags), entry: "abc"))
    #expect(try differs { $0.local.method = 8 } == ZipError(.localHeaderDiffers(.method), entry: "abc"))
    #expect(try differs { $0.local.time = 0 } == ZipError(.localHeaderDiffers(.time), entry: "abc"))
    #expect(try differs { $0.local.crc = 1 } == ZipError(.localHeaderDiffers(.checksum), entry: "abc"))
    #expect(try differs { $0.local.crc = 0 } == ZipError(.localHeaderDiffers(.checksum), entry: "abc"))
    #expect(try differs { $0.local.size = 7 } == ZipError(.localHeaderDiffers(.size), entry: "abc"))
    #expect(
      try differs { $0.local.compressedSize = 9 }
        == ZipError(.localHeaderDiffers(.compressedSize), entry: "abc"))
  }

  @Test func `a data descriptor that differs or is missing is refused`() throws {
    let good = streamed("a", signed: true, wide: false)
    let crc = ArchiveBuilder.crc32(Array("contents".utf8))
    #expect(try reason(good) == nil)
    let descriptors: [[UInt8]] = [
      [], [0], [UInt8](repeating: 0, count: 16), [UInt8](repeating: 0, count: 25),
      ArchiveBuilder.descriptor(crc: crc &+ 1, compressedSize: 8, size: 8),
      ArchiveBuilder.descriptor(crc: crc, compressedSize: 7, size: 8),
      ArchiveBuilder.descriptor(crc: crc, compressedSize: 8, size: 9, wide: true),
    ]
    for descriptor in descriptors {
      #expect(try reason(good.with { $0.descriptor = descriptor }, Entry("b")) == .descriptorDiffers)
    }
    #expect(try reason(good.with { $0.local.size = 9 }) == .localHeaderDiffers(.size))
    #expect(try reason(good.with { $0.local.crc = crc }) == nil)
  }

  @Test func `malformed extra fields are refused, padding isn't`() throws {
    let zip64 = ArchiveBuilder.extra(1, ArchiveBuilder.le(UInt64(8)) + ArchiveBuilder.le(UInt64(8)))
    let wrong = ArchiveBuilder.extra(1, ArchiveBuilder.le(UInt64(8)) + ArchiveBuilder.le(UInt64(9)))
    let bad: [[UInt8]] = [
      [1, 0, 1, 0], [0x55, 0x54, 0xFF, 0xFF, 0], zip64 + zip64, wrong, ArchiveBuilder.extra(1, [0]),
      ArchiveBuilder.extra(0x7075, [1, 2, 3, 4]),
    ]
    for field in bad {
      #expect(try reason(Entry("a").with { $0.centralExtra = field }) == .malformedExtraField, "\(field)")
      #expect(try reason(Entry("a").with { $0.localExtra = field }) == .malformedExtraField, "\(field)")
    }
    for field in [[], [0], [0xFF, 0xFF, 0xFF], zip64, ArchiveBuilder.extra(0x5455, [1, 2])] as [[UInt8]] {
      #expect(
        try reason(
          Entry("a").with {
            $0.centralExtra = field; $0.localExtra = field
          }) == nil, "\(field)")
    }
    #expect(
      try reason(
        Entry("a").with {
          $0.size = .max; $0.compressedSize = .max
        }) == .malformedExtraField)
  }

  @Test(arguments: [0o120777, 0o020600, 0o060600, 0o140600, 0o170600] as [UInt32])
  func `links, devices and sockets are refused`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == .specialFile)
  }

  @Test(arguments: [0o104755, 0o102755, 0o106755, 0o042755] as [UInt32])
  func `the rights of the owner or the group are refused`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == .setUserID)
  }

  @Test(arguments: [0, 0o100777, 0o100000, 0o010600, 0o000644] as [UInt32])
  func `ordinary modes are taken`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == nil)
  }

  @Test func `a folder that holds bytes is refused`() throws {
    #expect(try reason(Entry("a/")) == .folderWithContents)
  }

  @Test func `stored bytes of two lengths are refused`() throws {
    #expect(try reason(Entry("a").with { $0.size = 9 }) == .storedSizesDiffer)
  }

  @Test func `contents that aren't what was declared are refused`() throws {
    let deflated: [UInt8] = [0x4B, 0x4C, 0x4A, 0x06, 0x00]
    let good = Entry("a", deflated).with {
      $0.method = 8
      $0.size = 3
      $0.crc = ArchiveBuilder.crc32(Array("abc".utf8))
    }
    #expect(try reason(good) == nil)
    #expect(try reason(good.with { $0.crc = 1 }) == .checksumDiffers)
    #expect(try reason(Entry("a").with { $0.crc = 1 }) == .checksumDiffers)
    #expect(try reason(good.with { $0.size = 2 }) == .sizeDiffers)
    #expect(try reason(good.with { $0.size = 4 }) == .sizeDiffers)
    #expect(
      try reason(
        good.with {
          $0.data.append(0); $0.compressedSize = 6
        }) == .corruptData)
    #expect(
      try reason(
        good.with {
          $0.data.removeLast(); $0.compressedSize = 4
        }) == .corruptData)
    #expect(
      try reason(
        good.with {
          $0.data = []; $0.compressedSize = 0
        }) == .corruptData)
    #expect(try reason(good.with { $0.data[0] = 0xFF }) == .corruptData)
  }

  @Test func `contents are refused whole where they are larger than the caller takes`() throws {
    let reader = try open(ArchiveBuilder(Entry("a")).bytes, in: folder)
    #expect(throws: ZipError(.larger(than: 7), entry: "a")) {
      try reader.contents(of: reader.entries[0], upTo: 7)
    }
    #expect(try reader.contents(of: reader.entries[0], upTo: 8).count == 8)
  }

  @Test func `what the sink throws comes out as it is`() throws {
    struct Stop: Error {}
    let reader = try open(ArchiveBuilder(Entry("a")).bytes, in: folder)
    #expect(throws: Stop.self) { try reader.read(reader.entries[0]) { _ in throw Stop() } }
  }

  @Test func `an error names the entry and the reason in one sentence`() throws {
    let error = ZipError(.name(.dotPart), entry: "../\u{1B}[31mx")
    #expect(
      error.description
        == #"The entry "../\u{1B}[31mx" is refused because its name has a part of nothing but dots and spaces."#
    )
    #expect(ZipError(.severalParts).description == "The archive is one part of several.")
  }

  private func streamed(_ name: String, signed: Bool, wide: Bool) -> Entry {
    Entry(name).with {
      $0.flags |= 8
      $0.local.crc = 0
      $0.local.size = 0
      $0.local.compressedSize = 0
      $0.descriptor = ArchiveBuilder.descriptor(
        crc: $0.crc, compressedSize: 8, size: 8, signed: signed, wide: wide)
    }
  }

  /// The right ZIP64 end record for `builder`, which has one entry of a one-letter name.
  private func zip64End(of builder: ArchiveBuilder) -> [UInt8] {
    ArchiveBuilder.zip64End(entries: 1, size: 47, offset: 39, at: 86)
  }
}
