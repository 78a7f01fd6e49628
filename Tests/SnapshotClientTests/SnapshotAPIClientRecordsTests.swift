import Foundation
import HTTPTransport
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

@Suite struct SnapshotAPIClientRecordsTests {
  private let records: [SnapshotRecord]

  init() throws { records = try (0..<3).map { try makeRecord(Data("\($0)".utf8)) } }

  @Test func `a list goes through its pages`() async throws {
    let transport = FakeTransport([
      try page(records[0...1], next: "a&b=c/+"), try page([], next: "2"), try page(records[2...2], next: nil),
    ])
    var listed: [SnapshotRecord] = []
    for try await record in try makeClient(transport).list(report: ReportID("#1/2")) { listed.append(record) }
    #expect(listed == records)
    #expect(
      transport.requests.map(\.path) == [
        "/v1/reports/%231%2F2/snapshots?limit=100",
        "/v1/reports/%231%2F2/snapshots?limit=100&cursor=a%26b%3Dc%2F%2B",
        "/v1/reports/%231%2F2/snapshots?limit=100&cursor=2",
      ])
  }

  @Test func `pages are fetched as they are asked for`() async throws {
    let transport = FakeTransport([try page(records[0...1], next: "2")])
    var iterator = try makeClient(transport).list().makeAsyncIterator()
    #expect(try await iterator.next() == records[0])
    #expect(try await iterator.next() == records[1])
    #expect(transport.requests.map(\.path) == ["/v1/snapshots?limit=100"])
  }

  @Test func `a page that names itself as the next one ends the list with an error`() async throws {
    let transport = FakeTransport([try page([], next: "x"), try page([], next: "x")])
    let error = await clientError { for try await _ in try makeClient(transport).list() {} }
    #expect(error?.code == .unexpectedAnswer)
    #expect(transport.requests.count == 2)
  }

  @Test(arguments: [(4095, true), (4096, true), (4097, false)])
  func `a cursor has a limit`(length: (count: Int, fits: Bool)) async throws {
    let client = try makeClient(
      FakeTransport([try page([], next: String(repeating: "c", count: length.count))]))
    if length.fits {
      #expect(try await client.page().next?.count == length.count)
    } else {
      #expect(await clientError { try await client.page() }?.code == .unexpectedAnswer)
    }
  }

  @Test func `a record is read, and what is none is refused`() async throws {
    let client = try makeClient(
      FakeTransport([
        .status(200, body: try SnapshotJSON.encode(records[0])), .status(200, body: Data("{}".utf8)),
      ]))
    #expect(try await client.record(records[0].id) == records[0])
    #expect(await clientError { try await client.record(records[0].id) }?.code == .unexpectedAnswer)
  }

  @Test func `an answer has a limit`() async throws {
    let json = try SnapshotJSON.encode(records[0])
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK", body: json)
    }
    for (limit, fits) in [(json.count - 1, false), (json.count, true), (json.count + 1, true)] {
      var configuration = SnapshotAPIClient.Configuration.forTests()
      configuration.limits.answerBytes = limit
      let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
      if fits {
        #expect(try await client.record(records[0].id) == records[0])
      } else {
        #expect(await clientError { try await client.record(records[0].id) }?.code == .unexpectedAnswer)
      }
    }
  }

  @Test func `a snapshot is deleted`() async throws {
    let transport = FakeTransport([.status(204)])
    try await makeClient(transport).delete(records[0].id)
    #expect(transport.requests.map(\.method) == [.delete])
    #expect(transport.requests.map(\.path) == ["/v1/snapshots/\(records[0].id)"])
  }

  @Test func `a deletion whose answer was lost is done when the snapshot is gone`() async throws {
    try await makeClient(FakeTransport([.failure(.interrupted("")), .status(410)])).delete(records[0].id)
  }

  @Test func `a snapshot that was gone before is told`() async throws {
    let client = try makeClient(FakeTransport([.status(410)]))
    #expect(await clientError { try await client.delete(records[0].id) }?.code == .gone)
  }

  private func page(_ records: ArraySlice<SnapshotRecord>, next: String?) throws -> FakeTransport.Answer {
    struct Page: Encodable {
      let snapshots: [SnapshotRecord]
      let next: String?
    }
    return .status(200, body: try SnapshotJSON.encode(Page(snapshots: Array(records), next: next)))
  }

  private func makeClient(_ transport: FakeTransport) throws -> SnapshotAPIClient {
    try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1")), transport: transport,
      configuration: .forTests())
  }
}
