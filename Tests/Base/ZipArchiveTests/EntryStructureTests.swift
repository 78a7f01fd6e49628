import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Archives that are rejected because of one of their entries.
@Suite struct EntryStructureTests: RefusalTests {
  let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  @Test func `entries that share bytes are rejected`() throws {
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

  @Test func `an entry without a local header is rejected`() throws {
    #expect(try reason(Entry("a").with { $0.local.signature = 0 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = 20 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = .max - 1 }) == .noLocalHeader)
    #expect(try reason(Entry("a").with { $0.offset = 1 }) == .unaccountedBytes(at: 0))
  }

  @Test func `a local header that differs from the directory is rejected`() throws {
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

  @Test func `a data descriptor that is missing or differs is rejected`() throws {
    let good = Entry.streamed("a", signed: true, wide: false)
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

  @Test func `malformed extra fields are rejected, but not padding`() throws {
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
  func `links, devices and sockets are rejected`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == .specialFile)
  }

  @Test(arguments: [0o104755, 0o102755, 0o106755, 0o042755] as [UInt32])
  func `set-user-ID and set-group-ID bits are rejected`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == .setUserID)
  }

  @Test func `the set-group-ID bit is accepted on a folder`() throws {
    func reason(_ name: String, _ mode: UInt32) throws -> ZipError.Reason? {
      try self.reason(Entry(name, []).with { $0.attributes = mode << 16 | 0x10 })
    }
    for mode: UInt32 in [0o042755, 0o043777] { #expect(try reason("a/", mode) == nil) }
    for mode: UInt32 in [0o044755, 0o046755, 0o102755, 0o002755] {
      #expect(try reason("a/", mode) == .setUserID)
    }
    #expect(try reason("a", 0o042755) == .setUserID)
  }

  @Test func `a ZIP64 field can contain the disk number if it matches the header`() throws {
    let numbers = [8, 8, 0].flatMap { ArchiveBuilder.le(UInt64($0)) }
    func reason(_ disk: UInt32, in field: [UInt8], _ change: (inout Entry) -> Void) throws -> ZipError.Reason?
    {
      try self.reason(
        Entry("a").with {
          $0.centralExtra = ArchiveBuilder.extra(1, field + ArchiveBuilder.le(disk))
          change(&$0)
        })
    }
    #expect(try reason(0, in: numbers) { _ in } == nil)
    #expect(try reason(0, in: numbers) { ($0.size, $0.local.size) = (.max, 8) } == nil)
    #expect(try reason(0, in: numbers) { $0.offset = .max } == nil)
    #expect(try reason(0, in: numbers) { $0.disk = 0xFFFF } == nil)
    #expect(try reason(1, in: numbers) { _ in } == .malformedExtraField)
    #expect(try reason(0, in: numbers) { $0.disk = 1 } == .malformedExtraField)
    #expect(try reason(1, in: numbers) { $0.disk = 1 } == .severalParts)
    #expect(try reason(0, in: Array(numbers.dropLast())) { _ in } == .malformedExtraField)
    #expect(try reason(0, in: Array(numbers.prefix(16))) { _ in } == .malformedExtraField)
  }

  @Test(arguments: [0, 0o100777, 0o100000, 0o010600, 0o000644] as [UInt32])
  func `ordinary modes are accepted`(mode: UInt32) throws {
    #expect(try reason(Entry("a").with { $0.attributes = mode << 16 }) == nil)
  }

  @Test func `a folder with contents is rejected`() throws {
    #expect(try reason(Entry("a/")) == .folderWithContents)
  }

  @Test func `stored data with two different lengths is rejected`() throws {
    #expect(try reason(Entry("a").with { $0.size = 9 }) == .storedSizesDiffer)
  }

  @Test func `contents that differ from the declared size or checksum are rejected`() throws {
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
}
