import AccessControl
import HTTPEngine
import HTTPTypes
import Logging
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// Behaviour that only a real connection shows. Each test has its own server for the same API.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SocketTests {
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample(String(repeating: "{\"news\":[]}", count: 50_000)) }

  /// Serves `api` while `talk` blocks another thread.
  private func serve(
    _ api: TestAPI, _ talk: @escaping @Sendable (RawHTTPClient) throws -> Void,
    then: () async throws -> Void = {}
  ) async throws {
    let server = HTTPServer(
      configuration: .init(port: 0), handler: api.handler, logger: Logger(label: "test") { _ in api.log })
    let port = try await server.start().port
    do {
      try await RawHTTPClient.run { try talk(RawHTTPClient(port: port)) }
      try await then()
    } catch {
      await server.shutdown(deadline: .zero)
      throw error
    }
    await server.shutdown(deadline: .zero)
  }

  private func head(_ request: String, _ fields: String...) -> String {
    ([request + " HTTP/1.1", "Host: localhost"] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  private var put: String { "PUT /v1/reports/BUG-1/snapshots/\(bundle.id)" }
  private var length: String { "Content-Length: \(bundle.bytes.count)" }

  @Test func `a bundle is uploaded after 100 Continue, and downloaded whole and in ranges`() async throws {
    let (bundle, path) = (bundle, "/v1/snapshots/\(bundle.id)")
    let request = head(
      put, "Content-Type: application/zip", length, "Expect: 100-continue",
      "Repr-Digest: \(bundle.digestField)")
    let requests = [
      head("GET \(path).zip"), head("GET \(path).zip", "Range: bytes=100-199"),
      head("GET \(path).zip", "Range: bytes=0-9,-10"), head("GET \(path)"),
    ]
    let headRequest = head("HEAD \(path).zip")
    let api = TestAPI()
    try await serve(api) { client in
      try client.send(request)
      #expect(try client.receiveResponse().status == 100)
      try client.send(bundle.bytes)
      let created = try client.receiveResponse()
      #expect(created.status == 201)
      #expect(created.field("Location") == path)
      let answers = try requests.map { request in
        try client.send(request)
        return try client.receiveResponse()
      }
      #expect(answers.map(\.status) == [200, 206, 206, 200])
      #expect(answers[0].body == bundle.bytes)
      #expect(answers[1].body == Array(bundle.bytes[100..<200]))
      #expect(answers[2].text.contains("Content-Range: bytes 0-9/\(bundle.bytes.count)"))
      #expect(answers.allSatisfy { $0.field("X-Content-Type-Options") == "nosniff" })
      try client.send(headRequest)
      let head = try client.receiveResponse(toHEAD: true)
      #expect(head.field("Content-Length") == "\(bundle.bytes.count)")
      #expect(head.field("ETag") == "\"\(bundle.sha256)\"")
    }
  }

  @Test func `a request with an invalid head is refused before 100 Continue`() async throws {
    var limits = ServiceLimits()
    limits.bundleBytes = 1000
    let expect = "Expect: 100-continue"
    let refusals = [
      (head(put, "Content-Type: application/zip", length, expect), 413, "content-too-large"),
      (head(put, "Content-Type: text/plain", length, expect), 415, "unsupported-media-type"),
      (head("PUT /v1/reports/BUG-1/snapshots/1", length, expect), 400, "malformed-snapshot-id"),
      (head("PUT /v1/snapshots/\(bundle.id)", length, expect), 405, "method-not-allowed"),
    ]
    for (request, status, kind) in refusals {
      let api = TestAPI(limits: limits)
      try await serve(api) { client in
        try client.send(request)
        let response = try client.receiveResponse()
        #expect(response.status == status)
        #expect(response.field("Content-Type") == "application/problem+json")
        #expect(response.field("X-Content-Type-Options") == "nosniff")
        #expect(response.text.contains("\"urn:data-snapshots:problem:\(kind)\""))
      }
      #expect(api.store.ends.begun == 0)
    }
  }

  @Test func `a caller who may not attach is refused before 100 Continue`() async throws {
    let guarded = try GuardedAPI()
    let reader = try guarded.token(.read)
    let other = try guarded.token(.attach, limits: CallerLimits(reportPrefixes: ["IOS-"]))
    let revoked = try guarded.token(.attach)
    try guarded.tokens.revoke(revoked.id)
    let cases: [(HTTPFields, Int)] = [
      ([:], 401), (revoked.fields, 401), (reader.fields, 403), (other.fields, 403),
    ]
    for (fields, status) in cases {
      let request = head(
        put, "Content-Type: application/zip", length, "Expect: 100-continue",
        "Authorization: \(fields[.authorization] ?? "none")")
      try await serve(guarded.api) { client in
        try client.send(request)
        let response = try client.receiveResponse()
        #expect(response.status == status)
        #expect((response.field("WWW-Authenticate") == nil) == (fields == other.fields))
      }
    }
    #expect(guarded.api.store.ends.begun == 0)
  }

  @Test func `an upload is discarded when its client disconnects`() async throws {
    let (request, half) = (
      head(put, "Content-Type: application/zip", length), Array(bundle.bytes.prefix(100_000))
    )
    let api = TestAPI()
    try await serve(api) { client in
      try client.send(request)
      try client.send(half)
      client.reset()
    } then: {
      await api.store.discarded()
    }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
  }

  @Test func `a form is uploaded in chunks`() async throws {
    let form = TestAPI.form([
      (head: "Content-Disposition: form-data; name=\"title\"", data: Array("It crashes".utf8)),
      (head: "Content-Disposition: form-data; name=\"snapshot\"; filename=\"a.zip\"", data: bundle.bytes),
    ])
    let request = head(
      "POST /v1/reports/BUG-1/snapshots", "Content-Type: multipart/form-data; boundary=XX",
      "Transfer-Encoding: chunked", "Content-Digest: \(ZippedSample.digestField(form))")
    let api = TestAPI()
    try await serve(api) { client in
      try client.send(request)
      for start in stride(from: 0, to: form.count, by: 70_000) {
        let chunk = form[start..<min(start + 70_000, form.count)]
        try client.send(Array("\(String(chunk.count, radix: 16))\r\n".utf8) + chunk + [13, 10])
      }
      try client.send("0\r\n\r\n")
      let created = try client.receiveResponse()
      #expect(created.status == 201)
      #expect(created.text.contains("\"title\":\"It crashes\""))
    }
  }
}
