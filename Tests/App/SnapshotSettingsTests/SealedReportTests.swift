import DataSnapshots
import Foundation
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import TestSupport
import Testing

/// Reports whose snapshots are sealed on the device.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SealedReportTests {
  private let temporary: TemporaryFolder
  private let identity = SealingIdentity.generate()

  init() throws { temporary = try TemporaryFolder() }

  private func makeApp(_ server: URL, in folder: TemporaryFolder) throws -> SampleApp {
    try SampleApp(
      server: server, in: folder, sealing: .recipients([identity.recipient]), identities: [identity])
  }

  @Test func `what waits in the queue is sealed, and the same bytes arrive`() async throws {
    let server = try await SampleServer()
    let app = try makeApp(server.url, in: temporary)
    app.recordAll()
    var offline = UploadQueue.Configuration()
    offline.network = NetworkPolicy { _ in false }
    let (_, waiting) = try app.reporting(offline)
    let reporter = BugReporter(queue: waiting) { [mode = app.mode] bug, zip in
      try await mode.makeSnapshot(for: bug, to: zip)
    }
    let form = ReportForm(mode: app.mode, reporter: reporter)
    await form.load()
    #expect(form.contents.sealing?.recipients == [identity.recipient])
    form.edit { draft in
      draft.report = "BUG-7"
      draft.note = "It rained in Vienna"
    }
    await form.send()
    let item = try #require(waiting[form.contents.id])
    let queue = temporary.file("queue")
    for path in try FileManager.default.subpathsOfDirectory(atPath: queue.path) {
      guard let bytes = FileManager.default.contents(atPath: queue.appending(path: path).path) else {
        continue
      }
      for word in ["sunny", "Vienna", "forecast"] {
        #expect(bytes.firstRange(of: Data(word.utf8)) == nil, "\(path)")
      }
    }
    await waiting.close()

    let (_, sending) = try app.reporting()
    #expect(await sending.outcome(of: item.id)?.state == .done)
    #expect(try await app.client.record(item.id).sha256 == item.sha256)
    await sending.close()

    let receiver = try makeApp(server.url, in: TemporaryFolder())
    try receiver.settings.activate(item.id.description)
    await receiver.settings.settle()
    #expect(await receiver.settings.overview().activity?.phase == .done)
    #expect(receiver.show("forecast/today", live: "cloudy") == "sunny")

    let stranger = try SampleApp(server: server.url)
    try stranger.settings.activate(item.id.description)
    await stranger.settings.settle()
    let failure = await stranger.settings.overview().activity
    #expect(failure?.phase == .failed && failure?.message.contains("sealed to age1") == true)
    #expect(stranger.show("forecast/today", live: "cloudy") == "cloudy")
    await server.stop()
  }

  @Test func `the settings show to whom snapshots are sealed`() async throws {
    let nowhere = try #require(URL(string: "http://127.0.0.1:1"))
    let app = try makeApp(nowhere, in: temporary)
    #expect(await app.settings.overview().sealing == .recipients([identity.recipient]))
    let page = PageVisitor(BetaSettingsPage(app.settings))
    let text = try await page.send(.get, "/", cookie: page.enter()).text
    #expect(text.contains("only the owner of the key \(identity.recipient.abridged) can read them."))
    let clear = PageVisitor(BetaSettingsPage(try SampleApp(server: nowhere).settings))
    #expect(try await !clear.send(.get, "/", cookie: clear.enter()).text.contains("sealed"))
  }
}
