import Foundation
import SystemIO
import TestSupport
import Testing
import ZipArchive

@Suite struct ZipDirectoryTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func file(_ bytes: [UInt8]) throws -> File {
    try File(folder.write(Data(bytes), to: UUID().uuidString).path)
  }

  private func written(_ entries: [(name: String, bytes: [UInt8])]) throws -> File {
    let file = try File(folder.file(UUID().uuidString).path, .create(mode: 0o600))
    let writer = ZipWriter(file)
    for (name, bytes) in entries { try writer.add(name, bytes: bytes) }
    try writer.finish()
    return file
  }

  @Test func `every entry is found with the same properties as in a reader`() throws {
    let names =
      ["a", "b/ü☃.json", "folder/", "recordings/news%2ffeed", "名前", "z"] + (0..<3000).map { "n/\($0)" }
    let file = try written(names.map { ($0, $0.hasSuffix("/") ? [] : Array("contents of \($0)".utf8)) })
    let reader = try ZipReader(file)
    let directory = try ZipDirectory(file)
    #expect(directory.count == names.count)
    #expect(try directory.entries(from: 0, limit: .max) == reader.entries)
    for name in names where !name.hasPrefix("n/") || name.hasSuffix("77") {
      #expect(try directory.entry(named: name) == reader.entry(named: name), "\(name)")
    }
    for name in ["", "A", "a/", "b/u☃.json", "n", "n/", "n/3000", "名"] {
      #expect(try directory.entry(named: name) == nil, "\(name)")
    }
  }

  @Test func `the listing has the same properties as a reader`() throws {
    let file = try written([("a", [1]), ("folder/", []), ("b/ü☃", Array("abc".utf8)), ("empty", [])])
    let entries = try ZipReader(file).entries
    var listing = try ZipDirectory(file).listing
    for entry in entries {
      let line = try #require(try listing.next())
      #expect(line.name == entry.name)
      #expect(line.size == entry.size)
      #expect(line.crc32 == entry.crc32)
      #expect(line.isFolder == entry.isFolder)
    }
    #expect(try listing.next() == nil)
    #expect(try listing.next() == nil)
  }

  @Test func `a listing of some folders skips all other entries`() throws {
    let names = (0..<3000).map { $0 % 7 == 0 ? "kept/\($0)" : "passed/\($0)" }
    let others = ["kept/ü", "keptü", "ü/kept/", "k/ept", "also/1", "als"]
    let directory = try ZipDirectory(try written((names + others).map { ($0, []) }))
    var listing = directory.listing(under: ["kept/", "also/"])
    var found: [String] = []
    while let line = try listing.next() { found.append(line.name) }
    #expect(found == (names + others).filter { $0.hasPrefix("kept/") || $0.hasPrefix("also/") })
  }

  @Test func `a name in an extra field is listed in the folder of that name`() throws {
    let name = "kept/ü"
    let raw = Array("other/u".utf8)
    let field = ArchiveBuilder.Entry(raw: raw).with {
      $0.flags = 0
      $0.centralExtra = ArchiveBuilder.unicodePath(name, for: raw)
    }
    let file = try file(ArchiveBuilder(.init("kept/a"), field, .init("b")).bytes)
    var listing = try ZipDirectory(file).listing(under: ["kept/"])
    #expect(try listing.next()?.name == "kept/a")
    #expect(try listing.next()?.name == name)
    #expect(try listing.next() == nil)
  }

  @Test func `several entries are found in one pass`() throws {
    let file = try written((0..<100).map { ("n/\($0)", [UInt8($0)]) } + [("ü", [])])
    let directory = try ZipDirectory(file)
    let found = try directory.entries(named: ["n/7", "n/99", "ü", "none", ""])
    #expect(Set(found.keys) == ["n/7", "n/99", "ü"])
    #expect(found["n/7"] == (try directory.entry(named: "n/7")))
    #expect(try directory.entries(named: []).isEmpty)
  }

  @Test func `a name finds its other Unicode form, but first exactly itself`() throws {
    let (composed, decomposed) = ("größe", "gro\u{308}ße")
    for (stored, asked) in [(composed, decomposed), (decomposed, composed)] {
      let entry = try ZipDirectory(written([("a", []), (stored, [1])])).entry(named: asked)
      #expect(entry.map { $0.name.utf8.elementsEqual(stored.utf8) } == true)
    }
    for order in [[composed, decomposed], [decomposed, composed]] {
      let builder = ArchiveBuilder(ArchiveBuilder.Entry(order[0]), ArchiveBuilder.Entry(order[1]))
      let directory = try ZipDirectory(file(builder.bytes))
      for name in order {
        let found = try directory.entry(named: name)
        #expect(found.map { $0.name.utf8.elementsEqual(name.utf8) } == true)
      }
    }
    #expect(try ZipDirectory(written([("grosse", [])])).entry(named: composed) == nil)
  }

  @Test func `entries are returned page by page`() throws {
    let file = try written((0..<10).map { ("\($0)", [UInt8]()) })
    let directory = try ZipDirectory(file)
    var names: [String] = []
    for start in stride(from: 0, to: 10, by: 3) {
      names += try directory.entries(from: start, limit: 3).map(\.name)
    }
    #expect(names == (0..<10).map(String.init))
    #expect(try directory.entries(from: 10, limit: 3).isEmpty)
    #expect(try directory.entries(from: .max, limit: 3).isEmpty)
    #expect(try directory.entries(from: 9, limit: 0).isEmpty)
  }

  @Test func `a name is found in every encoding`() throws {
    let plain = ArchiveBuilder.Entry("plain")
    let cp437 = ArchiveBuilder.Entry(raw: [0x84]).with {  // ä
      $0.flags = 0
      $0.madeBy = 20
    }
    let unmarked = ArchiveBuilder.Entry("größe").with { $0.flags = 0 }
    let file = try file(ArchiveBuilder(plain, cp437, unmarked).bytes)
    for name in ["plain", "ä", "größe"] {
      let entry = try #require(try ZipDirectory(file).entry(named: name), "\(name)")
      #expect(try ZipReader(file).entry(named: name) == entry)
    }
  }

  @Test func `damage after the check is detected when reading`() throws {
    let bytes = ArchiveBuilder(.init("a"), .init("b")).bytes
    // The local header of the first entry: its signature and its name.
    for place in [0, 30] {
      var broken = bytes
      broken[place] ^= 0x01
      let directory = try ZipDirectory(try file(broken))
      #expect(throws: ZipError.self) { try directory.entry(named: "a") }
      #expect(try directory.entry(named: "b") != nil)
    }
    #expect(throws: ZipError.self) { try ZipDirectory(try file(Array(bytes.dropLast(3)))) }
    let outside = ArchiveBuilder(.init("a").with { $0.compressedSize = 100 }).bytes
    #expect(throws: ZipError.self) { try ZipDirectory(try file(outside)).entry(named: "a") }
  }

  @Test func `changing any byte causes at most an error`() throws {
    let bytes = ArchiveBuilder(.init("a"), .init("ü/b")).bytes
    for index in bytes.indices {
      for flip in [UInt8(0x01), 0xFF] {
        var broken = bytes
        broken[index] ^= flip
        do {
          let directory = try ZipDirectory(try file(broken))
          for entry in try directory.entries(from: 0, limit: 10) {
            let contents = try ZipContents(directory.file, entry)
            while try contents.next() != nil {}
          }
          _ = try directory.entry(named: "ü/b")
        } catch is ZipError {}
      }
    }
  }
}

