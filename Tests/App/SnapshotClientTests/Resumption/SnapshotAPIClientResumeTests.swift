import Foundation
import HTTPClient
import SnapshotClient
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Resumable uploads: their creation and completion.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotAPIClientResumeTests: ResumedUploads {
  let upload: ResumedUpload

  init() throws { upload = try ResumedUpload() }

  @Test func `a large upload is created, sent, and answered with its record`() async throws {
    let server = try DraftServer()
    let log = ProgressLog()
    let record = try await client(server.url, token: "s3cret").attach(
      bundle, to: report, as: id, expires: SnapshotEnd("30d"), state: state
    ) { log.record($0) }
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
    #expect(log.states.first == TransportProgress(completed: 0, total: 100_000))
    #expect(log.states.last == TransportProgress(completed: 100_000, total: 100_000))
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `without a state file the digest is computed meanwhile, and sent with the last bytes`()
    async throws
  {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 30_000))
    let client = try client(server.url) { $0.resumption.maximumRequestBody = 60_000 }
    try await client.attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PATCH", "PATCH"])
    let digests = server.requests.map { $0["repr-digest"].map { "Repr-Digest: \($0)" } }
    #expect(digests == [nil, nil, nil, nil, digestField(contents)])
    #expect(server.attached == [target: contents])
  }

  @Test(arguments: [(-1, ["PUT", "PATCH"]), (0, ["PUT", "PATCH"]), (1, ["PUT"])] as [(Int64, [String])])
  func `below the threshold a bundle is sent in one request`(sample: (excess: Int64, methods: [String]))
    async throws
  {
    let server = try DraftServer()
    let client = try client(server.url) { $0.resumption.threshold = 100_000 + sample.excess }
    try await client.attach(bundle, to: report, as: id)
    #expect(server.methods == sample.methods)
  }

  @Test func `without an id the server chooses one, and the upload is still resumable`() async throws {
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
  func `a server without support gets the bundle in one request`(answer: String) async throws {
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
  func `a rejection of a new upload is the response`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PUT", .answer("\(status) No"))
    let error = await clientError { try await client(server.url).attach(bundle, to: report, as: id) }
    #expect(error?.status == status)
    #expect(server.methods == ["PUT"])
  }

  @Test func `a rejection by a server with support is not repeated`() async throws {
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
    #expect(server.requests[1]["repr-digest"].map { "Repr-Digest: \($0)" } == digestField(contents))
    #expect(server.attached == [target: contents])
  }

  // MARK: Completion

  @Test func `the response to the complete upload is returned, and no state remains`()
    async throws
  {
    let server = try DraftServer {
      $0.refusal = (
        "422 Unprocessable Content",
        #"{"type": "urn:data-snapshots:problem:invalid-bundle", "title": "No bundle"}"#
      )
    }
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.status == 422)
    #expect(error?.problem?.type == "urn:data-snapshots:problem:invalid-bundle")
    #expect(server.methods == ["PUT", "PATCH"])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `a server without room at the end is asked again without sending bytes`() async throws {
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

  @Test func `a rejected token ends the call and keeps the upload`() async throws {
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

  @Test func `the page of a captive portal does not count as the server's response`() async throws {
    let server = try DraftServer()
    let page = DraftServer.Fault.answer("200 OK", ["Content-Type: text/html"], body: "<h1>Log in</h1>")
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", page, page)
    server.fail("PATCH", page)
    try await client(server.url).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "HEAD", "HEAD", "PATCH", "HEAD", "PATCH"])
    #expect(server.received == [1000, 99_000])
  }

  @Test func `a response with another report is rejected, and its upload is not requested again`()
    async throws
  {
    let server = try DraftServer { $0.report = "BUG-2" }
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .unexpectedAnswer)
    #expect(error?.description.contains("attached to ‘BUG-2’ instead of ‘BUG-1’") == true)
    #expect(!FileManager.default.fileExists(atPath: state.path))
    server.change { $0.report = nil }
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == ["PUT", "PATCH", "PUT", "PATCH"])
  }

  @Test func `a response to one request with another report is rejected`() async throws {
    let server = try DraftServer { $0.report = "BUG-2" }
    let client = try client(server.url) { $0.resumption.threshold = nil }
    let error = await clientError { try await client.attach(bundle, to: report, as: id) }
    #expect(error?.code == .unexpectedAnswer)
    #expect(server.methods == ["PUT"])
  }

  @Test func `an upload that the server lost is restarted, and that is reported`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", .answer("401 Unauthorized"))
    _ = await clientError { try await client(server.url).attach(bundle, to: report, as: id, state: state) }
    server.forget()
    let told = Lock([UploadRestart]())
    try await client(server.url).attach(
      bundle, to: report, as: id, state: state, restarted: { reason in told.withLock { $0.append(reason) } })
    #expect(told.withLock { $0 } == [.lost(status: 404)])
    #expect(server.attached == [target: contents])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test func `a server that describes its failure is not mistaken for a proxy`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .answer("503 No"))
    let error = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id)
    }
    #expect(error?.description.contains("Refused") == true)
    #expect(error?.description.contains("interimAnswers") == false)
    #expect(server.methods == ["PUT", "PATCH"])
  }

  @Test(arguments: [999, 100_001])
  func `the progress in an interim response counts only up to the bytes sent`(claim: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 1000))
    server.fail("HEAD", .answer("401 Unauthorized"))
    _ = await clientError { try await client(server.url).attach(bundle, to: report, as: id, state: state) }
    server.change {
      $0.progressBytes = 50_000
      $0.claimedProgress = claim
    }
    let log = ProgressLog()
    try await client(server.url).attach(bundle, to: report, as: id, state: state) {
      log.record($0)
    }
    let told = log.states.map(\.completed)
    #expect(told.last == 100_000)
    #expect(told == told.sorted())
    #expect(told.allSatisfy { $0 <= 100_000 && $0 != Int64(claim) }, "\(told)")
  }

  // MARK: Addresses

  @Test func `a Location can have any form that leads to the same server`() async throws {
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
  func `a Location on another server is not followed`(location: String) async throws {
    let server = try DraftServer { $0.location = { _ in location } }
    try await client(server.url, token: "s3cret").attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PUT"])
    #expect(server.attached == [target: contents])
  }
}
