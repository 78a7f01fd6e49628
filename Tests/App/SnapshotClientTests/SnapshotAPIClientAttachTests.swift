import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientAttachTests {
  private let folder: TemporaryFolder
  private let contents = makeBytes(100_000)
  private let bundle: URL
  private let id = SnapshotID()

  init() throws {
    folder = try TemporaryFolder()
    bundle = try folder.write(contents, to: "bundle.zip")
  }

  @Test func `a bundle is sent under its id with its digest`() async throws {
    let record = try makeRecord(contents, id: id)
    let json = try SnapshotJSON.encode(record)
    let received = Lock(Data())
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      received.withLock { $0 = body }
      try connection.respond("201 Created", ["Content-Type: application/json"], body: json)
    }
    let client = try SnapshotAPIClient(server: server.url, token: "s3cret")
    let log = ProgressLog()
    let answer = try await client.attach(bundle, to: try ReportID(validating: "BUG-1"), as: id) {
      log.record($0)
    }
    #expect(answer == record)
    #expect(received.withLock { $0 } == contents)
    let request = try #require(server.requests.first)
    #expect(request.line == "PUT /v1/reports/BUG-1/snapshots/\(id) HTTP/1.1")
    #expect(request["content-type"] == "application/zip")
    #expect(request["authorization"] == "Bearer s3cret")
    #expect(request["repr-digest"].map { "Repr-Digest: \($0)" } == digestField(contents))
    #expect(log.states.last?.completed == 100_000)
  }

  @Test func `without an id the server chooses one`() async throws {
    let record = try makeRecord(contents)
    let transport = FakeTransport([.status(201, body: try SnapshotJSON.encode(record))])
    let client = try makeClient(transport)
    #expect(try await client.attach(bundle, to: try ReportID(validating: "BUG-1"), as: nil) == record)
    #expect(transport.requests.first?.method == .post)
    #expect(transport.requests.first?.path == "/v1/reports/BUG-1/snapshots")
  }

  @Test(arguments: [
    ("proj/issue/9", "proj%2Fissue%2F9"), ("#4567", "%234567"), ("a:b@c+d~e", "a%3Ab%40c%2Bd~e"),
  ])
  func `a report's name is one component of the path`(report: (name: String, part: String)) async throws {
    let transport = FakeTransport([.status(404)])
    let client = try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1/tools/snapshots/")), transport: transport)
    await #expect(throws: SnapshotClientError.self) {
      try await client.attach(bundle, to: try ReportID(validating: report.name), as: id)
    }
    #expect(transport.requests.first?.path == "/tools/snapshots/v1/reports/\(report.part)/snapshots/\(id)")
  }

  @Test func `an interrupted upload is repeated under its id`() async throws {
    let json = try SnapshotJSON.encode(try makeRecord(contents, id: id))
    let server = try ScriptedServer(
      { connection in
        try connection.readHead()
        connection.reset()
      },
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", body: json)
      })
    let sleeps = SleepLog()
    let client = try SnapshotAPIClient(
      server: server.url, configuration: .forTests(sleeps: sleeps, random: 0.5))
    _ = try await client.attach(bundle, to: try ReportID(validating: "BUG-1"), as: id)
    #expect(server.requests.map(\.method) == ["PUT", "PUT"])
    #expect(sleeps.seconds == [0.125])
  }

  @Test func `an upload without an id is not repeated once bytes were sent`() async throws {
    let server = try ScriptedServer { connection in try connection.readRequest() }
    let client = try SnapshotAPIClient(server: server.url, configuration: .forTests())
    let error = await clientError {
      try await client.attach(bundle, to: try ReportID(validating: "BUG-1"), as: nil)
    }
    #expect(error?.code == .interrupted)
    #expect(server.requests.count == 1)
  }

  @Test func `an upload without an id is repeated if no connection was made`() async throws {
    let record = try makeRecord(contents)
    let transport = FakeTransport([
      .failure(.connectionFailed("refused")), .status(201, body: try SnapshotJSON.encode(record)),
    ])
    #expect(
      try await makeClient(transport).attach(bundle, to: try ReportID(validating: "BUG-1"), as: nil) == record
    )
    #expect(transport.requests.count == 2)
  }

  @Test func `the server's problem description reaches the caller`() async throws {
    let problem = """
      {"type": "urn:data-snapshots:problem:snapshot-differs", "title": "Taken", "status": 409,
       "detail": "Another bundle\\u0007 has this id.", "requestID": "r-17"}
      """
    let transport = FakeTransport([
      .status(409, [.contentType: "application/problem+json"], body: Data(problem.utf8))
    ])
    let error = await clientError {
      try await makeClient(transport).attach(bundle, to: try ReportID(validating: "B"), as: id)
    }
    #expect(error?.code == .conflict)
    #expect(error?.status == 409)
    #expect(error?.problem?.type == "urn:data-snapshots:problem:snapshot-differs")
    #expect(error?.problem?.title == "Taken")
    #expect(error?.problem?.requestID == "r-17")
    #expect(
      error?.description == """
        The server has a different snapshot with that UUID: Another bundle  has this id; \
        attach it with another UUID (request r-17).
        """)
  }

  @Test(
    arguments: [
      (400, .refused), (401, .unauthorized), (403, .forbidden), (404, .notFound),
      (410, .gone), (413, .bundleTooLarge), (415, .refused), (422, .refused), (500, .serverFailed),
      (507, .serverFull),
    ] as [(Int, SnapshotClientError.Code)])
  func `a rejection has a code, and is not repeated`(answer: (status: Int, code: SnapshotClientError.Code))
    async throws
  {
    let transport = FakeTransport([.status(answer.status)])
    let error = await clientError {
      try await makeClient(transport).attach(bundle, to: try ReportID(validating: "B"), as: id)
    }
    #expect(error?.code == answer.code)
    #expect(error?.status == answer.status)
    #expect(error?.problem?.title == "Refused")
    #expect(transport.requests.count == 1)
  }

  @Test func `a response with another digest is an error`() async throws {
    let other = try SnapshotJSON.encode(try makeRecord(Data("other".utf8), id: id))
    let error = await clientError {
      try await makeClient(FakeTransport([.status(201, body: other)])).attach(
        bundle, to: try ReportID(validating: "B"), as: id)
    }
    #expect(error?.code == .unexpectedAnswer)
  }

  @Test func `with a missing bundle, nothing is sent`() async throws {
    let transport = FakeTransport([])
    let error = await clientError {
      try await makeClient(transport).attach(
        folder.file("missing.zip"), to: try ReportID(validating: "B"), as: id)
    }
    #expect(error?.code == .file)
    #expect(transport.requests.isEmpty)
  }

  @Test func `a form that is larger than a request may be is not sent`() async throws {
    let size = Lock(0)
    let record = try makeRecord(contents, id: id)
    let json = try SnapshotJSON.encode(record)
    let server = try ScriptedServer { connection in
      let (_, body) = try connection.readRequest()
      size.withLock { $0 = body.count }
      try connection.respond("201 Created", ["Content-Type: application/json"], body: json)
    }
    func attach(limit: Int64?) async throws {
      var configuration = SnapshotAPIClient.Configuration.forTests()
      configuration.resumption.maximumRequestBody = limit
      let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
      try await client.attach(bundle, to: ReportID(validating: "BUG-1"), as: id, note: "It broke")
    }
    try await attach(limit: nil)
    let form = size.withLock { $0 }
    #expect(form > contents.count)
    try await attach(limit: Int64(form))
    #expect(server.requests.count == 2)
    let error = await clientError { try await attach(limit: Int64(form) - 1) }
    #expect(error?.code == .invalidRequest)
    #expect(error?.description.contains("one form of \(form) bytes") == true)
    #expect(server.requests.count == 2)
  }

  #if os(Linux)
    @Test(.disabled(if: Sanitizer.isActive, "its memory is not the product's"), arguments: [false, true])
    func `a bundle of 200 MB needs no more memory than a small one`(isResumable: Bool) async throws {
      // A separate process, so that the memory of other tests does not count.
      await #expect(processExitsWith: .success) { [isResumable] in
        let size = 200_000_000
        let folder = try TemporaryFolder()
        let file = try folder.write(Data(), to: "large.zip")
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: UInt64(size))
        try handle.close()
        let server = try ScriptedServer { connection in
          let head = try connection.readHead()
          if head["expect"] != nil { try connection.write("HTTP/1.1 100 Continue\r\n\r\n") }
          let count = head["content-length"].flatMap { Int($0) } ?? 0
          try connection.readBody(count) { _ in }
          switch (head.method, head["upload-complete"]) {
          case ("PUT", "?0") where isResumable:
            try connection.respond("201 Created", ["Location: /v1/uploads/1", "Upload-Complete: ?0"])
          case ("PATCH", "?0"): try connection.respond("204 No Content", ["Upload-Complete: ?0"])
          default: try connection.respond("422 Unprocessable Content", ["Upload-Complete: ?1"])
          }
        }
        var configuration = SnapshotAPIClient.Configuration.forTests()
        if !isResumable { configuration.resumption.threshold = nil }
        let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
        let before = try SnapshotAPIClientAttachTests.peakBytes()
        let error = await clientError {
          try await client.attach(file, to: try ReportID(validating: "B"), as: SnapshotID()) { _ in }
        }
        #expect(error?.status == 422)
        #expect(server.requests.count == 1 || isResumable)
        #expect(try SnapshotAPIClientAttachTests.peakBytes() - before < 30_000_000)
      }
    }

    /// The peak memory of the process.
    fileprivate static func peakBytes() throws -> Int {
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
      return try #require(line.split(separator: " ").compactMap { Int($0) }.first) * 1024
    }
  #endif

  private func makeClient(_ transport: FakeTransport) throws -> SnapshotAPIClient {
    try SnapshotAPIClient(
      server: try #require(URL(string: "http://localhost:1")), transport: transport,
      configuration: .forTests())
  }
}

/// Returns the client error that `work` throws; records other results as issues.
func clientError<Value>(_ work: () async throws -> Value) async -> SnapshotClientError? {
  do {
    _ = try await work()
    Issue.record("nothing was thrown")
  } catch let error as SnapshotClientError {
    return error
  } catch {
    Issue.record(error)
  }
  return nil
}
