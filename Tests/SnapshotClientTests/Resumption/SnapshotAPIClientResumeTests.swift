import Foundation
import HTTPTransport
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// Uploads that go on where they broke.
@Suite struct SnapshotAPIClientResumeTests {
  private let folder: TemporaryFolder
  private let contents = makeBytes(100_000)
  private let bundle: URL
  private let state: URL
  private let id = SnapshotID()
  private let report: ReportID

  init() throws {
    folder = try TemporaryFolder()
    bundle = try folder.write(contents, to: "bundle.zip")
    state = folder.file("upload.json")
    report = try ReportID("BUG-1")
  }

  private var target: String { "/v1/reports/BUG-1/snapshots/\(id)" }

  private func client(
    _ url: URL, token: String? = nil, attempts: Int = 4,
    _ change: (inout SnapshotAPIClient.Configuration) -> Void = { _ in }
  ) throws -> SnapshotAPIClient {
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.resumption.threshold = 1
    configuration.retries.attempts = attempts
    change(&configuration)
    return try SnapshotAPIClient(server: url, token: token, configuration: configuration)
  }

  @Test func `a large bundle is opened, sent, and answered with its record`() async throws {
    let server = try DraftServer()
    let log = EventLog()
    let record = try await client(server.url, token: "s3cret").attach(
      bundle, to: report, as: id, expires: SnapshotEnd("30d"), state: state
    ) { log.note(.progress($0)) }
    #expect(record.id == id)
    #expect(server.attached == [target: contents])
    let requests = server.requests
    #expect(
      requests.map(\.line) == ["PUT \(target) HTTP/1.1", "PATCH /v1/uploads/1 HTTP/1.1"])
    #expect(requests.allSatisfy { $0["upload-draft-interop-version"] == "8" })
    #expect(requests.allSatisfy { $0["authorization"] == "Bearer s3cret" })
    #expect(requests[0]["upload-complete"] == "?0")
    #expect(requests[0]["upload-length"] == "100000")
    #expect(requests[0]["content-length"] == "0")
    #expect(requests[0]["content-type"] == "application/zip")
    #expect(requests[0]["snapshot-expires"] == "30d")
    #expect(requests[0]["repr-digest"].map { "Repr-Digest: \($0)" } == digestField(contents))
    #expect(requests[1]["upload-complete"] == "?1")
    #expect(requests[1]["upload-offset"] == "0")
    #expect(requests[1]["content-type"] == "application/partial-upload")
    #expect(log.progress.first == TransportProgress(completed: 0, total: 100_000))
    #expect(log.progress.last == TransportProgress(completed: 100_000, total: 100_000))
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test(arguments: [(-1, ["PUT", "PATCH"]), (0, ["PUT", "PATCH"]), (1, ["PUT"])] as [(Int64, [String])])
  func `below the threshold a bundle goes out in one request`(sample: (excess: Int64, methods: [String]))
    async throws
  {
    let server = try DraftServer()
    let client = try client(server.url) { $0.resumption.threshold = 100_000 + sample.excess }
    try await client.attach(bundle, to: report, as: id)
    #expect(server.methods == sample.methods)
  }

