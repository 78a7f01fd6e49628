import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Archives that are rejected because of their overall structure.
@Suite struct ArchiveStructureTests: RefusalTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `bytes without an end record are not an archive`() throws {
    #expect(try refusal(of: [], in: folder)?.reason == .notAnArchive)
    #expect(try refusal(of: [UInt8](repeating: 0x50, count: 70_000), in: folder)?.reason == .notAnArchive)
  }

  @Test func `bytes after the archive are rejected, except for one byte of padding`() throws {
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.trailing = [10] }) == nil)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.trailing = [13, 10] }) == .trailingBytes)
    #expect(
      try reason(
        ArchiveBuilder(Entry("a")).with {
          $0.comment = [1, 2]; $0.commentLength = 0
        }) == .trailingBytes)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.commentLength = 1 }) == .truncated)
  }

  @Test func `an archive in the comment of another is rejected`() throws {
    let inner = ArchiveBuilder(Entry("inner")).bytes
    #expect(try reason(ArchiveBuilder(Entry("outer")).with { $0.comment = inner }) == .ambiguousEnd)
    let cut = inner.dropLast(4)
    #expect(try reason(ArchiveBuilder(Entry("outer")).with { $0.comment = Array(cut) }) == .ambiguousEnd)
  }

  @Test func `an archive can be an entry of another`() throws {
    #expect(try reason(Entry("inner.zip", ArchiveBuilder(Entry("inner")).bytes)) == nil)
  }

  @Test func `one part of a multi-part archive is rejected`() throws {
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.disk = 1 }) == .severalParts)
    #expect(try reason(ArchiveBuilder(Entry("a")).with { $0.countHere = 0 }) == .severalParts)
    #expect(try reason(Entry("a").with { $0.disk = 1 }) == .severalParts)
  }

  @Test(arguments: [UInt16(0), 1, 3, 0xFFFE])
  func `a wrong number of entries is rejected`(count: UInt16) throws {
    #expect(
      try reason(ArchiveBuilder(Entry("a"), Entry("b")).with { $0.count = count }) == .malformedDirectory)
  }

  @Test func `a wrong length or offset of the directory is rejected`() throws {
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

  @Test func `bytes that belong to no record are rejected`() throws {
    let gap = Entry("b").with { $0.gap = [0] }
    #expect(try reason(Entry("a"), gap) == .unaccountedBytes(at: 39))
    #expect(
      try reason(ArchiveBuilder(Entry("a")).with { $0.beforeDirectory = [0] }) == .unaccountedBytes(at: 39))
  }

  @Test func `records before the archive are rejected`() throws {
    let builder = ArchiveBuilder(Entry("a"))
    for record in [Array(builder.bytes.prefix(30)), Array("PK\u{5}\u{6}".utf8)] {
      #expect(try reason(builder.with { $0.leading = record }) == .unaccountedBytes(at: 0))
    }
    #expect(try reason(builder.with { $0.leading = builder.bytes }) == .malformedDirectory)
    #expect(try reason(ArchiveBuilder().with { $0.leading = [1] }) == .malformedDirectory)
  }

  @Test func `leading bytes are treated alike whether or not the offsets count them`() throws {
    func expect(_ reason: ZipError.Reason?, _ leading: [UInt8], _ limits: ZipLimits = .default) throws {
      let notCounted = ArchiveBuilder(Entry("a"), Entry("b")).with { $0.leading = leading }
      let counted = ArchiveBuilder(Entry("a").with { $0.gap = leading }, Entry("b"))
      for builder in [notCounted, counted] {
        #expect(try refusal(of: builder, limits: limits, in: folder)?.reason == reason)
      }
      guard reason == nil else { return }
      let reader = try open(counted.bytes, limits: limits, in: folder)
      #expect(reader.entries == (try open(notCounted.bytes, limits: limits, in: folder).entries))
    }
    let program = Array("#!/usr/bin/env python3\n".utf8)
    try expect(nil, program)
    for signature in ["PK\u{3}\u{4}", "PK\u{1}\u{2}", "PK\u{5}\u{6}", "PK\u{6}\u{6}"] {
      try expect(.unaccountedBytes(at: Int64(program.count)), program + Array(signature.utf8) + [0])
      // The last byte of the signature belongs to the archive.
      try expect(nil, program + Array(signature.utf8.prefix(3)))
    }
    var limits = ZipLimits()
    limits.leadingBytes = Int64(program.count)
    try expect(nil, program, limits)
    try expect(.limit(.leadingBytes), program + [0], limits)
  }

  @Test func `a second directory for readers that ignore leading bytes is rejected`() throws {
    let builder = ArchiveBuilder(Entry("a", [UInt8](repeating: 0, count: 200)))
    let directory = Array("PK\u{1}\u{2}".utf8)
    let offset = 31 + 200
    var leading = [UInt8](repeating: 32, count: 300)
    leading.replaceSubrange(offset..<(offset + 4), with: directory)
    #expect(try reason(builder.with { $0.leading = leading }) == .malformedDirectory)
  }

  @Test func `end records that disagree are rejected`() throws {
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
    #expect(try reason(plain.with { $0.afterDirectory = plain.zip64End }) == nil)
    #expect(try reason(plain.with { $0.count = 0xFFFF }) == .endRecordsDisagree)
  }

  @Test func `a huge number of entries costs nothing`() throws {
    let end = ArchiveBuilder.zip64End(entries: .max, size: 47, offset: 39, at: 86)
    let builder = ArchiveBuilder(Entry("a")).with {
      $0.afterDirectory = end
      $0.count = 0xFFFF
    }
    #expect(try reason(builder) == .malformedDirectory)
  }
}
