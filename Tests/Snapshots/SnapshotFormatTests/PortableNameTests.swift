import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing
import ZipArchive

/// Names of attachments and of the app's files that are not safe on every file system.
@Suite struct PortableNameTests {
  /// Names that differ from each other on Linux, but not on every file system.
  private static let names = [
    "a", "A", "é", "e\u{301}", "É", "E\u{301}", "ß", "ẞ", "ss", "SS", "ſs", "K", "\u{212A}", "k", "a.", "a..",
    "a ",
    "\u{301}x", "\u{200D}x", "a_b", "a\"b", "a?b", "A?B", "a|b", "a:b", "A:b", "a\\b", "a\nb", "a\u{7F}b",
    "a\u{85}b", "a\u{200D}b",
    "ab", "con",
    "CON", "Con.txt", "nul .txt", "COM¹", "...", "....", " ", "\u{200D}", "\u{FEFF}", ".hidden", "100%",
    "%41", "%%41",
    "%%a", "^a", "sceneID:com.example.news-default", "Bildschirmfoto 12:30:05.png", "😀",
    "日本語:x",
    "ㅎㅏㄴ", "한", "\u{1112}\u{1161}\u{11AB}", "C:", "i", "I", "ı", "İ", "x\u{301}\u{323}", "x\u{323}\u{301}",
    "%", "^",
    "~", "@", "a=\u{338}", "a≠", String(repeating: "長", count: 85), String(repeating: ":", count: 84),
  ]

  private static func snapshot(_ names: [String], in place: String) throws -> SampleSnapshot {
    let sample = try SampleSnapshot()
    for (index, name) in names.enumerated() {
      try Self.write("\(index)", name, in: sample.folder.appending(path: place))
    }
    return sample
  }

  /// Writes a file with exactly these bytes as its name.
  private static func write(_ text: String, _ name: String, in folder: URL) throws {
    try Folder.create(folder.path)
    try File(folder.path + "/" + name, .create(mode: 0o600)).write(Array(text.utf8), at: 0)
  }

  private static func contents(_ folder: String) throws -> [[UInt8]: String] {
    try OpenFolder(folder).entries().reduce(into: [:]) { contents, name in
      let file = try File(folder + "/" + name)
      contents[Array(name.utf8)] = String(decoding: try file.read(upTo: 100, at: 0), as: UTF8.self)
    }
  }

  @Test(arguments: ["attachments", "app-data/Documents", "app-data/sceneID:x/É"])
  func `any names are packed, unpacked and packed again`(place: String) throws {
    let sample = try Self.snapshot(Self.names, in: place)
    let before = try Self.contents(sample.folder.path + "/" + place)
    #expect(before.count >= Self.names.count)
    let packed = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    #expect(packed.leftOut.isEmpty)
    // The server's check.
    _ = try SnapshotBundle.validate(zip: sample.zip, depth: .full)
    let (copy, again) = (sample.temporary.file("copy"), sample.temporary.file("again.zip"))
    _ = try SnapshotBundle.unpack(zip: sample.zip, into: copy)
    #expect(try Self.contents(copy.path + "/" + place) == before)
    _ = try SnapshotBundle.pack(folder: copy, to: again)
    #expect(try Data(contentsOf: again) == Data(contentsOf: sample.zip))
    let shown = try OpenSnapshot(zip: sample.zip).members.map { Array($0.originalName.utf8) }
    for name in Self.names { #expect(shown.contains(Array("\(place)/\(name)".utf8)), "\(name)") }
  }

  @Test func `ordinary names stay as they are`() throws {
    for name in ["Größe 😀.HEIC", "IMG_0001.HEIC", "100%.txt", "a^b", "x=1,y", "Foto (2).jpg"] {
      let sample = try Self.snapshot([name], in: "attachments")
      _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
      #expect(try OpenSnapshot(zip: sample.zip).members.map(\.name).contains("attachments/" + name))
    }
  }

  @Test func `a folder that an older version unpacked is packed to the same bytes`() async throws {
    let sample = try Self.snapshot(["a:b", "x", "X"], in: "attachments")
    _ = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    let copy = sample.temporary.file("copy")
    #expect(try await Tool.run("unzip", ["-q", sample.zip.path, "-d", copy.path]).status == 0)
    #expect(try Folder.entries(copy.path + "/attachments") == ["%%^x", "%%a%3ab", "log.txt", "x"])
    let again = sample.temporary.file("again.zip")
    _ = try SnapshotBundle.pack(folder: copy, to: again)
    #expect(try Data(contentsOf: again) == Data(contentsOf: sample.zip))
    let (zipped, unpacked) = (try OpenSnapshot(zip: sample.zip), try OpenSnapshot(folder: copy))
    #expect(unpacked.members.map(\.name) == zipped.members.map(\.name))
    for (one, other) in zip(zipped.members, unpacked.members) {
      #expect(try zipped.digest(of: one) == unpacked.digest(of: other))
    }
  }

  @Test func `a name that is too long when it is encoded is left out and named`() throws {
    let long = String(repeating: ":", count: 85)
    let sample = try Self.snapshot([long, "short"], in: "app-data/Documents")
    let packed = try SnapshotBundle.pack(folder: sample.folder, to: sample.zip)
    #expect(packed.leftOut == ["app-data/Documents/" + long])
    let names = try OpenSnapshot(zip: sample.zip).members.map(\.name)
    #expect(names.contains("app-data/Documents/short") && !names.contains { $0.contains("%3a") })
  }

  @Test(arguments: [
    "%%", "%%a", "%%a%3", "%%a%3A", "%%a%2fb", "%%%2e", "%%%2e%2e", "%%a%00", "%%^A", "%%^", "%%a%ff%3a",
    "%a%3a", "%%a:b",
    "a%3ab", "%%a%:3",
  ])
  func `a part that encodes no name is itself`(part: String) {
    #expect(PortableName.decode(part) == nil)
    #expect(PortableName.decode(path: "attachments/\(part)/x") == "attachments/\(part)/x")
  }

  @Test func `only names of attachments and of the app's files are decoded`() {
    #expect(PortableName.decode(path: "attachments/%%a%3ab/c") == "attachments/a:b/c")
    #expect(PortableName.decode(path: "app-data/x/%%^a") == "app-data/x/A")
    #expect(PortableName.decode(path: "recordings/%%a%3ab") == "recordings/%%a%3ab")
  }

  @Test func `two names of one file are both unpacked`() throws {
    // The second spelling is allowed beside a name that differs in case.
    let sample = try SampleSnapshot()
    let zip = try sample.zipUnchecked(extra: [
      "attachments/%%A%3a": Data("1".utf8), "attachments/%%^a%3a": Data("2".utf8),
    ])
    let copy = sample.temporary.file("copy")
    _ = try SnapshotBundle.unpack(zip: zip, into: copy)
    let contents = try Self.contents(copy.path + "/attachments")
    #expect(Set(contents.values) == ["log", "1", "2"])
  }
}
