import DataSnapshots
import Foundation
import Repositories
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

struct AttachmentTests {
  private let app: SampleApp

  init() throws { app = try SampleApp() }

  @Test func `attachments are stored in the snapshot with the recordings`() async throws {
    let mode = app.launch()
    let screenshot = Data([0x89, 0x50, 0x4E, 0x47, 0, 1, 2])
    mode.attach(name: "Screenshot.png", data: Data("old".utf8))
    mode.attach(name: "Screenshot.png", data: screenshot)
    mode.attach(name: "log.txt", data: Data("a line".utf8))
    let zip = app.temporary.file("a.zip")
    #expect(try await mode.makeSnapshot(to: zip).manifest.recordings.isEmpty)
    #expect(try SnapshotBundle.validate(zip: zip, depth: .full).recordings.isEmpty)
    #expect(mode.activeAttachments.isEmpty)
    let other = try SampleApp()
    let developer = other.launch()
    try await developer.activate(bundle: zip)
    let files = developer.activeAttachments
    #expect(Set(files.keys) == ["Screenshot.png", "log.txt"])
    #expect(try Data(contentsOf: #require(files["Screenshot.png"])) == screenshot)
    #expect(await developer.report().attachments == ["Screenshot.png", "log.txt"])
    #expect(app.events.all.isEmpty && other.events.all.isEmpty)
  }

  @Test func `the state of a repository can be attached, without its secrets`() async throws {
    struct Profile: Codable, Sendable { var name = "Ada", email = "ada@example.com" }
    var app = app
    app.configuration.redaction = .usualSecrets
    let snapshots = app.launch()
    let profile = ValueRepository(Profile())
    // example: Repository begin
    snapshots.attach(name: "profile.json", data: profile.makeSnapshot())
    // example: Repository end
    let zip = app.temporary.file("a.zip")
    _ = try await snapshots.makeSnapshot(to: zip)
    try await snapshots.activate(bundle: zip)
    let file = try #require(snapshots.activeAttachments["profile.json"])
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("Ada") && text.contains("[redacted-") && !text.contains("ada@example.com"))
    try DocumentedExample.check(
      article: "Sources/App/DataSnapshots/DataSnapshots.docc/DataSnapshots.md", code: #filePath,
      marker: "Repository")
  }

  @Test func `an attachment is kept for the next snapshot and the next launch, until it is cleared`()
    async throws
  {
    let mode = app.launch()
    mode.attach(name: "a", data: Data("1".utf8))
    await mode.flush()
    let next = app.launch()
    #expect(await next.report().attachments == ["a"])
    #expect("\(await next.report())".contains("Attached: a"))
    _ = try await next.makeSnapshot(to: app.temporary.file("a.zip"))
    #expect(await next.report().attachments == ["a"])
    try await next.clear()
    #expect(await next.report().attachments == [])
  }

  @Test(arguments: [
    "", ".", "..", "../x", "a/b", "/a", "a\0b", String(repeating: "a", count: 256),
    String(repeating: ":", count: 85),
  ])
  func `a name that no file can have is rejected`(name: String) async {
    let mode = app.launch()
    mode.attach(name: name, data: Data())
    #expect(await mode.report().attachments == [])
    #expect(app.events.kinds == [.recordingRefused])
  }

  @Test func `the names that a user gives are kept`() async throws {
    let names = [
      "Größe 😀.png", "Bildschirmfoto 2026-01-15 um 12:30:05.png", "IMG_1.HEIC", "IMG_1.heic", "img_1.heic",
      "a\\b",
      ".hidden", "a.", " a", "con", "NUL.txt", "a\nb", "%%a%3ab", "スクリーンショット 2026-01-15 12:30:05（コピー）.png",
      String(repeating: "長", count: 28), "Ä", "ä", "👨‍👩‍👧.jpg",
    ]
    let mode = app.launch()
    for name in names { mode.attach(name: name, data: Data(name.utf8)) }
    #expect(await mode.report().attachments == names.sorted())
    #expect(app.events.all.isEmpty)
    let zip = app.temporary.file("a.zip")
    _ = try await app.launch().makeSnapshot(to: zip)
    let developer = try SampleApp().launch()
    try await developer.activate(bundle: zip)
    let files = developer.activeAttachments
    #expect(Set(files.keys) == Set(names))
    for name in names { #expect(try Data(contentsOf: #require(files[name])) == Data(name.utf8)) }
  }

  @Test func `the composed and the decomposed form are one name`() async {
    let mode = app.launch()
    mode.attach(name: "gro\u{308}ße", data: Data("1".utf8))
    mode.attach(name: "größe", data: Data("2".utf8))
    #expect(await mode.report().attachments == ["größe"])
  }

  @Test func `an attachment of an earlier version is kept, and replaced by its name`() async throws {
    await app.launch().flush()
    let folder = app.storage.appending(path: "attachments")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try Data("old".utf8).write(to: folder.appending(path: "Screen (1).png"))
    let mode = app.launch()
    #expect(await mode.report().attachments == ["Screen (1).png"])
    mode.attach(name: "Screen (1).png", data: Data("new".utf8))
    #expect(await mode.report().attachments == ["Screen (1).png"])
    let zip = app.temporary.file("a.zip")
    _ = try await mode.makeSnapshot(to: zip)
    try await mode.activate(bundle: zip)
    #expect(try Data(contentsOf: #require(mode.activeAttachments["Screen (1).png"])) == Data("new".utf8))
  }

  @Test func `names up to the length limit and attachments up to the count limit are accepted`() async {
    var app = app
    app.configuration.limits.attachments = 2
    let mode = app.launch()
    for name in [String(repeating: "a", count: 255), "State (1)@2,+=_-.json", "third"] {
      mode.attach(name: name, data: Data("x".utf8))
    }
    mode.attach(name: "State (1)@2,+=_-.json", data: Data("y".utf8))
    mode.attach(name: "STATE (1)@2,+=_-.json", data: Data("z".utf8))
    #expect(await mode.report().attachments == ["State (1)@2,+=_-.json", String(repeating: "a", count: 255)])
    #expect(app.events.all.map(\.identifier) == ["attachments/third", "attachments/STATE (1)@2,+=_-.json"])
  }
}
