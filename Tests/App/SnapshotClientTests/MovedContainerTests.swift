import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// An app's container moves between two launches, as at an update on iOS.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct MovedContainerTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  private var moved: URL { fixture.folder.file("another container/queue") }

  private func move() throws {
    try FileManager.default.createDirectory(
      at: moved.deletingLastPathComponent(), withIntermediateDirectories: true)
    try FileManager.default.moveItem(at: fixture.queue, to: moved)
  }

  @Test func `a queue keeps what waits, what failed and what is done`() async throws {
    let first = try fixture.reporter(
      UploadTransport([.status(413), .status(500)]))
    let failed = try await first.attach(report: fixture.report)
    let failure = try #require(await first.queue.outcome(of: failed))
    let waiting = try await first.attach(report: fixture.report)
    try await first.queue.upload(waiting, waitingFor: .time)
    let done = try await first.attach(report: fixture.report)
    #expect(await first.queue.outcome(of: done)?.state == .done)
    let before = first.queue.items
    let files = try fixture.files()
    await first.queue.close()
    try move()

    let second = try fixture.reporter(UploadTransport(), at: moved)
    #expect(second.queue.unreadable.isEmpty)
    #expect(second.queue.items.map(\.id) == before.map(\.id))
    #expect(second.queue[done]?.state == .done)
    #expect(second.queue[failed]?.state == failure.state)
    #expect(second.queue[waiting]?.failures == 1)
    #expect(try fixture.files(at: moved) == files)
    second.queue.retryAllNow()
    #expect(await second.queue.outcome(of: waiting)?.state == .done)
    #expect(!FileManager.default.fileExists(atPath: fixture.queue.path))
    await second.queue.close()
  }

  @Test func `an upload is resumed where it broke, and no byte is sent again`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 10_000))
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    let client = try SnapshotAPIClient(server: server.url, token: nil, configuration: configuration)
    let reporter = { (queue: URL) in
      try BugReporter(
        queue: queue, client: client, configuration: fixture.configuration(), freeze: fixture.freezer)
    }
    let first = try reporter(fixture.queue)
    let id = try await first.attach(report: fixture.report)
    let broken = try await first.queue.upload(id, waitingFor: .time)
    let size = try Data(contentsOf: fixture.queue.appending(path: "items/\(id)/bundle.zip")).count
    await first.queue.close()
    try move()

    fixture.clock.set(try #require(broken.nextTry))
    let second = try reporter(moved)
    #expect(await second.queue.outcome(of: id)?.state == .done)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [10_000, size - 10_000])
    #expect(try fixture.files(at: moved) == ["items/\(id)/state.json"])
    await second.queue.close()
  }

  @Test func `a download is resumed where it broke`() async throws {
    let contents = makeBytes(100_000)
    let head = "ETag: \"v1\"\r\n\(digestField(contents))\r\n"
    let server = try ScriptedServer(
      { connection in
        try connection.readRequest()
        try connection.write("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\(head)\r\n")
        try connection.write(Array(contents.prefix(70_000)))
      },
      { connection in
        try connection.readRequest()
        try connection.write(
          "HTTP/1.1 206 Partial Content\r\nContent-Length: 30000\r\n"
            + "Content-Range: bytes 70000-99999/100000\r\n\(head)\r\n")
        try connection.write(Array(contents.suffix(30_000)))
      })
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.retries.attempts = 1
    let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
    let id = SnapshotID()
    try FileManager.default.createDirectory(at: fixture.queue, withIntermediateDirectories: true)
    let error = await clientError {
      try await client.fetch(id, to: fixture.queue.appending(path: "bundle.zip"))
    }
    #expect(error?.code == .interrupted)
    try move()
    _ = try await client.fetch(id, to: moved.appending(path: "bundle.zip"))
    #expect(server.requests[1]["range"] == "bytes=70000-")
    #expect(try Data(contentsOf: moved.appending(path: "bundle.zip")) == contents)
  }

  @Test func `the state file of an upload moves with its bundle`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 30_000))
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    configuration.retries.attempts = 1
    let client = try SnapshotAPIClient(server: server.url, token: nil, configuration: configuration)
    let (id, contents) = (SnapshotID(), makeBytes(100_000))
    let former = try fixture.folder.write(contents, to: "queue/bundle.zip")
    await #expect(throws: SnapshotClientError.self) {
      try await client.attach(
        former, to: fixture.report, as: id, state: former.deletingLastPathComponent().appending(path: "state")
      )
    }
    try move()
    try await client.attach(
      moved.appending(path: "bundle.zip"), to: fixture.report, as: id, state: moved.appending(path: "state"))
    #expect(server.received == [30_000, 70_000])
    #expect(server.attached == ["/v1/reports/BUG-1/snapshots/\(id)": contents])
  }
}
