import Foundation
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// The queue over real connections.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ReportingServerTests {
  private let fixture: ReportingFixture

  init() throws { fixture = try ReportingFixture() }

  @Test func `an upload whose response was lost is repeated under the same UUID`() async throws {
    let server = try ScriptedServer(
      { connection in
        try connection.readRequest()
        connection.reset()
      },
      { connection in
        let (head, body) = try connection.readRequest()
        let id = SnapshotID(head.target.split(separator: "/").last.map(String.init) ?? "")
        let record = try makeRecord(body, id: id ?? SnapshotID())
        try connection.respond("200 OK", body: SnapshotJSON.encode(record))
      })
    let client = try SnapshotAPIClient(server: server.url, token: "s3cret")
    let reporter = try BugReporter(
      queue: fixture.queue, client: client, configuration: fixture.configuration(), freeze: fixture.freezer)
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.lastFailure?.code == .interrupted)
    #expect(server.requests.count == 1)
    await fixture.clock.reach(try #require(item.nextTry))
    #expect(await reporter.queue.outcome(of: id)?.state == .done)
    #expect(
      server.requests.map(\.line)
        == Array(
          repeating: "PUT /v1/reports/BUG-1/snapshots/\(id) HTTP/1.1", count: 2))
    #expect(server.requests[0]["repr-digest"] == server.requests[1]["repr-digest"])
  }

  @Test func `the response of a captive portal does not count as the server's`() async throws {
    let server = try ScriptedServer(
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", ["Content-Type: text/html"], body: Array("<h1>Log in</h1>".utf8))
      })
    let reporter = try BugReporter(
      queue: fixture.queue, client: try SnapshotAPIClient(server: server.url),
      configuration: fixture.configuration(), freeze: fixture.freezer)
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.lastFailure?.code == .unexpectedAnswer)
    #expect(item.hasBundle)
  }

  @Test func `without a server an upload waits, with the reason`() async throws {
    let port = try ScriptedServer.unusedPort()
    let reporter = try BugReporter(
      queue: fixture.queue,
      client: try SnapshotAPIClient(server: try #require(URL(string: "http://127.0.0.1:\(port)"))),
      configuration: fixture.configuration(), freeze: fixture.freezer)
    let id = try await reporter.attach(report: fixture.report)
    let item = try await reporter.queue.upload(id, waitingFor: .time)
    #expect(item.lastFailure?.code == .connectionFailed)
    #expect(item.lastFailure?.description.contains("can't be reached") == true)
  }
}
