import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ReportFormTests {
  /// Collects what was put into the pasteboard.
  private final class Copies: Sendable {
    private let texts = Lock<[String]>([])

    func append(_ text: String) { texts.withLock { $0.append(text) } }

    var all: [String] { texts.withLock { $0 } }
  }

  private let temporary: TemporaryFolder
  private let copies = Copies()

  init() throws { temporary = try TemporaryFolder() }

  private func makeApp(_ server: URL? = nil) throws -> SampleApp {
    try SampleApp(server: try server ?? #require(URL(string: "http://127.0.0.1:1")), in: temporary)
  }

  private func makeReporter(
    _ app: SampleApp, _ configuration: UploadQueue.Configuration = .init()
  ) throws -> BugReporter {
    try BugReporter(
      queue: temporary.file("queue"), client: app.client, configuration: configuration
    ) { [mode = app.mode] bug, zip in try await mode.makeSnapshot(for: bug, to: zip) }
  }

  private func makeForm(
    _ app: SampleApp, _ reporter: BugReporter, screenshot: Data? = nil
  ) throws -> ReportForm {
    var configuration = ReportForm.Configuration()
    configuration.fields = [.init("severity", label: "How bad is it?", choices: ["low", "high"])]
    configuration.report = try ReportID(validating: "inbox")
    configuration.copy = { [copies] in copies.append($0) }
    return ReportForm(
      mode: app.mode, reporter: reporter, screenshot: screenshot, configuration: configuration)
  }

  /// A queue that does not send anything.
  private var offline: UploadQueue.Configuration {
    var configuration = UploadQueue.Configuration()
    configuration.network = NetworkPolicy { _ in false }
    return configuration
  }

  /// Waits until the form is in a phase.
  private func wait(
    _ form: ReportForm, until isAwaited: @Sendable (ReportForm.Phase) -> Bool
  ) async throws -> ReportForm.Phase {
    for await contents in form.updates() where isAwaited(contents.phase) { return contents.phase }
    throw CancellationError()
  }

  private func words(of phase: ReportForm.Phase) -> String? {
    if case .failed(let words) = phase { words } else { nil }
  }

  @Test func `a report arrives with what the form shows, and without what was removed`() async throws {
    let server = try await SampleServer()
    let app = try makeApp(server.url)
    app.recordAll()
    app.mode.attach(name: "log.txt", data: Data("log".utf8))
    app.mode.attach(name: ReportForm.screenshotName, data: Data("an old one".utf8))
    let reporter = try makeReporter(app)
    let form = try makeForm(app, reporter, screenshot: Data("image".utf8))
    await form.load()
    let shown = form.contents
    #expect(
      shown.items.map(\.name) == ["Screenshot", "log.txt", "forecast/today", "forecast/week", "user/profile"])
    #expect(shown.items.map(\.kind) == [.screenshot, .attachment, .recording, .recording, .recording])
    #expect(shown.items.map(\.bytes) == [5, 3, 5, 5, 5] && shown.bytes == 23)
    #expect(shown.phase == .editing && shown.crashedRun == nil && copies.all.isEmpty)

    form.setIncluded(false, "user/profile")
    form.setIncluded(false, "attachments/log.txt")
    form.setIncluded(false, "forecast/week")
    form.setIncluded(true, "forecast/week")
    form.edit { draft in
      draft.report = " BUG-7 "
      draft.note = "It rained"
      draft.fields = ["severity": "high", "empty": " "]
    }
    #expect(form.contents.bytes == 15)
    await form.send()
    #expect(copies.all == [shown.id.description])
    #expect(try await wait(form) { $0 == .sent } == .sent)
    #expect(!form.contents.canSend && !form.contents.isEditable)

    let (zip, folder) = (temporary.file("fetched.zip"), temporary.file("fetched"))
    try await app.client.fetch(shown.id, to: zip)
    let manifest = try SnapshotBundle.unpack(zip: zip, into: folder)
    #expect(manifest.report?.description == "BUG-7" && manifest.note == "It rained")
    #expect(manifest.fields == ["severity": "high"])
    #expect(manifest.recordings.map(\.identifier) == ["forecast/today", "forecast/week"])
    #expect(manifest.dropped.map(\.identifier) == ["attachments/log.txt", "user/profile"])
    let image = folder.appending(path: "attachments/screenshot.png")
    #expect(try String(contentsOf: image, encoding: .utf8) == "image")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path + "/attachments").count == 1)

    await form.send()
    form.edit { $0.note = "too late" }
    #expect(form.contents.phase == .sent && form.contents.draft.note == "It rained")
    await reporter.queue.close()
    await server.stop()
  }

  @Test func `without a network the report waits in the queue, and the next launch sends it`() async throws {
    let server = try await SampleServer()
    let app = try makeApp(server.url)
    app.recordAll()
    let first = try makeReporter(app, offline)
    let form = try makeForm(app, first)
    await form.load()
    await form.send()
    let phase = try await wait(form) { $0 != .packing }
    #expect(phase == .queued("Waiting: no permitted network is available."))
    #expect(phase.words.hasPrefix("Ready to be sent, also if you close the app. Waiting:"))
    await first.queue.close()

    let second = try makeReporter(app)
    #expect(await second.queue.outcome(of: form.contents.id)?.state == .done)
    let zip = temporary.file("fetched.zip")
    try await app.client.fetch(form.contents.id, to: zip)
    let manifest = try SnapshotBundle.validate(zip: zip, depth: .full)
    #expect(manifest.report?.description == "inbox" && manifest.note == nil)
    await second.queue.close()
    await server.stop()
  }

  @Test func `what prevents a report is said in a sentence, and can be corrected`() async throws {
    let app = try makeApp()
    let reporter = try makeReporter(app, offline)
    let form = try makeForm(app, reporter)
    await form.load()
    await form.send()
    #expect(words(of: form.contents.phase)?.hasPrefix("There is nothing to send.") == true)
    form.edit { draft in
      draft.note = "words"
      draft.report = "no name"
    }
    #expect(form.contents.phase == .editing)
    await form.send()
    #expect(words(of: form.contents.phase)?.contains("ASCII letters") == true)
    #expect(reporter.queue.items.isEmpty)
    form.edit { $0.report = "BUG-1" }
    await form.send()
    #expect(reporter.queue.items.map(\.id) == [form.contents.id])
    await reporter.queue.close()
  }

  @Test(arguments: [0, 1]) func `note and fields have limits`(excess: Int) async throws {
    let app = try makeApp()
    let reporter = try makeReporter(app, offline)
    let limits = Manifest.Limits.default
    let form = try makeForm(app, reporter)
    form.edit { $0.note = String(repeating: "n", count: limits.noteLength + excess) }
    await form.send()
    #expect(
      words(of: form.contents.phase)
        == (excess == 0 ? nil : "The note is too long: it can have 32 KiB. Shorten it."))
    let second = try makeForm(app, reporter)
    second.edit { draft in
      draft.note = "note"
      draft.fields["severity"] = String(repeating: "x", count: limits.fieldLength + excess)
    }
    await second.send()
    #expect(
      words(of: second.contents.phase)
        == (excess == 0 ? nil : "‘How bad is it?’ is too long: it can have 16 KiB. Shorten it."))
    #expect(reporter.queue.items.count == (excess == 0 ? 2 : 0))
    await reporter.queue.close()
  }

  @Test func `a bundle that can't be made is tried again under the same UUID`() async throws {
    let app = try makeApp()
    app.recordAll()
    let isBroken = Lock(true)
    let queue = try makeReporter(app, offline).queue
    let reporter = BugReporter(queue: queue) { [mode = app.mode] bug, zip in
      if isBroken.withLock({ $0 }) { throw SampleFailure(description: "The disk is full.") }
      return try await mode.makeSnapshot(for: bug, to: zip)
    }
    let form = try makeForm(app, reporter)
    await form.load()
    await form.send()
    #expect(words(of: form.contents.phase) == "The bundle could not be made. The disk is full.")
    #expect(form.contents.isEditable)
    isBroken.withLock { $0 = false }
    await form.send()
    #expect(queue.items.map(\.id) == [form.contents.id])
    await queue.close()
  }

  @Test func `a report is sent once, however often the button is pressed`() async throws {
    let app = try makeApp()
    app.recordAll()
    let calls = Lock(0)
    let queue = try makeReporter(app, offline).queue
    let reporter = BugReporter(queue: queue) { [mode = app.mode] bug, zip in
      calls.withLock { $0 += 1 }
      return try await mode.makeSnapshot(for: bug, to: zip)
    }
    let form = try makeForm(app, reporter)
    await form.load()
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { await form.send() } }
    }
    #expect(calls.withLock { $0 } == 1 && queue.items.count == 1 && copies.all.count == 1)
    await queue.close()
  }

  @Test func `a refusal of the server is shown, and the same bundle can be tried again`() async throws {
    let server = try await SampleServer()
    let app = try makeApp(server.url)
    app.recordAll()
    let reporter = try makeReporter(app)
    let form = try makeForm(app, reporter)
    await form.load()
    // The UUID is taken.
    var other = BugReport(report: try ReportID(validating: "BUG-1"))
    other.id = form.contents.id
    let zip = temporary.file("other.zip")
    _ = try await app.mode.makeSnapshot(for: other, to: zip)
    _ = try await app.client.attach(zip, to: other.report, as: other.id)
    form.edit { $0.note = "other bytes" }
    for _ in 0..<2 {
      await form.send()
      let phase = try await wait(form) { words(of: $0) != nil }
      #expect(words(of: phase)?.hasPrefix("Not sent: ") == true)
      #expect(form.contents.canSend && !form.contents.isEditable)
    }
    try await reporter.queue.remove(form.contents.id)
    await form.send()
    #expect(words(of: try await wait(form) { words(of: $0) != nil })?.hasPrefix("Not sent: ") == true)
    await reporter.queue.close()
    await server.stop()
  }

  @Test func `the run that crashed can be reported instead of the current one`() async throws {
    let path = temporary.file("snapshots").path
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      var configuration = SnapshotMode.Configuration()
      configuration.durability = .beforeReturn
      let mode = SnapshotMode(folder: URL(filePath: path), configuration: configuration)
      mode.state = .recording
      _ = mode.process(data: Data("crash".utf8), uniqueIdentifier: "last words")
      kill(getpid(), SIGKILL)
    }
    let app = try makeApp()
    app.recordAll()
    let reporter = try makeReporter(app, offline)
    let form = try makeForm(app, reporter)
    await form.load()
    #expect(form.contents.crashedRun?.recordings == 1 && form.contents.items.count == 4)
    await form.select(.previous)
    #expect(form.contents.items.map(\.id) == ["last words"] && form.contents.draft.run == .previous)
    await form.send()
    let bundle = temporary.file("queue/items/\(form.contents.id)/bundle.zip")
    let manifest = try SnapshotBundle.validate(zip: bundle, depth: .full)
    #expect(manifest.recordings.map(\.identifier) == ["last words"])
    await form.select(.current)
    #expect(form.contents.draft.run == .previous)
    await reporter.queue.close()
  }

  @Test func `readers get the latest contents, and end with the form`() async throws {
    let app = try makeApp()
    let reporter = try makeReporter(app, offline)
    var form: ReportForm? = try makeForm(app, reporter)
    var updates = try #require(form).updates().makeAsyncIterator()
    #expect(await updates.next()?.draft.note == "")
    for note in ["a", "ab", "abc"] { form?.edit { $0.note = note } }
    #expect(await updates.next()?.draft.note == "abc")
    form = nil
    #expect(await updates.next() == nil)
    await reporter.queue.close()
  }
}
