import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BetaSettingsTests {
  @Test func `a snapshot is uploaded by one app and replayed by another`() async throws {
    let server = try await SampleServer()
    let (sender, receiver) = (try SampleApp(server: server.url), try SampleApp(server: server.url))

    sender.recordAll()
    try await sender.settings.upload(toReport: " BUG-123 ", note: "It rained")
    await sender.settings.settle()
    let sent = await sender.settings.overview()
    #expect(sent.activity?.phase == .done, "\(String(describing: sent.activity))")
    let id = try #require(sent.activity?.snapshot)
    #expect(sent.recent.map(\.id) == [id])
    #expect(sent.recent.first?.origin == .sent)
    #expect(sent.uploads.map(\.id) == [id])

    let link = "  <\(server.url.absoluteString)/v1/snapshots/\(id.description.uppercased()).zip>\n"
    #expect(try receiver.settings.activate(link) == id)
    await receiver.settings.settle()
    let opened = await receiver.settings.overview()
    #expect(opened.activity?.phase == .done, "\(String(describing: opened.activity))")
    #expect(opened.activity?.message.contains("3 recordings of com.example.weather 3.1 (7)") == true)
    #expect(opened.report.state == .replaying)
    #expect(opened.active?.id == id)
    #expect(opened.active?.note == "It rained")
    #expect(opened.recent.first?.report == (try ReportID(validating: "BUG-123")))
    #expect(receiver.show("forecast/today", live: "rain") == "sunny")
    #expect(try Folder.entries(receiver.temporary.file("settings/downloads").path) == [])

    try await receiver.settings.deactivate()
    #expect(receiver.show("forecast/today", live: "rain") == "rain")
    await server.stop()
  }

  @Test func `a module changes from missing to complete`() async throws {
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    app.settings.state = .recording
    app.show("forecast/today", live: "sunny")
    #expect(await app.settings.overview().report.modules.first?.missing == ["forecast/week"])
    app.show("forecast/week", live: "mixed")
    #expect(await app.settings.overview().report.modules.first?.isComplete == true)
    try await app.settings.clearRecordings()
    let overview = await app.settings.overview()
    #expect(overview.report.recordingCount == 0)
    #expect(overview.activity?.title == "Recordings deleted")
  }

  @Test func `an action that can't start is rejected with a description`() async throws {
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    let id = SnapshotID()
    func reason(_ body: () async throws -> Void) async -> String {
      do {
        try await body()
        return ""
      } catch { return "\(error)" }
    }
    #expect(
      await reason { try await app.settings.upload(toReport: "BUG 1") }.contains("made of ASCII letters"))
    #expect(
      await reason { try await app.settings.upload(toReport: "BUG-1", note: "\n ") }.contains(
        "Nothing is recorded yet"))
    #expect(await reason { try app.settings.activate("BUG-1") }.contains("neither a UUID"))
    let elsewhere = await reason { try app.settings.activate("https://evil.example/v1/snapshots/\(id).zip") }
    #expect(elsewhere.contains("https://evil.example"))
    #expect(elsewhere.contains("http://127.0.0.1:1"))
    #expect(await app.settings.overview().activity == nil)
  }

  @Test func `a failed download changes nothing and is described`() async throws {
    let server = try await SampleServer()
    let app = try SampleApp(server: server.url)
    app.recordAll()
    try app.settings.activate(SnapshotID().description)
    await app.settings.settle()
    let overview = await app.settings.overview()
    #expect(overview.activity?.phase == .failed)
    #expect(overview.activity?.message.contains("The snapshot or report was not found") == true)
    #expect(overview.report.state == .recording)
    #expect(overview.recent.isEmpty)
    await server.stop()
  }

  @Test func `one action runs at a time and can be cancelled`() async throws {
    let begun = Signal()
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    var uploads = app.uploads.functions
    uploads.attach = { _ in
      try await begun.fireUntilCancelled()
      return SnapshotID()
    }
    let settings = BetaSettings(
      mode: app.mode, client: app.client, uploads: uploads, folder: app.temporary.file("settings"))
    app.recordAll()
    try await settings.upload(toReport: "BUG-1")
    await begun.wait()
    #expect(await settings.overview().isBusy)
    await #expect {
      try await settings.clearRecordings()
    } throws: { error in
      "\(error)" == "‘Making a snapshot for BUG-1’ is still running. Wait until it ends, or stop it."
    }
    settings.cancel()
    await settings.settle()
    #expect(await settings.overview().activity?.phase == .cancelled)
    try await settings.clearRecordings()
  }

  @Test(arguments: [0, 1]) func `a note has a limit`(excess: Int) async throws {
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    let noted = Lock<String?>(nil)
    var uploads = app.uploads.functions
    uploads.attach = { bug in
      noted.withLock { $0 = bug.note }
      return SnapshotID()
    }
    let settings = BetaSettings(
      mode: app.mode, client: app.client, uploads: uploads, folder: app.temporary.file("settings"))
    app.recordAll()
    let note = String(repeating: "n", count: Manifest.Limits.default.noteLength + excess)
    var reason: String?
    do { try await settings.upload(toReport: "BUG-1", note: note) } catch { reason = "\(error)" }
    #expect(reason == (excess == 0 ? nil : "The note is too long: it can have 32 KiB. Shorten it."))
    await settings.settle()
    #expect(noted.withLock { $0?.utf8.count } == (excess == 0 ? note.utf8.count : nil))
  }

  @Test func `a failed upload is reported`() async throws {
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    var uploads = app.uploads.functions
    uploads.attach = { _ in throw SampleFailure(description: "The queue is full.") }
    let settings = BetaSettings(
      mode: app.mode, client: app.client, uploads: uploads, folder: app.temporary.file("settings"))
    app.recordAll()
    try await settings.upload(toReport: "BUG-1")
    await settings.settle()
    let activity = await settings.overview().activity
    #expect(activity?.phase == .failed)
    #expect(activity?.message == "The queue is full.")
  }
}
