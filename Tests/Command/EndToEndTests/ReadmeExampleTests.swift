import DataSnapshots
import Foundation
import SnapshotClient
import TestSupport
import Testing

/// The README's lines for an app, compiled and run.
@Suite struct ReadmeExampleTests {
  @Test func `the ten lines for an app work`() async throws {
    let folder = try TemporaryFolder()
    let testServer = try await TestServer(storage: folder.file("storage"))
    let (storage, queue, download) = (folder.file("app"), folder.file("queue"), folder.file("b.zip"))
    let (server, downloaded) = (testServer.url, Data("yesterday".utf8))

    // example: README begin
    // At launch:
    let snapshots = SnapshotMode(folder: storage)
    snapshots.register(module: "Feed", files: ["feed", "profile"])
    let client = try SnapshotAPIClient(server: server)
    let reporter = try BugReporter(queue: queue, client: client) { bug, zip in
      try await snapshots.makeSnapshot(for: bug, to: zip)
    }

    // Where data enters the app, before it is decoded:
    snapshots.state = .recording
    let feed = snapshots.process(data: downloaded, uniqueIdentifier: "feed")

    // When the user reports a bug. Returns the snapshot's UUID without waiting for the network:
    let id = try await reporter.attach(report: ReportID(validating: "BUG-123"), note: "The feed is empty")
    // example: README end
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    await reporter.queue.close()

    // example: README later begin
    // In a developer's build of the same app:
    try await client.fetch(id, to: download)
    try await snapshots.activate(bundle: download)  // `process` now returns what the user saw
    // example: README later end

    #expect(feed == downloaded)
    #expect(snapshots.state == .replaying)
    #expect(snapshots.process(data: Data("today".utf8), uniqueIdentifier: "feed") == downloaded)
  }

  @Test func `the README shows exactly those lines`() throws {
    for marker in ["README", "README later"] {
      try DocumentedExample.check(article: "README.md", code: #filePath, marker: marker)
    }
  }
}
