import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The reporter with the real server, and the article's lines run as they stand there.
@Suite struct AttachingToReportsTests {
  @Test func `the article's lines for an app work`() async throws {
    let folder = try TemporaryFolder()
    let testServer = try await TestServer(storage: folder.file("storage"))
    let (server, container) = (testServer.url, folder.url)
    let snapshots = SnapshotMode(folder: folder.file("app"))
    snapshots.state = .recording
    _ = snapshots.process(data: Data("yesterday".utf8), uniqueIdentifier: "feed")

    // example: AttachingToReports begin
    // Once, at launch. What waits from the last launch goes on by itself.
    let reporter = try BugReporter(
      queue: container.appending(path: "Reports"), client: SnapshotAPIClient(server: server)
    ) { report, zip in
      try await snapshots.makeSnapshot(report: report, to: zip)
    }

    // When the user reports a bug: the UUID is there at once, for the report to name.
    let id = try await reporter.attach(report: ReportID(validating: "BUG-123"))

    // Where somebody wants to know what becomes of it:
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

  @Test func `the article shows just those lines`() throws {
    try DocumentedExample.check(
      article: "Sources/App/SnapshotClient/SnapshotClient.docc/AttachingToReports.md", code: #filePath,
      marker: "AttachingToReports")
  }

  @Test func `what was attached while the server was dead arrives, once, when it is back`() async throws {
    let folder = try TemporaryFolder()
    let snapshots = SnapshotMode(folder: folder.file("app"))
    snapshots.state = .recording
    _ = snapshots.process(data: Data("yesterday".utf8), uniqueIdentifier: "feed")
    let first = try await TestServer(storage: folder.file("storage"))
    let port = try #require(first.url.port)
    var configuration = UploadQueue.Configuration()
    // The next try comes when the test says so.
    configuration.environment = ClientEnvironment(sleep: { _ in try await Task.sleep(for: .seconds(3600)) })
    func open() throws -> BugReporter {
      try BugReporter(
        queue: folder.file("reports"), client: SnapshotAPIClient(server: first.url),
        configuration: configuration
      ) { try await snapshots.makeSnapshot(report: $0, to: $1) }
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

    // The app is launched again while the server still is not there, and then the server comes back.
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
