import DataSnapshots
import Foundation
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import TestSupport
import Testing

/// A launch after a crash.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct CrashedRunTests {
  private let temporary: TemporaryFolder

  init() throws { temporary = try TemporaryFolder() }

  /// Runs the app in another process, which is killed.
  private func crash() async {
    let folder = temporary.file("snapshots").path
    await #expect(processExitsWith: .signal(SIGKILL)) { [folder = folder as String] in
      var configuration = SnapshotMode.Configuration()
      configuration.durability = .beforeReturn
      let mode = SnapshotMode(folder: URL(filePath: folder), configuration: configuration)
      mode.state = .recording
      for (identifier, text) in [("forecast/today", "before the crash"), ("forecast/week", "mixed")] {
        _ = mode.process(data: Data(text.utf8), uniqueIdentifier: identifier)
      }
      kill(getpid(), SIGKILL)
    }
  }

  @Test func `the run that was killed is offered, and its data arrives at the server`() async throws {
    await crash()
    let server = try await SampleServer()
    let (app, queue) = try SampleApp(server: server.url, in: temporary).reporting()
    app.settings.state = .recording
    app.show("forecast/today", live: "after the crash")
    let run = try #require(await app.settings.overview().crashedRun)
    #expect(run.recordings == 2 && run.bytes == 21)
    #expect(abs(run.ended.timeIntervalSinceNow) < 600 && run.began <= run.ended)

    try await app.settings.upload(toReport: "BUG-9", note: "It crashed", of: .previous)
    await app.settings.settle()
    let id = try #require(await app.settings.overview().activity?.snapshot)
    #expect(await queue.outcome(of: id)?.state == .done)
    let (zip, folder) = (temporary.file("fetched.zip"), temporary.file("fetched"))
    try await app.client.fetch(id, to: zip)
    let manifest = try SnapshotBundle.unpack(zip: zip, into: folder)
    #expect(manifest.report?.description == "BUG-9" && manifest.note == "It crashed")
    #expect(manifest.recordings.map(\.identifier) == ["forecast/today", "forecast/week"])
    let today = folder.appending(path: try #require(manifest.recordings.first).path)
    #expect(try String(contentsOf: today, encoding: .utf8) == "before the crash")

    #expect(await app.settings.overview().crashedRun != nil)
    try await app.settings.discardCrashedRun()
    let overview = await app.settings.overview()
    #expect(overview.crashedRun == nil && overview.report.recordingCount == 2)
    #expect(overview.activity?.title == "Data of the crash deleted")
    await queue.close()
    await server.stop()
  }

  @Test func `the page has forms to send the run, and to delete it`() async throws {
    await crash()
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")), in: temporary)
    let visitor = PageVisitor(BetaSettingsPage(app.settings))
    let cookie = try await visitor.enter()
    let text = try await visitor.send(.get, "/", cookie: cookie).text
    #expect(text.contains("The last run did not end properly"))
    #expect(text.contains(": 2 recordings, 21 B</span>"))
    let wrong = try await visitor.post("/upload-crash", "crash-report=no+name&note=words", cookie: cookie)
    #expect(wrong.status == 422)
    #expect(wrong.text.contains("value=\"no name\""))
    #expect(wrong.text.contains("aria-describedby=\"crash-note-hint\">\nwords</textarea>"))
    let sent = try await visitor.post("/upload-crash", "crash-report=BUG-1&note=", cookie: cookie)
    #expect(sent.status == 303)
    await app.settings.settle()
    #expect(await app.settings.overview().activity?.title == "Making a snapshot for BUG-1")
    #expect(try await visitor.post("/discard-crash", "", cookie: cookie).status == 303)
    #expect(try await visitor.send(.get, "/", cookie: cookie).text.contains("crash-report") == false)
    let late = try await visitor.post("/upload-crash", "crash-report=BUG-1&note=", cookie: cookie)
    #expect(late.status == 422 && late.text.contains("Nothing is kept of the last run any more."))
  }

  @Test func `a run that was closed, or a new app, is not offered`() async throws {
    for _ in 0..<2 {
      let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")), in: temporary)
      #expect(await app.settings.overview().crashedRun == nil)
      app.recordAll()
      await app.mode.close()
    }
  }
}
