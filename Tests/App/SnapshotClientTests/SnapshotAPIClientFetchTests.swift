import Foundation
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientFetchTests {
  private let folder: TemporaryFolder
  private let contents = makeBytes(200_000)
  private let id = SnapshotID()
  private let file: URL

  init() throws {
    folder = try TemporaryFolder()
    file = folder.file("bundle.zip")
  }

  @Test func `a bundle with the server's digest is moved to its path`() async throws {
    let server = try ScriptedServer(whole())
    let log = ProgressLog()
    let bundle = try await makeClient(server).fetch(id, to: file) { log.record($0) }
    #expect(bundle.size == 200_000)
    #expect(bundle.sha256 == .of(contents))
    #expect(try Data(contentsOf: file) == contents)
    #expect(try names() == ["bundle.zip"])
    #expect(server.requests.map(\.line) == ["GET /v1/snapshots/\(id).zip HTTP/1.1"])
    #expect(server.requests[0]["range"] == nil)
    #expect(log.states.last == TransportProgress(completed: 200_000, total: 200_000))
  }

  @Test func `a link authorizes the download of its bundle, even if it is interrupted`() async throws {
    let server = try ScriptedServer(broken(after: 70_000), rest(from: 70_000))
    let text = "http://elsewhere.example/v1/snapshots/\(id).zip?expires=1795278598&signature=0qir-_x"
    let reference = try SnapshotReference(text)
    _ = try await makeClient(server).fetch(reference, to: file)
    #expect(try Data(contentsOf: file) == contents)
    let target = "/v1/snapshots/\(id).zip?expires=1795278598&signature=0qir-_x"
    #expect(server.requests.map(\.line) == ["GET \(target) HTTP/1.1", "GET \(target) HTTP/1.1"])
    #expect(!"\(reference)".contains("0qir"))
  }

  @Test func `a redirect is followed without the token, and its digest is verified`() async throws {
    let objects = try ScriptedServer(broken(after: 70_000, hasDigest: false), rest(from: 70_000))
    let target = "/tests/a%20b?X-Amz-Signature=0a%2F"
    let server = try ScriptedServer(redirect(to: objects.url.absoluteString + target))
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.retries.attempts = 4
    let client = try SnapshotAPIClient(
      server: server.url, token: String(repeating: "t", count: 40), configuration: configuration)
    let bundle = try await client.fetch(id, to: file)
    #expect(bundle.sha256 == .of(contents))
    #expect(try Data(contentsOf: file) == contents)
    #expect(objects.requests.map(\.line) == Array(repeating: "GET \(target) HTTP/1.1", count: 2))
    #expect(objects.requests[1]["range"] == "bytes=70000-")
    #expect(objects.requests.allSatisfy { $0["authorization"] == nil })
    #expect(server.requests.count == 2 && server.requests.allSatisfy { $0["authorization"] != nil })
  }

  @Test(arguments: ["ftp://127.0.0.1/x", "/x", "", "http://", "http://user@127.0.0.1/x"])
  func `a redirect to an unsuitable address is reported`(address: String) async throws {
    let server = try ScriptedServer(redirect(to: address))
    let error = await clientError { try await makeClient(server).fetch(id, to: file) }
    #expect(error?.code == .unexpectedAnswer)
    #expect(server.requests.count == 1)
  }

  @Test func `an interrupted download is resumed`() async throws {
    let server = try ScriptedServer(broken(after: 70_000), rest(from: 70_000))
    let sleeps = SleepLog()
    let log = ProgressLog()
    _ = try await makeClient(server, sleeps: sleeps).fetch(id, to: file) { log.record($0) }
    #expect(try Data(contentsOf: file) == contents)
    #expect(try names() == ["bundle.zip"])
    #expect(server.requests[1]["range"] == "bytes=70000-")
    #expect(server.requests[1]["if-range"] == "\"v1\"")
    #expect(sleeps.seconds.count == 1)
    #expect(log.states.map(\.completed) == log.states.map(\.completed).sorted())
  }

  @Test func `a later call resumes the download of a call that failed`() async throws {
    let server = try ScriptedServer(broken(after: 70_000), rest(from: 70_000))
    let error = await clientError { try await makeClient(server, attempts: 1).fetch(id, to: file) }
    #expect(error?.code == .interrupted)
    #expect(try names() == ["bundle.zip.partial", "bundle.zip.partial.json"])
    _ = try await makeClient(server, attempts: 1).fetch(id, to: file)
    #expect(server.requests[1]["range"] == "bytes=70000-")
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test func `a download that makes progress is not given up`() async throws {
    let server = try ScriptedServer(
      broken(after: 50_000), partial(from: 50_000, to: 100_000), partial(from: 100_000, to: 150_000),
      rest(from: 150_000))
    _ = try await makeClient(server, attempts: 2).fetch(id, to: file)
    #expect(server.requests.count == 4)
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test func `if the bytes on the server changed, the download is restarted`() async throws {
    let changed = makeBytes(90_000)
    let server = try ScriptedServer(
      broken(after: 70_000),
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", ["ETag: \"v2\"", digestField(changed)], body: changed)
      })
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests[1]["if-range"] == "\"v1\"")
    #expect(try Data(contentsOf: file) == changed)
  }

  @Test func `with a wrong digest no file is created`() async throws {
    try folder.write(Data("former".utf8), to: "bundle.zip")
    let server = try ScriptedServer { connection in
      try connection.readRequest()
      try connection.respond("200 OK", ["ETag: \"v1\"", digestField(Data())], body: contents)
    }
    let error = await clientError { try await makeClient(server).fetch(id, to: file) }
    #expect(error?.code == .digestMismatch)
    #expect(try Data(contentsOf: file) == Data("former".utf8))
    #expect(try names() == ["bundle.zip"])
    #expect(server.requests.count == 1)
  }

  @Test func `inconsistent parts are fetched again, once`() async throws {
    let server = try ScriptedServer(
      broken(after: 70_000),
      { connection in
        try connection.readRequest()
        try connection.respond(
          "206 Partial Content", ["Content-Range: bytes 70000-199999/200000"], body: Data(count: 130_000))
      }, whole())
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests.map { $0["range"] } == [nil, "bytes=70000-", nil])
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test func `without a digest in the response, the record's is requested`() async throws {
    let record = try SnapshotJSON.encode(try makeRecord(contents, id: id))
    let server = try ScriptedServer(
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", body: contents)
      },
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", body: record)
      })
    #expect(try await makeClient(server).fetch(id, to: file).sha256 == .of(contents))
    #expect(server.requests.map(\.target) == ["/v1/snapshots/\(id).zip", "/v1/snapshots/\(id)"])
  }

  @Test func `a complete download whose digest could not be requested is not fetched again`() async throws {
    let record = try SnapshotJSON.encode(try makeRecord(contents, id: id))
    let server = try ScriptedServer(
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", ["ETag: \"v1\""], body: contents)
      },
      { connection in
        try connection.readRequest()
        try connection.refuse("500 Internal Server Error")
      },
      { connection in
        try connection.readRequest()
        try connection.respond("200 OK", body: record)
      })
    #expect(await clientError { try await makeClient(server).fetch(id, to: file) }?.code == .serverFailed)
    #expect(try await makeClient(server).fetch(id, to: file).size == 200_000)
    #expect(
      server.requests.map(\.target) == [
        "/v1/snapshots/\(id).zip", "/v1/snapshots/\(id)", "/v1/snapshots/\(id)",
      ])
  }

  @Test(arguments: ["W/\"v1\"", "v1", ""])
  func `only a strong entity tag makes a download resumable`(tag: String) async throws {
    let server = try ScriptedServer(broken(after: 70_000, tag: tag), whole())
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests[1]["range"] == nil)
    #expect(server.requests[1]["if-range"] == nil)
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test(arguments: [(1023, true), (1024, true), (1025, false)])
  func `the entity tag of a resumable download has a size limit`(tag: (length: Int, isKept: Bool))
    async throws
  {
    let text = "\"" + String(repeating: "v", count: tag.length - 2) + "\""
    let server = try ScriptedServer(
      broken(after: 70_000, tag: text), tag.isKept ? rest(from: 70_000) : whole())
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests[1]["if-range"] == (tag.isKept ? text : nil))
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test(arguments: [-1, 0, 1])
  func `if its note is above the limit, a download is restarted`(room: Int) async throws {
    let server = try ScriptedServer(broken(after: 70_000), room < 0 ? whole() : rest(from: 70_000))
    _ = await clientError { try await makeClient(server, attempts: 1).fetch(id, to: file) }
    var configuration = SnapshotAPIClient.Configuration.forTests()
    let note = try Data(contentsOf: folder.file("bundle.zip.partial.json"))
    configuration.limits.resumptionBytes = Int64(note.count + room)
    let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
    _ = try await client.fetch(id, to: file)
    #expect(server.requests[1]["range"] == (room < 0 ? nil : "bytes=70000-"))
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test func `a part of another snapshot is not resumed`() async throws {
    let server = try ScriptedServer(broken(after: 70_000), whole())
    _ = await clientError { try await makeClient(server, attempts: 1).fetch(SnapshotID(), to: file) }
    _ = try await makeClient(server, attempts: 1).fetch(id, to: file)
    #expect(server.requests[1]["range"] == nil)
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test(arguments: ["", "{", "[]", "{\"source\": 5}"])
  func `if its note is invalid, a download is restarted`(note: String) async throws {
    try folder.write(Data(repeating: 1, count: 100), to: "bundle.zip.partial")
    try folder.write(Data(note.utf8), to: "bundle.zip.partial.json")
    let server = try ScriptedServer(whole())
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests[0]["range"] == nil)
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test(arguments: [
    "416 Range Not Satisfiable\r\nContent-Range: bytes */10",
    "206 Partial Content\r\nContent-Range: bytes 0-9/10",
  ])
  func `if the server can't provide the range, the download is restarted`(status: String) async throws {
    let server = try ScriptedServer(
      broken(after: 70_000),
      { connection in
        try connection.readRequest()
        try connection.respond(status, body: Data(count: 10))
      }, whole())
    _ = try await makeClient(server).fetch(id, to: file)
    #expect(server.requests.map { $0["range"] } == [nil, "bytes=70000-", nil])
    #expect(try Data(contentsOf: file) == contents)
  }

  @Test func `a server that always breaks off and then sends another part is given up`() async throws {
    let contents = contents
    let server = try ScriptedServer { connection in
      let (head, _) = try connection.readRequest()
      guard head["range"] == nil else {
        return try connection.respond(
          "206 Partial Content", ["Content-Range: bytes 0-9/200000"], body: contents.prefix(10))
      }
      try connection.write(
        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 200000\r\n\(digestField(contents))\r\n\r\n")
      try connection.write(Array(contents.prefix(70_000)))
    }
    let error = await clientError { try await makeClient(server).fetch(id, to: file) }
    #expect(error?.code == .unexpectedAnswer)
    #expect(server.requests.count == 8)
  }

  @Test func `a server that always completes a download with other bytes is given up`() async throws {
    let contents = contents
    let server = try ScriptedServer { connection in
      let (head, _) = try connection.readRequest()
      guard head["range"] == nil else {
        return try connection.respond(
          "206 Partial Content", ["Content-Range: bytes 70000-199999/200000"], body: Data(count: 130_000))
      }
      try connection.write(
        "HTTP/1.1 200 OK\r\nETag: \"v1\"\r\nContent-Length: 200000\r\n\(digestField(contents))\r\n\r\n")
      try connection.write(Array(contents.prefix(70_000)))
    }
    let error = await clientError { try await makeClient(server, attempts: 100).fetch(id, to: file) }
    #expect(error?.code == .digestMismatch)
    #expect(server.requests.count == 8)
  }

  @Test(arguments: [(1, 4), (5461, 4), (5462, 37)])
  func `only 16 KiB in all attempts count as progress`(sample: (step: Int, requests: Int)) async throws {
    let contents = contents
    let server = try ScriptedServer { connection in
      let (head, _) = try connection.readRequest()
      let start = head["range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
      let range = start == 0 ? "" : "Content-Range: bytes \(start)-199999/200000\r\n"
      try connection.write(
        """
        HTTP/1.1 \(start == 0 ? "200 OK" : "206 Partial Content")\r\nETag: "v1"\r\n\(range)\
        Content-Length: \(200_000 - start)\r\n\(digestField(contents))\r\n\r\n
        """)
      try connection.write(Array(contents[start...].prefix(sample.step)))
    }
    if sample.requests == 4 {
      #expect(await clientError { try await makeClient(server).fetch(id, to: file) }?.code == .interrupted)
    } else {
      #expect(try await makeClient(server).fetch(id, to: file).size == 200_000)
    }
    #expect(server.requests.count == sample.requests)
  }

  @Test func `a bundle above the limit is rejected`() async throws {
    let server = try ScriptedServer(whole())
    for (limit, fits) in [(199_999, false), (200_000, true), (200_001, true)] {
      var configuration = SnapshotAPIClient.Configuration.forTests()
      configuration.limits.bundleBytes = Int64(limit)
      let client = try SnapshotAPIClient(server: server.url, configuration: configuration)
      if fits {
        _ = try await client.fetch(id, to: file)
      } else {
        #expect(await clientError { try await client.fetch(id, to: file) }?.code == .unexpectedAnswer)
      }
    }
  }

  @Test func `a missing folder is reported`() async throws {
    let server = try ScriptedServer(whole())
    let error = await clientError {
      try await makeClient(server).fetch(id, to: folder.file("missing/bundle.zip"))
    }
    #expect(error?.code == .file)
  }

  // MARK: Scripts

  private func whole() -> ScriptedServer.Script {
    let contents = contents
    return { connection in
      try connection.readRequest()
      try connection.respond("200 OK", ["ETag: \"v1\"", digestField(contents)], body: contents)
    }
  }

  private func redirect(to address: String) -> ScriptedServer.Script {
    let contents = contents
    return { connection in
      try connection.readRequest()
      try connection.respond(
        "307 Temporary Redirect", ["Location: \(address)", digestField(contents)], body: Data())
    }
  }

  private func broken(
    after count: Int, tag: String = "\"v1\"", hasDigest: Bool = true
  ) -> ScriptedServer.Script {
    let contents = contents
    return { connection in
      try connection.readRequest()
      let digest = hasDigest ? digestField(contents) + "\r\n" : ""
      try connection.write(
        "HTTP/1.1 200 OK\r\nETag: \(tag)\r\nContent-Length: \(contents.count)\r\n\(digest)\r\n")
      try connection.write(Array(contents.prefix(count)))
    }
  }

  private func partial(from start: Int, to end: Int) -> ScriptedServer.Script {
    let contents = contents
    return { connection in
      try connection.readRequest()
      let lines = [
        "HTTP/1.1 206 Partial Content", "Content-Length: \(contents.count - start)", digestField(contents),
        "Content-Range: bytes \(start)-\(contents.count - 1)/\(contents.count)",
      ]
      try connection.write(lines.joined(separator: "\r\n") + "\r\n\r\n")
      try connection.write(Array(contents[start..<end]))
    }
  }

  private func rest(from start: Int) -> ScriptedServer.Script { partial(from: start, to: contents.count) }

  private func makeClient(
    _ server: ScriptedServer, attempts: Int = 4, sleeps: SleepLog = SleepLog()
  ) throws -> SnapshotAPIClient {
    var configuration = SnapshotAPIClient.Configuration.forTests(sleeps: sleeps)
    configuration.retries.attempts = attempts
    return try SnapshotAPIClient(server: server.url, configuration: configuration)
  }

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
  }
}