  @Test func `without an id the server chooses one, and the upload goes on all the same`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 30_000))
    try await client(server.url).attach(bundle, to: report, as: nil)
    #expect(server.methods == ["POST", "PATCH", "HEAD", "PATCH"])
    #expect(server.attached == ["/v1/reports/BUG-1/snapshots": contents])
  }

  @Test(arguments: [
    "200 OK", "201 Created", "204 No Content", "400 Bad Request", "404 Not Found", "405 Method Not Allowed",
    "411 Length Required", "415 Unsupported Media Type", "422 Unprocessable Content", "501 Not Implemented",
  ])
  func `a server that does not offer it gets the bundle in one request`(answer: String) async throws {
    let server = try DraftServer {
      $0.offers = false
      $0.refusalOfNothing = answer
    }
    let record = try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(record.sha256 == .of(contents))
    #expect(server.methods == ["PUT", "PUT"])
    #expect(server.requests[1]["upload-complete"] == nil)
    #expect(server.attached == [target: contents])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test(arguments: [401, 403, 500, 507])
  func `a refusal to open an upload is the answer`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PUT", .answer("\(status) No"))
    let error = await clientError { try await client(server.url).attach(bundle, to: report, as: id) }
    #expect(error?.status == status)
    #expect(server.methods == ["PUT"])
  }

  @Test func `a refusal by a server that offers it is not asked for twice`() async throws {
    let server = try DraftServer()
    server.fail("PUT", .answer("413 Content Too Large", ["Upload-Limit: max-size=10"]))
    let error = await clientError { try await client(server.url).attach(bundle, to: report, as: id) }
    #expect(error?.code == .bundleTooLarge)
    #expect(server.methods == ["PUT"])
  }

  @Test func `a server with too many open uploads gets the bundle in one request`() async throws {
    let server = try DraftServer()
    server.fail("PUT", .answer("429 Too Many Requests", ["Retry-After: 60"]))
    try await client(server.url, attempts: 1).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PUT"])
    #expect(server.attached == [target: contents])
  }

  // MARK: Pieces

  @Test(arguments: [
    (30_000, [30_000, 30_000, 30_000, 10_000]), (50_000, [50_000, 50_000]), (100_000, [100_000]),
  ])
  func `no piece is longer than a proxy takes, whoever says so`(sample: (most: Int, pieces: [Int]))
    async throws
  {
    let told = try DraftServer { $0.longestBody = sample.most }
    try await client(told.url) { $0.resumption.maximumRequestBody = Int64(sample.most) }
      .attach(bundle, to: report, as: id)
    #expect(told.received == sample.pieces)
    let telling = try DraftServer { $0.limits = "max-append-size=\(sample.most), min-append-size=1, new=?1" }
    try await client(telling.url).attach(bundle, to: report, as: id)
    #expect(telling.received == sample.pieces)
    #expect(telling.attached == told.attached)
  }

  @Test func `what is small goes out in pieces, too, where a proxy takes no more`() async throws {
    let server = try DraftServer { $0.longestBody = 99_999 }
    let client = try client(server.url) {
      $0.resumption.threshold = nil
      $0.resumption.maximumRequestBody = 99_999
    }
    try await client.attach(bundle, to: report, as: id)
    #expect(server.received == [99_999, 1])
  }

  @Test func `a piece that a proxy finds too large is tried in halves`() async throws {
    let large = makeBytes(3_000_000)
    try folder.write(large, to: "bundle.zip")
    let server = try DraftServer { $0.longestBody = 300_000 }
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.attached == [target: large])
    #expect(server.received.allSatisfy { $0 <= 300_000 && $0 > 100_000 || $0 == server.received.last })
  }

  @Test func `pieces grow where the line is fast`() async throws {
    let large = makeBytes(8_000_000)
    try folder.write(large, to: "bundle.zip")
    let server = try DraftServer()
    try await client(server.url) { $0.resumption.pieceSeconds = 1000 }.attach(bundle, to: report, as: id)
    #expect(server.attached == [target: large])
    #expect(server.received == [1 << 20, 1 << 21, 1 << 22, 8_000_000 - (7 << 20)])
  }

  // MARK: Breaks

  @Test(arguments: [0, 1, 40_000, 99_999])
  func `what the server has is not sent again after a break`(count: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: count))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods.filter { $0 != "HEAD" } == ["PUT", "PATCH", "PATCH"])
    #expect(server.received == [count, 100_000 - count])
    #expect(server.attached == [target: contents])
  }

  @Test func `a break after the last byte leaves only the end to be said`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 100_000))
    try await client(server.url).attach(bundle, to: report, as: id)
    let last = try #require(server.requests.last)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(last["content-length"] == "0")
    #expect(server.attached == [target: contents])
  }

  @Test func `an answer that got lost is asked for again`() async throws {
    let server = try DraftServer()
    server.fail("PUT", .loseAnswer)
    server.fail("PATCH", .loseAnswer, .loseAnswer)
    server.fail("HEAD", .loseAnswer)
    let record = try await client(server.url).attach(bundle, to: report, as: id)
    #expect(record.id == id)
    #expect(server.methods.filter { $0 != "HEAD" } == ["PUT", "PUT", "PATCH", "PATCH", "PATCH"])
    #expect(server.received == [100_000])
    #expect(server.requests.last?["upload-offset"] == "100000")
  }

  @Test func `an upload that gets further is not given up, however often it breaks`() async throws {
    let server = try DraftServer()
    for _ in 0..<50 { server.fail("PATCH", .cut(afterBodyBytes: 1000)) }
    try await client(server.url, attempts: 2).attach(bundle, to: report, as: id)
    #expect(server.received == Array(repeating: 1000, count: 50) + [50_000])
  }

  @Test func `an upload that gets no further is given up after the policy's attempts`() async throws {
    let server = try DraftServer()
    for _ in 0..<50 { server.fail("PATCH", .cut(afterBodyBytes: 0)) }
    let error = await clientError { try await client(server.url).attach(bundle, to: report, as: id) }
    #expect(error?.code == .interrupted)
    // Before a byte of a body has left, the transport may repeat a request by itself.
    #expect(server.methods.count { $0 == "HEAD" } == 3)
  }

  @Test(arguments: [408, 429, 500, 502, 503, 504])
  func `a server that can't now is asked again how far it is`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .answer("\(status) Not now"))
    server.fail("HEAD", .answer("\(status) Not now"))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "HEAD", "PATCH"])
  }

  @Test func `the server's offset counts where it differs`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 60_000))
    server.fail("HEAD", .answer("204 No Content", ["Upload-Offset: 70000", "Upload-Complete: ?0"]))
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(
      server.requests.filter { $0.method == "PATCH" }.map { $0["upload-offset"] } == ["0", "70000", "60000"])
    #expect(server.attached == [target: contents])
  }

  @Test(arguments: [404, 410])
  func `an upload that the server lost is begun anew`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", .answer("\(status) Lost"))
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PUT", "PATCH"])
    #expect(server.received == [1000, 100_000])
  }

  @Test func `a server that loses every upload gets the bundle in one request`() async throws {
    let server = try DraftServer()
    for _ in 0..<20 { server.fail("PATCH", .answer("404 Lost")) }
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "PUT", "PATCH", "PUT", "PATCH", "PUT", "PATCH", "PUT"])
    #expect(server.attached == [target: contents])
  }

  // MARK: The end

  @Test func `what the server says of the whole is the answer, and nothing is left to go on with`()
    async throws
  {
    let server = try DraftServer {
      $0.refusal = ("422 Unprocessable Content", #"{"type": "x:invalid-bundle", "title": "No bundle"}"#)
    }
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.status == 422)
    #expect(error?.problem?.type == "x:invalid-bundle")
    #expect(server.methods == ["PUT", "PATCH"])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `a server without room at the end is asked again with nothing more to send`() async throws {
    let server = try DraftServer { $0.refusal = ("507 Insufficient Storage", "") }
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .serverFull)
    server.change { $0.refusal = nil }
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [100_000])
  }

  @Test func `a refused token ends the call and keeps the upload`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", .answer("401 Unauthorized"))
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .unauthorized)
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.received == [1000, 99_000])
  }

  @Test func `a page that a hotel's network puts in the way is not taken for the server's word`() async throws
  {
    let server = try DraftServer()
    let page = DraftServer.Fault.answer("200 OK", ["Content-Type: text/html"], body: "<h1>Log in</h1>")
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", page, page)
    server.fail("PATCH", page)
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "HEAD", "HEAD", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [1000, 99_000])
  }

  // MARK: Another process

  @Test func `another process sends only the rest`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 70_000))
    let error = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .interrupted)
    let log = EventLog()
    try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state) {
      log.note(.progress($0))
    }
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [70_000, 30_000])
    #expect(log.progress.map(\.completed) == [70_000, 100_000])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `what is kept is readable by its owner alone and holds no token`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1))
    _ = await clientError {
      try await client(server.url, token: "s3cret", attempts: 1)
        .attach(bundle, to: report, as: id, state: state)
    }
    let mode = try FileManager.default.attributesOfItem(atPath: state.path)[.posixPermissions] as? Int
    #expect(mode == 0o600)
    #expect(!(try String(contentsOf: state, encoding: .utf8)).contains("s3cret"))
  }

  @Test(arguments: ["report", "id", "end", "bytes", "server", "damaged", "empty", "long", "folder"])
  func `what is kept of another upload, or can't be read, counts as nothing`(difference: String) async throws
  {
    let (server, other) = (try DraftServer(), try DraftServer())
    server.fail("PATCH", .cut(afterBodyBytes: 70_000))
    _ = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    switch difference {
    case "bytes": try folder.write(makeBytes(100_001).dropFirst(), to: "bundle.zip")
    case "damaged": try folder.write(Data("{".utf8), to: "upload.json")
    case "empty": try folder.write(Data(), to: "upload.json")
    case "long":
      try folder.write(Data(contentsOf: state) + Data(repeating: 0x20, count: 70_000), to: "upload.json")
    case "folder":
      try FileManager.default.removeItem(at: state)
      try FileManager.default.createDirectory(at: state, withIntermediateDirectories: false)
    default: break
    }
    let server2 = difference == "server" ? other : server
    let record = try await client(server2.url).attach(
      bundle, to: difference == "report" ? ReportID("BUG-2") : report,
      as: difference == "id" ? SnapshotID() : id, expires: difference == "end" ? SnapshotEnd("1d") : nil,
      state: state)
    #expect(record.sha256 == .of(try Data(contentsOf: bundle)))
    #expect(!server2.methods.contains("HEAD"))
    #expect(server2.received.last == 100_000)
  }

  // MARK: Addresses

  @Test func `an upload may be named in any way that leads to the same server`() async throws {
    for form in ["absolute", "relative", "other scheme", "path alone", "host in capitals"] {
      let server = try DraftServer()
      let port = server.scripted.port
      server.change { manner in
        manner.location = { place in
          switch form {
          case "absolute": "http://127.0.0.1:\(port)\(place)"
          case "relative": "../../../uploads/\(place.split(separator: "/").last ?? "")"
          case "other scheme": "https://127.0.0.1\(place)"
          case "host in capitals": "HTTP://LOCALHOST:\(port)\(place)"
          default: place
          }
        }
      }
      try await client(server.url).attach(bundle, to: report, as: id)
      #expect(server.methods == ["PUT", "PATCH"], "\(form)")
    }
  }

  @Test(arguments: [
    "http://example.org/v1/uploads/1", "//example.org/v1/uploads/1", "http://me@127.0.0.1/v1/uploads/1",
    "/v1/uploads/\(String(repeating: "x", count: 2048))", "", "ftp://x", "http:", "/v1/uploads/1#a",
    "mailto:me@example.org",
  ])
  func `an upload elsewhere is not followed there`(location: String) async throws {
    let server = try DraftServer { $0.location = { _ in location } }
    try await client(server.url, token: "s3cret").attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PUT"])
    #expect(server.attached == [target: contents])
  }

  // MARK: Progress

  @Test func `progress counts what the server has`() async throws {
    let server = try DraftServer { $0.progressBytes = 10_000 }
    server.fail("PATCH", .cut(afterBodyBytes: 50_000))
    let log = EventLog()
    try await client(server.url).attach(bundle, to: report, as: id) { log.note(.progress($0)) }
    let told = log.progress.map(\.completed)
    #expect(told.first == 0)
    #expect(told.last == 100_000)
    #expect(told == told.sorted())
    #expect(told.contains(50_000))
    #expect(log.progress.allSatisfy { $0.total == 100_000 })
    #if os(Linux)
      #expect(told.contains { $0 > 50_000 && $0 < 100_000 })
    #endif
  }

  @Test func `what no one has acknowledged is no progress`() async throws {
    let server = try DraftServer()
    let log = EventLog()
    server.fail("PATCH", .cut(afterBodyBytes: 99_999), .answer("503 No"))
    server.fail("HEAD", .answer("503 No"), .answer("503 No"), .answer("503 No"))
    _ = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id) { log.note(.progress($0)) }
    }
    #expect(log.progress.map(\.completed) == [0])
  }

  @Test func `a cancelled upload ends at once and can be gone on with`() async throws {
    let script = try ScriptedServer { connection in
      let head = try connection.readHead()
      if head.method == "PUT" {
        try connection.respond(
          "201 Created", ["Location: /v1/uploads/1", "Upload-Limit: min-size=0", "Upload-Complete: ?0"])
      } else {
        try connection.waitForClose()
      }
    }
    let client = try client(script.url)
    let task = Task { try await client.attach(bundle, to: report, as: id, state: state) }
    while script.requests.count < 2 { await Task.yield() }
    task.cancel()
    let error = await clientError { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(FileManager.default.fileExists(atPath: state.path))
  }
}
