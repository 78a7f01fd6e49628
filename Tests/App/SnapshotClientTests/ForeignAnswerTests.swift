import Foundation
import HTTPSemantics
import HTTPClient
import HTTPTypes
import SnapshotClient
import SnapshotFormat
import TestSupport
import Testing

/// Responses of something between client and server, such as a proxy, a firewall or the sign-in page of a network.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ForeignAnswerTests: ResumedUploads {
  let upload: ResumedUpload

  init() throws { upload = try ResumedUpload() }

  private static let statuses = [
    301, 302, 307, 308, 400, 401, 403, 404, 405, 407, 411, 413, 451, 500, 501, 502, 503, 504, 507, 511,
  ]

  private func page(_ status: Int) -> DraftServer.Fault {
    .answer("\(status) No", ["Content-Type: text/html", "Server: squid/5.7"], body: "<h1>No</h1>")
  }

  // MARK: Uploads

  @Test(arguments: statuses, ["PUT", "PATCH"])
  func `whatever else answers a part of an upload, the bundle is tried in one request`(
    status: Int, method: String
  ) async throws {
    let server = try DraftServer()
    server.fail(method, page(status))
    try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == (method == "PUT" ? ["PUT", "PUT"] : ["PUT", "PATCH", "PUT"]))
    #expect(server.attached == [target: contents])
    #expect(!FileManager.default.fileExists(atPath: state.path))
  }

  @Test(arguments: [502, 503, 504])
  func `bytes that the server has are not sent again because a proxy does not reach it`(status: Int)
    async throws
  {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 40_000))
    server.fail("HEAD", page(status), page(status))
    let first = await clientError {
      try await client(server.url, attempts: 2).attach(bundle, to: report, as: id, state: state)
    }
    #expect(first?.code == .interrupted || first?.code == .unavailable)
    let second = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    #expect(second?.code == .unavailable)
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.received == [40_000, 60_000])
    #expect(server.methods.count { $0 == "PUT" } == 1)
  }

  @Test func `a blocked upload is resumed with the bytes that the server has`() async throws {
    let server = try DraftServer()
    server.fail("PATCH", .cut(afterBodyBytes: 40_000))
    _ = await clientError {
      try await client(server.url, attempts: 1).attach(bundle, to: report, as: id, state: state)
    }
    server.fail("HEAD", page(403))
    server.fail("PUT", page(403))
    let error = await clientError {
      try await client(server.url).attach(bundle, to: report, as: id, state: state)
    }
    #expect(error?.code == .unexpectedAnswer && error?.status == 403)
    try await client(server.url).attach(bundle, to: report, as: id, state: state)
    #expect(server.methods == ["PUT", "PATCH", "HEAD", "PUT", "HEAD", "PATCH"])
    #expect(server.received == [40_000, 60_000])
  }

  @Test(arguments: [405, 501])
  func `a server that does not know PATCH gets the bundle in one request`(status: Int) async throws {
    let server = try DraftServer()
    server.fail("PATCH", .answer("\(status) No"))
    try await client(server.url, attempts: 1).attach(bundle, to: report, as: id)
    #expect(server.methods == ["PUT", "PATCH", "PUT"])
  }

  @Test(arguments: [502, 503, 504])
  func `if a proxy answers a piece, the error mentions interim answers`(status: Int) async throws {
    let server = try DraftServer()
    let client = try client(server.url, attempts: 1) { $0.resumption.maximumRequestBody = 50_000 }
    server.fail("PATCH", .answer("204 No Content", ["Upload-Complete: ?0"]), page(status))
    let error = await clientError { try await client.attach(bundle, to: report, as: id) }
    #expect(error?.code == .unavailable)
    #expect(error?.description.contains("status \(status) from ‘squid/5.7’, “No”") == true)
    #expect(error?.description.contains("`interimAnswers: false`") == true)
  }

  // MARK: Sentences

  private func error(_ answer: FakeTransport.Answer, server: String = "http://localhost:1") async throws
    -> SnapshotClientError?
  {
    var configuration = SnapshotAPIClient.Configuration.forTests()
    configuration.retries.attempts = 1
    let client = try SnapshotAPIClient(
      server: try #require(URL(string: server)), transport: FakeTransport([answer]),
      configuration: configuration)
    return await clientError { try await client.record(id) }
  }

  @Test func `the error names what answered, on one line`() async throws {
    let page = "<!doctype html><HTML><Title lang=en>Access\n\u{202E}denied\u{7}\u{9B}</TITLE><h1>Other</h1>"
    let fields: HTTPFields = [
      .contentType: "text/html; charset=utf-8", .server: "squid/5.7", .constant("Via"): "1.1 fw.example",
    ]
    #expect(
      try await error(.foreign(403, fields, body: Data(page.utf8)))?.description == """
        The response is not that of a snapshot server: status 403 from ‘squid/5.7’ via ‘1.1 fw.example’, “Access denied”; \
        check the server's address, and the proxies on the way to it.
        """)
  }

  @Test(
    arguments: [
      ("text/plain", "Blocked.\nBy rule 7", "“Blocked.”"),
      ("application/json", #"{"message": "Forbidden"}"#, "“Forbidden”"),
      ("application/problem+json", #"{"type": "about:blank", "title": "Gateway"}"#, "“Gateway”"),
      ("application/problem+json", #"{"type": "https://example.org/x", "title": "Other"}"#, "“Other”"),
      ("text/html", "<title> </title><h1>No entry</h1>", "“No entry”"),
      (
        "text/html", "<title>\(String(repeating: "x", count: 500))</title>",
        "“\(String(repeating: "x", count: 80))…”"
      ),
      ("application/problem+json", "{", "status 403;"), ("image/png", "x", "status 403;"),
      ("text/html", "", "status 403;"),
    ] as [(type: String, body: String, shown: String)])
  func `what other servers say is shown, and shortened`(sample: (type: String, body: String, shown: String))
    async throws
  {
    let error = try await error(.foreign(403, [.contentType: sample.type], body: Data(sample.body.utf8)))
    #expect(error?.code == .unexpectedAnswer)
    #expect(error?.problem == nil)
    #expect(error?.description.contains(sample.shown) == true, "\(error as Any)")
  }

  @Test func `problems without a type are the server's if they have the id of the request`() async throws {
    let problem = Data(#"{"type": "about:blank", "title": "Bad Request", "requestID": "r-17"}"#.utf8)
    for (id, code) in [("r-17", SnapshotClientError.Code.refused), ("r-18", .unexpectedAnswer)] {
      let fields: HTTPFields = [.contentType: "application/problem+json", .xRequestID: id]
      #expect(try await error(.foreign(400, fields, body: problem))?.code == code)
    }
  }

  @Test func `an address that the server does not have is explained`() async throws {
    let problem = Data(#"{"type": "urn:data-snapshots:problem:no-such-path", "title": "No such path"}"#.utf8)
    let error = try await error(.foreign(404, [.contentType: "application/problem+json"], body: problem))
    #expect(error?.code == .notFound)
    #expect(error?.description.contains("keeps %2F in paths") == true)
  }

  // MARK: Redirects

  @Test(
    arguments: [
      (
        "https://snapshots.example.org/v1/snapshots/X",
        "redirects to https://snapshots.example.org; use that address."
      ),
      (
        "https://SNAPSHOTS.example.org:8443/a/v1/x?y=secret",
        "redirects to https://SNAPSHOTS.example.org:8443/a; use that"
      ),
      (
        "https://login.example.net/v1/x?y=secret",
        "redirects to https://login.example.net/v1/x; check the server's"
      ),
      (
        "http://snapshots.example.org/v1/x",
        "redirects to http://snapshots.example.org/v1/x; check the server's"
      ),
      ("/sign-in?next=secret", "redirects to /sign-in; check the server's"),
    ] as [(location: String, sentence: String)], [301, 302, 303, 308])
  func `the https address to which a server redirects is named`(
    sample: (location: String, sentence: String), status: Int
  ) async throws {
    let error = try await error(
      .foreign(status, [.location: sample.location]), server: "http://snapshots.example.org")
    #expect(error?.code == .unexpectedAnswer && error?.status == status)
    #expect(error?.description.contains(sample.sentence) == true, "\(error as Any)")
    #expect(error?.description.contains("secret") == false)
  }
}
