import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import SnapshotSettings
import TestSupport
import Testing

/// An app's container moves between two launches, as at an update on iOS.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct MovedContainerTests {
  @Test func `the active snapshot, the recent ones and what waits move along`() async throws {
    let server = try await SampleServer()
    let (sender, receiver) = (try SampleApp(server: server.url), try SampleApp(server: server.url))
    sender.recordAll()
    try await sender.settings.upload(toReport: "BUG-123")
    await sender.settings.settle()
    let id = try #require(await sender.settings.overview().activity?.snapshot)

    // The server of the queue is not there.
    let offline = try SnapshotAPIClient(server: try #require(URL(string: "http://127.0.0.1:1")))
    func launch(_ container: URL, _ mode: SnapshotMode) throws -> (BetaSettings, UploadQueue) {
      let reporter = try BugReporter(queue: container.appending(path: "queue"), client: offline) { bug, zip in
        try await mode.makeSnapshot(report: bug.report, note: bug.note, fields: bug.fields, to: zip)
      }
      let settings = BetaSettings(
        mode: mode, client: receiver.client, reporter: reporter, folder: container.appending(path: "settings")
      )
      return (settings, reporter.queue)
    }
    receiver.recordAll()
    let (settings, queue) = try launch(receiver.temporary.url, receiver.mode)
    try await settings.upload(toReport: "BUG-7")
    await settings.settle()
    try settings.activate(id.description)
    await settings.settle()
    let before = await settings.overview()
    #expect(before.recent.first?.id == id && before.active?.id == id)
    #expect(before.uploads.count == 1)
    await queue.close()
    await receiver.mode.close()

    let moved = receiver.temporary.file("another container")
    try FileManager.default.createDirectory(at: moved, withIntermediateDirectories: true)
    for name in ["settings", "snapshots", "queue"] {
      try FileManager.default.moveItem(at: receiver.temporary.file(name), to: moved.appending(path: name))
    }
    let mode = SnapshotMode(folder: moved.appending(path: "snapshots"))
    let (again, movedQueue) = try launch(moved, mode)
    let after = await again.overview()
    #expect(after.active == before.active)
    #expect(after.recent == before.recent)
    #expect(after.report.state == .replaying)
    #expect(after.uploads.map(\.id) == before.uploads.map(\.id))
    #expect(after.activity == nil)
    let data = mode.process(data: Data("rain".utf8), uniqueIdentifier: "forecast/today")
    #expect(String(decoding: data, as: UTF8.self) == "sunny")
    for name in ["settings", "snapshots", "queue"] {
      #expect(!FileManager.default.fileExists(atPath: receiver.temporary.file(name).path))
    }
    await movedQueue.close()
    await mode.close()
    await server.stop()
  }
}
