import SystemIO
import TestSupport
import Testing
import ZipArchive

/// The names that the reader and the writer accept in the strict profile: each is one file on every file system.
@Suite struct StrictNameTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The error of the reader and of the writer for an archive with these entries. Both must be the same.
  private func reason(
    _ names: [String], _ profile: ZipProfile = .strict, contents: [UInt8] = [1]
  ) throws -> ZipError.Reason? {
    var builder = ArchiveBuilder()
    builder.entries = names.map { name in
      let isFolder = name.utf8.last == 0x2F
      return ArchiveBuilder.Entry(name, isFolder ? [] : contents).with {
        if isFolder { $0.attributes = 0x10 }
      }
    }
    let read = try refusal(of: builder, profile: profile, in: folder)
    let path = folder.path + "/\(UInt64.random(in: 0 ... .max))"
    let writer = try ZipWriter(File(path, .create(mode: 0o600)), profile: profile)
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
      "CON", "con", "a/Aux", "nul.txt", "NUL.tar.gz", "prn/a", "COM1", "lpt9.log", "com¹", "LPT³.x", "CONIN$",
      "conout$.txt", "con .txt", "con  ", "con.\u{301}", "com0", "a/nul/",
    ])
  func `a device name of Windows is rejected`(name: String) throws {
    #expect(try reason([name]) == .name(.deviceName))
    #expect(try reason([name], .lenient) == nil)
  }

  @Test(
    arguments: [
      "cons", "co", "icon", "com", "com10", "coma", "lpt", "conin", "console.txt", "a.con", " con",
      "auxiliary",
      "com1a", "con_", "_nul", "com¼",
    ])
  func `a name similar to a device name is accepted`(name: String) throws {
    #expect(try reason([name]) == nil)
  }

  @Test func `a colon or a backslash is rejected`() throws {
    for name in ["app-data/a:b", "ab:", "folder:name/a", "ab::$DATA", "é:a"] {
      #expect(try reason([name]) == .name(.colon))
      #expect(try reason([name], .lenient) == nil)
    }
    #expect(try reason(["attachments/a\\b"]) == .name(.backslash))
    #expect(try reason(["attachments/a\\b"], .lenient) == nil)
  }

  @Test(arguments: ["a/.\u{200C}", "a/\u{200D}", "\u{FEFF}/a", "..\u{200B}/a", "a/\u{AD} ."])
  func `a component that consists of ignored characters is rejected`(name: String) throws {
    #expect(try reason([name]) == .name(.dotPart))
    #expect(try reason([name], .lenient) == nil)
  }

  @Test(
    arguments: [
      ["a", "a."], ["a ", "A"], ["a. .", "a"], ["a./b", "a/B"], ["ab", "a\u{200D}b"],
      ["ab", "a\u{200C}b\u{FEFF}"],
      ["❤", "❤\u{FE0F}"], ["É", "e\u{301}\u{200E}"], ["a?b", "a_b"], ["<a>", "|A|"], ["a\"", "a*"],
    ])
  func `names that are equal on Windows or HFS+ are rejected`(names: [String]) throws {
    #expect(try reason(names) == .duplicateName)
    #expect(try reason(names, .lenient) == nil)
    for name in names { #expect(try reason([name]) == nil, "\(name)") }
  }

  @Test func `names of empty files must not conflict either`() throws {
    #expect(try reason(["a", "A"], contents: []) == .duplicateName)
    #expect(try reason(["a", "A"], .lenient, contents: []) == nil)
    #expect(try reason(["a.", "a/b"]) == .fileAndFolder)
  }

  @Test func `names that do not conflict are accepted`() throws {
    #expect(
      try reason([
        "a", "b.", "c ", "d\u{200D}", "👨‍👩‍👧", "e?", ".f", "g..h", "日本語/ファイル", "i/", "-j", "%2e^x~@1,=+",
      ]) == nil)
  }

  @Test func `an empty name is rejected`() throws {
    let entry = ArchiveBuilder.Entry("", [])
    #expect(try refusal(of: ArchiveBuilder(entry), profile: .strict, in: folder)?.reason == .name(.empty))
  }
}
