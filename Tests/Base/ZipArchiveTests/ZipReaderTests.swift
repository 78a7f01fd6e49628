import SystemIO
import TestSupport
import Testing
import ZipArchive

@Suite struct ZipReaderTests {
  typealias Entry = ArchiveBuilder.Entry
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func reason(_ entries: Entry...) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = entries
    return try refusal(of: builder, in: folder)?.reason
  }

  @Test func `an entry has the properties in the directory and the original contents`() throws {
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

  @Test func `an entry is found by its exact name, not by an equivalent one`() throws {
    let reader = try open(ArchiveBuilder(Entry("\u{E9}")).bytes, in: folder)
    #expect(reader.entry(named: "\u{E9}") != nil)
    #expect(reader.entry(named: "e\u{301}") == nil)
  }

  @Test func `an entry is a folder if its name ends in a slash`() throws {
    let reader = try open(
      ArchiveBuilder(Entry("a/", []), Entry("\u{600}/", []), Entry("b")).bytes, in: folder)
    #expect(reader.entries.map(\.isFolder) == [true, true, false])
  }

  @Test func `an archive without entries is read`() throws {
    let reader = try open(ArchiveBuilder().with { $0.comment = Array("nothing".utf8) }.bytes, in: folder)
    #expect(reader.entries.isEmpty)
  }

  @Test func `names that are not marked as UTF-8 are read as CP437`() throws {
    let raw: [UInt8] = [0x01, 0x81, 0x7F, 0xE1, 0xFE]
    let reader = try open(ArchiveBuilder(Entry(raw: raw).with { $0.flags = 0 }).bytes, in: folder)
    #expect(reader.entries.map(\.name) == ["☺ü⌂ß■"])
  }

  @Test func `unmarked names from Unix that are valid UTF-8 are read as UTF-8`() throws {
    func name(madeBy system: UInt16, _ raw: [UInt8]) throws -> String? {
      let entry = Entry(raw: raw).with {
        $0.flags = 0
        $0.madeBy = system << 8 | 20
      }
      return try open(ArchiveBuilder(entry).bytes, in: folder).entries.first?.name
    }
    #expect(try name(madeBy: 3, Array("ß".utf8)) == "ß")
    #expect(try name(madeBy: 19, Array("ß".utf8)) == "ß")
    #expect(try name(madeBy: 0, Array("ß".utf8)) == "├ƒ")
    #expect(try name(madeBy: 3, Array("ß".utf8) + [0xE1]) == "├ƒß")
    #expect(try name(madeBy: 3, Array("ß\n".utf8)) == "├ƒ◙")
  }

  @Test func `a Unicode path field replaces a name in another encoding`() throws {
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
  func `a data descriptor is accepted in all forms`(signed: Bool, wide: Bool) throws {
    let entry = Entry.streamed("streamed", signed: signed, wide: wide)
    #expect(try reason(entry, Entry("next")) == nil)
    #expect(try reason(Entry("before"), entry) == nil)
  }

  @Test func `a program before the archive is skipped`() throws {
    let builder = ArchiveBuilder(Entry("a"), Entry("b")).with { $0.leading = Array("#!/bin/sh\n".utf8) }
    let reader = try open(builder.bytes, in: folder)
    #expect(try reader.contents(of: #require(reader.entry(named: "b")), upTo: 8) == Array("contents".utf8))
  }

  @Test func `a ZIP64 end record is used`() throws {
    let plain = ArchiveBuilder(Entry("a"))
    let end = plain.zip64End
    let builder = plain.with {
      $0.afterDirectory = end
      $0.count = 0xFFFF
      $0.directoryOffset = .max
      $0.directorySize = .max
    }
    #expect(try open(builder.bytes, in: folder).entries.map(\.name) == ["a"])
  }

  @Test func `sizes in a ZIP64 field are used`() throws {
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
  func `an unreadable entry is listed, and reading it is an error`(flagged: Flagged) throws {
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

  @Test func `entries can be in another order than in the directory`() throws {
    let bytes = ArchiveBuilder(Entry("a"), Entry("b"), Entry("c")).bytes
    // Three local headers with their data, then three central headers.
    let (local, central) = (3 * 39, 47)
    func moved(_ order: [Int]) -> [UInt8] {
      var moved = Array(bytes[..<local])
      for place in order {
        let start = local + place * central
        moved += bytes[start..<(start + central)]
      }
      moved += bytes[(local + 3 * central)...]
      return moved
    }
    for order in [[1, 0, 2], [2, 1, 0], [0, 2, 1], [2, 0, 1]] {
      let reader = try open(moved(order), in: folder)
      #expect(reader.entries.map(\.name) == order.map { ["a", "b", "c"][$0] })
      try reader.verify()
    }
    #expect(try refusal(of: moved([2, 0, 0]), in: folder)?.reason == .duplicateName)
    var gap = moved([2, 0, 1])
    gap[39] ^= 1
    #expect(try refusal(of: gap, in: folder) == ZipError(.noLocalHeader, entry: "b"))
  }

  @Test func `contents larger than the caller's limit are rejected`() throws {
    let reader = try open(ArchiveBuilder(Entry("a")).bytes, in: folder)
    #expect(throws: ZipError(.larger(than: 7), entry: "a")) {
      try reader.contents(of: reader.entries[0], upTo: 7)
    }
    #expect(try reader.contents(of: reader.entries[0], upTo: 8).count == 8)
  }

  @Test func `an error of the sink is rethrown unchanged`() throws {
    struct Stop: Error {}
    let reader = try open(ArchiveBuilder(Entry("a")).bytes, in: folder)
    #expect(throws: Stop.self) { try reader.read(reader.entries[0]) { _ in throw Stop() } }
  }

  @Test func `an error is described in one sentence with entry and reason`() throws {
    let error = ZipError(.name(.dotPart), entry: "../\u{1B}[31mx")
    #expect(
      error.description
        == #"The entry "../\u{1B}[31mx" is refused because its name has a component of only dots and spaces."#
    )
    #expect(ZipError(.severalParts).description == "The archive is one part of a multi-part archive.")
  }
}
