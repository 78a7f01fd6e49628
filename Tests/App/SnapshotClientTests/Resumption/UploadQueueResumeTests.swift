import Foundation
import HTTPClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import SnapshotClient

/// A queue's resumable uploads, across relaunches.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct UploadQueueResumeTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  private func reporter(
    _ server: DraftServer, at queue: URL? = nil, token: String? = nil, folder: QueueFolder? = nil
  ) throws -> BugReporter {
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    let client = try SnapshotAPIClient(server: server.url, token: token, configuration: configuration)
    guard let folder else {
      return try BugReporter(
        queue: queue ?? fixture.queue, client: client, configuration: fixture.configuration(),
        freeze: fixture.freezer)
    }
    return BugReporter(
      queue: try UploadQueue(folder: folder, client, fixture.configuration()), freeze: fixture.freezer)
  }

  @Test func `the next launch sends only the remaining bytes`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 10_000))
    let first = try reporter(server)
    let id = try await first.attach(report: fixture.report)
    let broken = try await first.queue.upload(id, waitingFor: .time)
    #expect(broken.lastFailure?.code == .interrupted)
    let bundle = try Data(contentsOf: fixture.queue.appending(path: "items/\(id)/bundle.zip"))
    #expect(
      try fixture.files() == [
        "items/\(id)/bundle.zip", "items/\(id)/state.json", "items/\(id)/upload.json",
      ])
    await first.queue.close()

    fixture.clock.set(try #require(broken.nextTry))
    let second = try reporter(server)
    #expect(await second.queue.outcome(of: id)?.state == .done)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [10_000, bundle.count - 10_000])
    #expect(server.attached == ["/v1/reports/BUG-1/snapshots/\(id)": bundle])
    #expect(try fixture.files() == ["items/\(id)/state.json"])
    await second.queue.close()
  }

  @Test func `an app that ends before it stores its success sends nothing again`() async throws {
    try Folder.create(fixture.folder.file("copies").path)
    let folder = try QueueFolder(fixture.queue.path) { [fixture] (step) throws(SystemError) in
      guard step == .saveState else { return }
      do {
        try FileManager.default.copyItem(at: fixture.queue, to: fixture.folder.file("copies/queue"))
      } catch { Issue.record(error) }
    }
    let server = try DraftServer()
    let first = try reporter(server, folder: folder)
    let id = try await first.attach(report: fixture.report)
    #expect(await first.queue.outcome(of: id)?.state == .done)
    await first.queue.close()
    let second = try reporter(server, at: fixture.folder.file("copies/queue"))
    #expect(await second.queue.outcome(of: id)?.state == .done)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received.count == 1)
    await second.queue.close()
  }

  @Test func `an attempt with progress does not increase the delay of the next one`() async throws {
    let server = try DraftServer()
    for _ in 0..<4 { server.fail("PATCH", .cut(afterBodyBytes: 1000)) }
    for _ in 0..<3 { server.fail("PATCH", .answer("500 Not now")) }
    let reporter = try reporter(server)
    let id = try await reporter.attach(report: fixture.report)
    var waits: [Double] = []
    var (failures, kept): ([Int], [Int64]) = ([], [])
    for _ in 0..<7 {
      let item = try await reporter.queue.upload(id, waitingFor: .time)
      let due = try #require(item.nextTry)
      waits.append(due.timeIntervalSince(fixture.clock.now))
      failures.append(item.failures)
      kept.append(item.kept)
      await fixture.clock.reach(due)
      if waits.count == 7 { break }
      try await reporter.queue.upload(id) { $0.state == .uploading || $0.nextTry != due }
    }
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    // The bytes stored by an attempt are known after the first request of the next one.
    #expect(kept == [0, 1000, 2000, 3000, 4000, 4000, 4000])
    #expect(failures == [1, 1, 1, 1, 1, 2, 3])
    #expect(waits.map { ($0 * 10).rounded() / 10 } == [2.5, 2.5, 2.5, 2.5, 2.5, 5, 10])
    await reporter.queue.close()
  }

  @Test func `progress is the number of bytes that the server has`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 5000))
    let reporter = try reporter(server)
    let id = try await reporter.attach(report: fixture.report)
    let broken = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(broken.progress == nil)
    let updates = Task {
      var told: Set<Int64> = []
      for await item in reporter.queue.updates() {
        if let progress = item.progress { told.insert(progress.completed) }
        if item.state.isFinal { break }
      }
      return told
    }
    await fixture.clock.reach(try #require(broken.nextTry))
    let seen = await updates.value
    #expect(seen.isSubset(of: [0, 5000, broken.size]))
    await reporter.queue.close()
  }

  @Test func `if the server does not find the interrupted upload, a new one is started`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 5000))
    let first = try reporter(server)
    let id = try await first.attach(report: fixture.report)
    let broken = try await first.queue.upload(id, waitingFor: .time)
    server.fail("HEAD", .answer("404 Not Found"))
    await fixture.clock.reach(try #require(broken.nextTry))
    let done = try #require(await first.queue.outcome(of: id))
    #expect(done.state == .done)
    #expect(server.received == [5000, Int(done.size)])
    await first.queue.close()
  }
}
