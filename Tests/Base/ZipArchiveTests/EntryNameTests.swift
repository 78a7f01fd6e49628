import SystemIO
import TestSupport
import Testing
import ZipArchive

/// The names that the reader and the writer accept, which have the same rules.
@Suite struct EntryNameTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The error of the reader and of the writer for an archive with these entries. Both must be the same.
  private func reason(_ names: [String], contents: [UInt8] = [1]) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = names.map { ArchiveBuilder.Entry($0, $0.utf8.last == 0x2F ? [] : contents) }
    let read = try refusal(of: builder, in: folder)
    let writer = try ZipWriter(File(folder.path + "/\(UInt64.random(in: 0 ... .max))", .create(mode: 0o600)))
    var written: ZipError?
    for name in names where written == nil {
      do throws(ZipError) {
        try writer.add(name, bytes: name.utf8.last == 0x2F ? [] : contents)
      } catch {
        written = error
      }
    }
    #expect(written == read)
    return read?.reason
  }

  @Test(
    arguments: [
      ("/a", .absolute), ("/", .absolute), ("\\a", .absolute), ("//a", .absolute),
      ("\\\\server\\a", .absolute),
      ("C:a", .driveLetter), ("c:/a", .driveLetter), ("Z:\\a", .driveLetter), ("C:", .driveLetter),
      ("..", .dotPart), ("../a", .dotPart), ("a/..", .dotPart), ("a/../b", .dotPart), ("a/../", .dotPart),
      ("..\\a", .dotPart), ("a\\..\\b", .dotPart), ("a/..\\b", .dotPart), (".", .dotPart), ("./a", .dotPart),
      ("a/./b", .dotPart), ("...", .dotPart), ("a/.. /b", .dotPart), ("a/ ../b", .dotPart),
      ("a/. ./b", .dotPart),
      (" ", .dotPart), ("a/ /b", .dotPart),
      ("a//b", .emptyPart), ("a\\", .emptyPart), ("a\\\\b", .emptyPart), ("a//", .emptyPart),
      ("a\0b", .controlCharacter), ("a\nb", .controlCharacter), ("\u{1B}[31m", .controlCharacter),
      ("a\u{7F}", .controlCharacter), ("a\u{85}", .controlCharacter), ("a\r", .controlCharacter),
    ] as [(String, ZipError.NameProblem)])
  func `an unsafe or misleading name is rejected`(
    name: String, problem: ZipError.NameProblem
  ) throws {
    #expect(try reason([name]) == .name(problem))
  }

  @Test(
    arguments: [
      "a", "a/b", "a/", ".hidden", "a..b", "..a", "a..", "a/.b/c", "ein Ding", "ab:c", "11:a", "é:a", "a\\b",
      "😀👩‍👩‍👧",
      "日本語/ファイル", "a/\u{301}b", "~", "-rf", "%2e%2e", "\u{202E}gpj",
    ])
  func `an unusual but safe name is accepted`(name: String) throws {
    #expect(try reason([name]) == nil)
  }

  @Test(
    arguments: [
      ["a", "a"], ["a", "A"], ["x/É", "X/é"], ["\u{E9}", "e\u{301}"], ["É", "e\u{301}"],
      ["straße", "STRASSE"],
      ["STRAẞE", "straße"], ["ΟΔΟΣ", "οδος"], ["οδος", "οδοσ"], ["K", "k"], ["ﬁ", "FI"], ["a/b", "a\\b"],
      ["a/", "a/"], ["A/", "a/"], ["a/b/", "a/B/"],
    ])
  func `names that differ only in letter case or normalization are rejected`(names: [String]) throws {
    #expect(try reason(names) == .duplicateName)
  }

  @Test(
    arguments: [
      ["a", "a/"], ["a/", "a"], ["a", "a/b"], ["a/b", "a"], ["A", "a/b/c"], ["a/b/c", "a/B"],
      ["a/b", "a\\b\\c"],
    ])
  func `a file that is also a folder of another entry is rejected`(names: [String]) throws {
    #expect(try reason(names) == .fileAndFolder)
    #expect(try reason(names, contents: []) == .fileAndFolder)
  }

  @Test(
    arguments: [
      ["a", "b"], ["a/b", "a/c"], ["a/", "a/b"], ["a/b", "a/"], ["a/x", "A/y"], ["ı", "i"], ["ab/c", "a/bc"],
      ["a.b", "a/b"],
    ])
  func `names that do not conflict are accepted`(names: [String]) throws {
    #expect(try reason(names) == nil)
  }

  @Test func `names of empty files can differ only in letter case`() throws {
    #expect(try reason(["a", "A"], contents: []) == nil)
    #expect(try reason(["a", "A", "a"], contents: []) == .duplicateName)
    #expect(try reason(["\u{E9}", "e\u{301}"], contents: []) == .duplicateName)
  }

  @Test func `a name marked as UTF-8 must be valid UTF-8`() throws {
    let raw: [[UInt8]] = [[0xFF], [0xC0, 0xAE], [0xED, 0xA0, 0x80], [0x61, 0xC3]]
    for name in raw {
      #expect(
        try refusal(of: ArchiveBuilder(.init(raw: name)), in: folder)?.reason == .name(.notUTF8), "\(name)")
    }
  }

  @Test func `an unmarked name that some readers end at a NUL is rejected`() throws {
    func reason(_ raw: [UInt8]) throws -> ZipError.Reason? {
      try refusal(of: ArchiveBuilder(ArchiveBuilder.Entry(raw: raw).with { $0.flags = 0 }), in: folder)?
        .reason
    }
    #expect(try reason([0x61, 0, 0x62]) == .name(.controlCharacter))
    #expect(try reason([0x61, 0]) == .name(.controlCharacter))
    #expect(try reason([1, 0]) == nil)
  }

  @Test func `the writer refuses an empty name`() throws {
    let writer = try ZipWriter(File(folder.path + "/a.zip", .create(mode: 0o600)))
    #expect(throws: ZipError(.name(.empty), entry: "")) { try writer.add("", bytes: []) }
  }

  @Test func `a Unicode path field with another name is rejected`() throws {
    func reason(
      _ raw: [UInt8], flags: UInt16 = 0, central: [UInt8], local: [UInt8]
    ) throws -> ZipError.Reason? {
      let entry = ArchiveBuilder.Entry(raw: raw).with {
        $0.flags = flags
        $0.centralExtra = central
        $0.localExtra = local
      }
      return try refusal(of: ArchiveBuilder(entry), in: folder)?.reason
    }
    let name: [UInt8] = [0xC4]
    let field = ArchiveBuilder.unicodePath("ä", for: name)
    let other = ArchiveBuilder.unicodePath("ö", for: name)
    #expect(try reason(name, central: field, local: field) == nil)
    #expect(try reason(name, central: field, local: []) == .localHeaderDiffers(.name))
    #expect(try reason(name, central: [], local: field) == .localHeaderDiffers(.name))
    #expect(try reason(name, central: field, local: other) == .localHeaderDiffers(.name))
    #expect(try reason(name, central: field + field, local: []) == .malformedExtraField)
    let stale = ArchiveBuilder.unicodePath("ä", for: [0x61])
    #expect(try reason(name, central: stale, local: stale) == .name(.otherUnicodePath))
    let ascii = ArchiveBuilder.unicodePath("b", for: Array("a".utf8))
    #expect(try reason(Array("a".utf8), central: ascii, local: ascii) == .name(.otherUnicodePath))
    let marked = ArchiveBuilder.unicodePath("ä", for: Array("a".utf8))
    #expect(
      try reason(Array("a".utf8), flags: 0x0800, central: marked, local: marked) == .name(.otherUnicodePath))
    let slip = ArchiveBuilder.unicodePath("../ä", for: name)
    #expect(try reason(name, central: slip, local: slip) == .name(.dotPart))
    let hidden = ArchiveBuilder.unicodePath("ä", for: Array("../a".utf8))
    #expect(try reason(Array("../a".utf8), central: hidden, local: hidden) == .name(.dotPart))
  }
}
