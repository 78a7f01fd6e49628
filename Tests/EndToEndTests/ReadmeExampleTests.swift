import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The README's lines for an app, run as they stand there.
@Suite struct ReadmeExampleTests {
  @Test func `the ten lines for an app work`() async throws {
    let folder = try TemporaryFolder()
    let testServer = try await TestServer(storage: folder.file("storage"))
    let (storage, zip, download) = (folder.file("app"), folder.file("a.zip"), folder.file("b.zip"))
    let (server, downloaded) = (testServer.url, Data("yesterday".utf8))

    // example: README begin
    let snapshots = SnapshotMode(folder: storage)
    snapshots.register(module: "Feed", files: ["feed", "profile"])
    snapshots.state = .recording

    // Wherever data passes: the one line.
    let feed = snapshots.process(data: downloaded, uniqueIdentifier: "feed")

    // When the user reports a bug:
    let packed = try await snapshots.makeSnapshot(report: ReportID("BUG-123"), to: zip)
    let client = try SnapshotAPIClient(server: server)
    try await client.attach(zip, to: ReportID("BUG-123"), as: packed.manifest.id)

    // When a developer wants to see it:
    try await client.fetch(packed.manifest.id, to: download)
    try await snapshots.activate(bundle: download)  // from here on `process` gives what the user saw
    // example: README end

    #expect(feed == downloaded)
    #expect(snapshots.state == .replaying)
    #expect(snapshots.process(data: Data("today".utf8), uniqueIdentifier: "feed") == downloaded)
  }

  @Test func `the README shows just those lines`() throws {
    try DocumentedExample.check(article: "README.md", code: #filePath, marker: "README")
  }
}
