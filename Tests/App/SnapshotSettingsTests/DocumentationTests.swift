import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotSettings
import TestSupport
import Testing

/// Runs the article's example as it is printed.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct DocumentationTests {
  @Test func `the article's examples work`() async throws {
    let snapshotServer = try await SampleServer()
    let temporary = try TemporaryFolder()
    let (appFolder, serverURL) = (temporary.url, snapshotServer.url)
    func show(_ link: URL) { #expect(link.query()?.hasPrefix("token=") == true) }

    // example: SnapshotSettings begin
    let snapshots = SnapshotMode(folder: appFolder.appending(path: "snapshots"))
    snapshots.register(module: "Forecast", files: ["forecast/today", "forecast/week"])
    let client = try SnapshotAPIClient(server: serverURL)
    let reporter = try BugReporter(queue: appFolder.appending(path: "queue"), client: client) { bug, zip in
      try await snapshots.makeSnapshot(for: bug, to: zip)
    }
    let settings = BetaSettings(
      mode: snapshots, client: client, reporter: reporter, folder: appFolder.appending(path: "settings"))

    // When the tester opens the settings:
    let server = BetaSettingsServer(settings)
    show(try await server.start())  // http://127.0.0.1:49152/?token=…, good for one browser

    // When the settings are closed:
    await server.stop()
    // example: SnapshotSettings end

    // example: ReportForm begin
    var configuration = ReportForm.Configuration()
    configuration.report = try ReportID(validating: "inbox")  // if the user names no report
    configuration.fields = [.init("severity", label: "How bad is it?", choices: ["low", "high"])]
    let form = ReportForm(mode: snapshots, reporter: reporter, configuration: configuration)
    await form.load()
    form.edit { $0.note = "The feed is empty" }
    await form.send()
    print(form.contents.id, form.contents.phase.words)
    // example: ReportForm end
    #expect(reporter.queue[form.contents.id] != nil)

    await reporter.queue.close()
    await snapshotServer.stop()
  }

  @Test(arguments: ["SnapshotSettings", "ReportForm"])
  func `the article contains exactly these lines`(marker: String) throws {
    try DocumentedExample.check(
      article: "Sources/App/SnapshotSettings/SnapshotSettings.docc/SnapshotSettings.md", code: #filePath,
      marker: marker)
  }
}
