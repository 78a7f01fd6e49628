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
    mode.attach(name: "screenshot.png", data: Data("old".utf8))
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
    let profile = SingleRepository(Profile())
    // example: Repository begin
    snapshots.attach(name: "profile.json", data: profile.makeSnapshot())
    // example: Repository end
    let zip = app.temporary.file("a.zip")
    _ = try await snapshots.makeSnapshot(to: zip)
    try await snapshots.activate(bundle: zip)
    let file = try #require(snapshots.activeAttachments["profile.json"])
    let text = try String(contentsOf: file, encoding: .utf8)
    #expect(text.contains("Ada") && text.contains("[redacted]") && !text.contains("ada@example.com"))
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
    "", ".", "..", "../x", "a/b", "a\\b", ".hidden", "a.", " a", "a ", "ü", "con", "NUL.txt", "con .txt",
    "com1", "a:b", "a\nb",
    String(repeating: "a", count: 101),
  ])
  func `a name that some file systems can't represent is rejected`(name: String) async {
    let mode = app.launch()
    mode.attach(name: name, data: Data())
    #expect(await mode.report().attachments == [])
    #expect(app.events.kinds == [.recordingRefused])
  }

  @Test func `names up to the length limit and attachments up to the count limit are accepted`() async {
    var app = app
    app.configuration.limits.attachments = 2
    let mode = app.launch()
    for name in [String(repeating: "a", count: 100), "State (1)@2,+=_-.json", "third"] {
      mode.attach(name: name, data: Data("x".utf8))
    }
    mode.attach(name: "STATE (1)@2,+=_-.json", data: Data("y".utf8))
    #expect(await mode.report().attachments == ["STATE (1)@2,+=_-.json", String(repeating: "a", count: 100)])
    #expect(app.events.all.map(\.identifier) == ["attachments/third"])
  }
}
