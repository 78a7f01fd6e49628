import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The reporter with the real server, and the lines of the article.
@Suite struct AttachingToReportsTests {
  @Test func `the article's lines for an app work`() async throws {
    let folder = try TemporaryFolder()
    let testServer = try await TestServer(storage: folder.file("storage"))
    let (server, container) = (testServer.url, folder.url)
    let snapshots = SnapshotMode(folder: folder.file("app"))
    snapshots.state = .recording
    _ = snapshots.process(data: Data("yesterday".utf8), uniqueIdentifier: "feed")

    // example: AttachingToReports begin
    // Once, at launch. Uploads that were not finished in the last launch continue.
    let reporter = try BugReporter(
      queue: container.appending(path: "Reports"), client: SnapshotAPIClient(server: server)
    ) { bug, zip in
      try await snapshots.makeSnapshot(for: bug, to: zip)
    }

    // When the user reports a bug. The report can contain this UUID at once.
    let id = try await reporter.attach(report: ReportID(validating: "BUG-123"), note: "The feed is empty")

    // To observe the upload:
    for await upload in reporter.queue.updates() where upload.id == id {
      switch upload.state {
      case .waiting(let reason): print("waits for", reason, upload.lastFailure?.description ?? "")
      case .uploading: print("sent", upload.sent, "of", upload.size)
      case .failed(let failure): print("given up:", failure)
      case .done, .removed: print("done")
      }
      if upload.state.isFinal { break }
    }
    // example: AttachingToReports end

    #expect(reporter.queue[id]?.state == .done)
    let client = try SnapshotAPIClient(server: server)
    #expect(try await client.record(id).report.description == "BUG-123")
    try await client.fetch(id, to: folder.file("fetched.zip"))
    try await snapshots.activate(bundle: folder.file("fetched.zip"))
    #expect(
      snapshots.process(data: Data("today".utf8), uniqueIdentifier: "feed") == Data("yesterday".utf8))
  }

  @Test func `the article shows exactly those lines`() throws {
    try DocumentedExample.check(
      article: "Sources/App/SnapshotClient/SnapshotClient.docc/AttachingToReports.md", code: #filePath,
      marker: "AttachingToReports")
  }

  @Test func `a bundle attached while the server is down arrives exactly once later`() async throws {
    let folder = try TemporaryFolder()
    let snapshots = SnapshotMode(folder: folder.file("app"))
    snapshots.state = .recording
    _ = snapshots.process(data: Data("yesterday".utf8), uniqueIdentifier: "feed")
    let first = try await TestServer(storage: folder.file("storage"))
    let port = try #require(first.url.port)
    var configuration = UploadQueue.Configuration()
    // Attempts are repeated only when the test requests it.
    configuration.environment = ClientEnvironment(sleep: { _ in try await Signal.waitForCancellation() })
    func open() throws -> BugReporter {
      try BugReporter(
        queue: folder.file("reports"), client: SnapshotAPIClient(server: first.url),
        configuration: configuration
      ) { try await snapshots.makeSnapshot(for: $0, to: $1) }
    }

    let reporter = try open()
    let report = try ReportID(validating: "BUG-7")
    let before = try await reporter.attach(report: report)
    #expect(await reporter.queue.outcome(of: before)?.state == .done)
    await first.program.stop(SIGKILL)
    let meanwhile = try await reporter.attach(report: report)
    for await upload in reporter.queue.updates()
    where upload.id == meanwhile && upload.state == .waiting(.time) {
      #expect(upload.lastFailure?.code == .connectionFailed)
      break
    }
    await reporter.queue.close()

    // The app is launched again before the server is running again.
    let relaunched = try open()
    let after = try await relaunched.attach(report: report)
    let second = try await TestServer(storage: folder.file("storage"), ["--port", "\(port)"])
    relaunched.queue.networkChanged()
    for id in [meanwhile, after] {
      while relaunched.queue[id]?.state != .done {
        for await upload in relaunched.queue.updates() where upload.id == id {
          if upload.state == .done || upload.state == .waiting(.time) { break }
        }
        relaunched.queue.retryAllNow()
      }
    }
    let listed = try await SnapshotAPIClient(server: second.url).page(of: report).records.map(\.id)
    #expect(Set(listed) == [before, meanwhile, after])
    #expect(listed.count == 3)
  }
}
