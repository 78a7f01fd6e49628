import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientRecordsTests {
  private let records: [SnapshotRecord]

  init() throws { records = try (0..<3).map { try makeRecord(Data("\($0)".utf8)) } }

  @Test func `a list contains the records of all its pages`() async throws {
    let transport = FakeTransport([
      try page(records[0...1], next: "a&b=c/+"), try page([], next: "2"), try page(records[2...2], next: nil),
    ])
    var listed: [SnapshotRecord] = []
    for try await record in try makeClient(transport).list(report: ReportID(validating: "#1/2")) {
      listed.append(record)
    }
    #expect(listed == records)
    #expect(
      transport.requests.map(\.path) == [
        "/v1/reports/%231%2F2/snapshots?limit=100",
        "/v1/reports/%231%2F2/snapshots?limit=100&cursor=a%26b%3Dc%2F%2B",
        "/v1/reports/%231%2F2/snapshots?limit=100&cursor=2",
      ])
  }

  @Test func `a list sends all criteria of its filter with each page`() async throws {
    var filter = SnapshotFilter(report: try ReportID(validating: "#1"))
    filter.application = "com.example.news"
    filter.minimumVersion = "3"
    filter.maximumVersion = "3.4"
    filter.module = "News & more"
    filter.identifier = "feed/1"
    filter.device = "iOS 26.1"
    filter.after = Date(timeIntervalSince1970: 1_800_000_000.123)
    filter.before = Date(timeIntervalSince1970: 1_900_000_000)
    filter.text = "a b"
    let transport = FakeTransport([try page(records[0...1], next: "2"), try page(records[2...2], next: nil)])
    var count = 0
    for try await _ in try makeClient(transport).list(filter) { count += 1 }
    #expect(count == 3)
    let query = """
      application=com.example.news&minVersion=3&maxVersion=3.4&module=News%20%26%20more&identifier=feed%2F1\
      &device=iOS%2026.1&after=2027-01-15T08%3A00%3A00.123Z&before=2030-03-17T17%3A46%3A40.000Z&text=a%20b&limit=100
      """
    #expect(
      transport.requests.map(\.path) == [
        "/v1/reports/%231/snapshots?\(query)", "/v1/reports/%231/snapshots?\(query)&cursor=2",
      ])
  }

  @Test func `a page contains the total if it was requested`() async throws {
    let transport = FakeTransport([
      .status(200, body: Data(#"{"snapshots":[],"total":7,"totalIsExact":true}"#.utf8)),
      .status(202, body: Data(#"{"status":"indexing","share":0.5,"records":3}"#.utf8)),
      .status(200, body: Data(#"{"status":"ready"}"#.utf8)),
    ])
    let client = try makeClient(transport)
    let page = try await client.page(SnapshotFilter(), limit: 1, total: true)
    #expect(page.total == 7)
    #expect(page.totalIsExact)
    let progress = try await client.reindex()
    #expect(progress.status == .indexing)
    #expect(progress.share == 0.5)
    #expect(progress.records == 3)
    #expect(try await client.indexingProgress().status == .ready)
    #expect(
      transport.requests.map(\.path) == ["/v1/snapshots?limit=1&total=true", "/v1/reindex", "/v1/reindex"])
  }

  @Test func `pages are fetched as they are needed`() async throws {
    let transport = FakeTransport([try page(records[0...1], next: "2")])
    var iterator = try makeClient(transport).list().makeAsyncIterator()
    #expect(try await iterator.next() == records[0])
    #expect(try await iterator.next() == records[1])
    #expect(transport.requests.map(\.path) == ["/v1/snapshots?limit=100"])
  }

  @Test func `a page that repeats its own cursor ends the list with an error`() async throws {
    let transport = FakeTransport([try page([], next: "x"), try page([], next: "x")])
    let error = await clientError { for try await _ in try makeClient(transport).list() {} }
    #expect(error?.code == .unexpectedAnswer)
    #expect(transport.requests.count == 2)
  }

  @Test(arguments: [(4095, true), (4096, true), (4097, false)])
  func `a cursor has a size limit`(length: (count: Int, fits: Bool)) async throws {
    let client = try makeClient(
      FakeTransport([try page([], next: String(repeating: "c", count: length.count))]))
    if length.fits {
      #expect(try await client.page().next?.count == length.count)
    } else {
      #expect(await clientError { try await client.page() }?.code == .unexpectedAnswer)
    }
  }

  @Test func `a record is decoded, and invalid JSON is rejected`() async throws {
    let client = try makeClient(
      FakeTransport([
        .status(200, body: try SnapshotJSON.encode(records[0])), .status(200, body: Data("{}".utf8)),
      ]))
    #expect(try await client.record(records[0].id) == records[0])
    #expect(await clientError { try await client.record(records[0].id) }?.code == .unexpectedAnswer)
  }

  @Test func `a response has a size limit`() async throws {
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

  @Test func `a deletion whose response was lost succeeds if the snapshot is gone`() async throws {
    try await makeClient(FakeTransport([.failure(.interrupted("")), .status(410)])).delete(records[0].id)
  }

  @Test(arguments: [
    FakeTransport.Answer.foreign(200, [.contentType: "text/html"], body: Data("<title>Welcome</title>".utf8)),
    .foreign(410, [.contentType: "text/html"]),
  ])
  func `the response of something else than the server deletes nothing`(answer: FakeTransport.Answer)
    async throws
  {
    let transport = FakeTransport([.failure(.interrupted("")), answer])
    let error = await clientError { try await makeClient(transport).delete(records[0].id) }
    #expect(error?.code == .unexpectedAnswer)
  }

  @Test func `deleting a snapshot that was already deleted is an error`() async throws {
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