@Suite struct ZipContentsTests {
  private static let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 / 7 &* 31) }

  private func archive(_ level: Int32) throws -> (file: File, entry: ZipEntry) {
    let folder = try TemporaryFolder()
    let file = try File(folder.file("a.zip").path, .create(mode: 0o600))
    let writer = ZipWriter(file, level: level)
    try writer.add("a", bytes: Self.bytes)
    try writer.finish()
    return (file, try #require(try ZipDirectory(file).entry(named: "a")))
  }

  private func read(_ contents: ZipContents) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let piece = try contents.next() {
      #expect(!piece.isEmpty)
      bytes += piece
    }
    #expect(try contents.next() == nil)
    return bytes
  }

  @Test(arguments: [0, 6] as [Int32]) func `the whole contents or a range are returned`(level: Int32) throws {
    let (file, entry) = try archive(level)
    #expect(try read(ZipContents(file, entry)) == Self.bytes)
    for range in [0..<1, 0..<300_000, 131_071..<131_073, 299_999..<300_000, 5..<5, 100_000..<290_000] {
      let wide = Int64(range.lowerBound)..<Int64(range.upperBound)
      #expect(try read(ZipContents(file, entry, range: wide)) == Array(Self.bytes[range]), "\(range)")
    }
  }

  @Test(arguments: [0, 6] as [Int32]) func `the end is reached only if the checksum is correct`(level: Int32)
    throws
  {
    let (file, entry) = try archive(level)
    var byte = try file.read(upTo: 1, at: entry.dataOffset + entry.compressedSize / 2)
    byte[0] ^= 0x10
    try file.write(byte, at: entry.dataOffset + entry.compressedSize / 2)
    for range in [nil, 299_999..<300_000] as [Range<Int64>?] {
      #expect(throws: ZipError.self) { try read(ZipContents(file, entry, range: range)) }
    }
  }
}
