import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import InMemoryTracing
import Logging
import Observability
import PrometheusMetrics
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing
import Tracing

/// Metrics, logs, traces and the audit log of the API.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ObservationTests {
  private let folder: TemporaryFolder
  private let registry = PrometheusRegistry()
  private let log = CapturedLog()
  private let bundle: ZippedSample

  init() throws {
    folder = try TemporaryFolder()
    bundle = try ZippedSample()
  }

  private var logger: Logger { Logger(label: "test") { _ in log } }

  private func makeAudit() throws -> AuditLog {
    try AuditLog(.together(folder.file("audit.log").path), logger: logger)
  }

  private func audited() throws -> [[String: JSONValue]] {
    try String(contentsOf: folder.file("audit.log"), encoding: .utf8).split(separator: "\n").map {
      try JSONDecoder().decode([String: JSONValue].self, from: Data($0.utf8))
    }
  }

  // MARK: The audit log

  @Test func `attaching, reading and deleting are recorded with the caller before the response`() async throws
  {
    let api = TestAPI(observation: Observation(audit: try makeAudit()))
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let path = "/v1/snapshots/\(bundle.id)"
    for (method, path) in [
      (HTTPRequest.Method.get, path + ".zip"), (.head, path + ".zip"), (.get, path), (.get, "/v1/snapshots"),
      (.get, "/v1/reports/BUG-1/snapshots"), (.delete, path), (.get, path),
    ] {
      try await api.send(method, path)
    }
    let events = try audited()
    #expect(
      events.map { $0["action"] } == [
        "attachSnapshotAs", "fetchBundle", "fetchBundle", "readSnapshot", "listSnapshots", "listReport",
        "deleteSnapshot", "readSnapshot",
      ])
    #expect(events.map { $0["status"] } == [201, 200, 200, 200, 200, 200, 204, 410])
    #expect(events.map { $0["result"] }.prefix(7).allSatisfy { $0 == "done" })
    #expect(events[7]["result"] == "refused")
    for event in events {
      #expect(event["request"] == "test")
      #expect(event["address"] == "127.0.0.1:4711")
      #expect(event["token"] == nil)
    }
    for index in [0, 1, 2, 3, 6, 7] { #expect(events[index]["snapshot"] == .string("\(bundle.id)")) }
    for index in [0, 1, 2, 3, 5, 6] { #expect(events[index]["report"] == "BUG-1") }
  }

  @Test func `the UUID that the server generated is recorded`() async throws {
    let api = TestAPI(observation: Observation(audit: try makeAudit()))
    let record = try await api.upload(bundle.bytes).decode(SnapshotRecord.self)
    #expect(try audited().map { $0["snapshot"] } == [.string("\(record.id)")])
  }

  @Test func `refused and interrupted requests are also recorded`() async throws {
    let api = TestAPI(observation: Observation(audit: try makeAudit()))
    try await api.send(.get, "/v1/snapshots/\(bundle.id).zip")
    try await api.send(.get, "/v1/snapshots/nonsense")
    try await api.upload([1, 2, 3])
    let broken = HTTPRequestBody(declaredLength: 10) { throw HTTPBodyError.disconnected }
    await #expect(throws: HTTPBodyError.self) {
      try await api.send(
        .post, "/v1/reports/BUG-1/snapshots", [.contentType: "application/zip"], body: broken)
    }
    api.store.fail(.record, with: .system(SystemError(operation: "open", code: 5)))
    try await api.send(.get, "/v1/snapshots/\(bundle.id).zip")
    let events = try audited()
    #expect(events.map { $0["result"] } == ["refused", "refused", "refused", "failed", "failed"])
    #expect(events.map { $0["status"] } == [404, 400, 422, nil, 503])
    #expect(events[1]["snapshot"] == nil)
    #expect(
      events.map { $0["problem"]?.text } == [
        "no-such-snapshot", "malformed-snapshot-id", "invalid-bundle", nil, "storage-unavailable",
      ])
  }

  @Test func `a refused caller is recorded with the token's id, never the token`() async throws {
    let guarded = try GuardedAPI(observation: Observation(audit: try makeAudit()))
    let attach = try guarded.token(.attach)
    let reader = try guarded.token(.read)
    try await guarded.attach(bundle, attach.fields)
    let path = "/v1/snapshots/\(bundle.id).zip"
    for fields in [[:], GuardedAPI.bearer("nonsense"), attach.fields, reader.fields] {
      try await guarded.api.send(.get, path, fields)
    }
    try await guarded.api.send(.get, "/v1/snapshots", query: "access_token=secret", reader.fields)
    let events = try audited()
    #expect(events.map { $0["status"] } == [201, 401, 401, 403, 200, 400])
    #expect(events.map { $0["token"]?.text } == [attach.id, nil, nil, attach.id, reader.id, nil])
    #expect(
      events.map { $0["result"]?.text } == ["done", "refused", "refused", "refused", "done", "refused"])
    let text = try String(contentsOf: folder.file("audit.log"), encoding: .utf8)
    for fields in [attach.fields, reader.fields] {
      let secret = try #require(fields[.authorization]?.split(separator: " ").last)
      #expect(!text.contains(secret))
    }
    #expect(!text.contains("nonsense") && !text.contains("secret"))
  }

  @Test func `a download with a link is recorded as such`() async throws {
    let guarded = try GuardedAPI(observation: Observation(audit: try makeAudit()))
    let token = try guarded.token(.admin)
    try await guarded.attach(bundle, token.fields)
    let made = try await guarded.api.send(.post, "/v1/snapshots/\(bundle.id)/links", token.fields)
    let link = try #require(made.fields[.location])
    let parts = link.split(separator: "?")
    try await guarded.api.send(.get, String(parts[0]), query: String(parts[1]))
    let events = try audited()
    #expect(events.map { $0["action"]?.text } == ["attachSnapshotAs", "createLink", "fetchBundle"])
    #expect(events[2]["link"] == true && events[2]["token"] == nil)
    #expect(!(try String(contentsOf: folder.file("audit.log"), encoding: .utf8)).contains(parts[1]))
  }

  @Test func `calls that disclose nothing of snapshots are not recorded`() async throws {
    let api = TestAPI(observation: Observation(audit: try makeAudit()))
    for path in ["/", "/healthz", "/openapi.json", "/nothing"] { try await api.send(.get, path) }
    try await api.send(.options, "/v1/snapshots")
    #expect(try audited().isEmpty)
  }

  @Test func `calls that can't be recorded disclose and change nothing`() async throws {
    let audit = try makeAudit()
    let api = TestAPI(observation: Observation(metrics: ServerMetrics(registry), audit: audit))
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    try Folder.remove(folder.file("audit.log").path)
    try Folder.create(folder.file("audit.log").path)
    let path = "/v1/snapshots/\(bundle.id)"
    let refused = try await api.send(.get, path + ".zip")
    #expect(refused.status == 503)
    #expect(refused.kind == "audit-unavailable")
    #expect(refused.fields[.retryAfter] == "5")
    #expect(refused.bytes.isEmpty)
    #expect(try await api.send(.get, "/v1/snapshots").status == 503)
    #expect(try await api.send(.delete, path).status == 503)
    #expect(try await api.upload(bundle.bytes).status == 503)
    #expect(api.store.ends.begun == 1)
    #expect(try await api.send(.get, "/healthz").status == 200)
    #expect(registry.text().contains(#"snapshot_audit_events_total{result="failed"} 4"#))
    try Folder.remove(folder.file("audit.log").path)
    #expect(try await api.send(.delete, path).status == 204)
    #expect(try audited().map { $0["action"] } == ["deleteSnapshot", "deleteSnapshot"])
    #expect(try audited().map { $0["status"] } == [503, 204])
  }

  @Test func `a change made while the log failed is answered, and is in the server's own log`() async throws {
    let audit = try makeAudit()
    let api = TestAPI(observation: Observation(audit: audit))
    try Folder.remove(folder.file("audit.log").path)
    try Folder.create(folder.file("audit.log").path)
    #expect(try await api.upload(bundle.bytes).status == 201)
    #expect(api.log.lines.contains { $0.hasPrefix("critical") && $0.contains("attachSnapshot") })
  }

  // MARK: Metrics

  @Test func `requests are counted by route and status, uploads by outcome`() async throws {
    let metrics = ServerMetrics(registry)
    var observation = Observation(metrics: metrics)
    observation.metricsText = (
      text: { [registry] in registry.text() }, contentType: PrometheusRegistry.contentType
    )
    let api = TestAPI(observation: observation)
    let observer = RequestObserver(metrics, logger: logger)
    var configuration = HTTPServer.Configuration(port: 0)
    configuration.onResponse = { observer.observe($0) }
    configuration.logsExchanges = false
    let server = HTTPServer(configuration: configuration, handler: api.handler, logger: logger)
    let port = try await server.start().port
    let bytes = bundle.bytes
    let text = try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port)
      for (method, path) in [("POST", "/v1/reports/B/snapshots"), ("PUT", "/v1/reports/B/snapshots/x")] {
        try client.send(
          "\(method) \(path)?secret=1 HTTP/1.1\r\nHost: a\r\nContent-Type: application/zip\r\n"
            + "Content-Length: \(bytes.count)\r\n\r\n")
        try client.send(bytes)
        _ = try client.receiveResponse()
      }
      for path in ["/v1/snapshots/x", "/v1/snapshots/y", "/nothing", "/other", "/v1/snapshots?limit=1"] {
        try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nX-Request-Id: mine\r\n\r\n")
        #expect(try client.receiveResponse().field("X-Request-Id") == "mine")
      }
      try client.send("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n")
      return try client.receiveResponse().text
    }
    await server.shutdown(deadline: .zero)
    let route = #"route="POST /v1/reports/{report}/snapshots""#
    for line in [
      #"http_requests_total{code="201",\#(route)} 1"#,
      #"http_requests_total{code="400",route="PUT /v1/reports/{report}/snapshots/{id}"} 1"#,
      #"http_requests_total{code="400",route="GET /v1/snapshots/{id}"} 2"#,
      #"http_requests_total{code="404",route="none"} 2"#,
      #"http_requests_total{code="200",route="GET /v1/snapshots"} 1"#,
      #"http_request_duration_seconds_count{\#(route)} 1"#,
      #"snapshot_uploads_total{outcome="created"} 1"#,
      #"snapshot_uploads_total{outcome="malformed-snapshot-id"} 1"#,
    ] {
      #expect(text.contains(line + "\n"), "\(line)")
    }
    let received = try #require(
      text.firstMatch(of: /http_request_bytes_total{route="POST \/v1\/reports[^"]*snapshots"} (\d+)/))
    #expect(try #require(Int(received.1)) > bytes.count)
    // The access log has a line for each, without the query.
    let lines = log.lines.filter { $0.hasPrefix("info request") }
    #expect(lines.count == 8)
    #expect(lines.allSatisfy { !$0.contains("secret") })
    #expect(lines.contains { $0.contains("mine") && $0.contains("/nothing") })
  }

  // MARK: Traces

  @Test func `a request is a span of its caller's trace`() async throws {
    let tracer = InMemoryTracer()
    var observation = Observation()
    observation.tracer = tracer
    let api = TestAPI(observation: observation)
    try await api.send(
      .get, "/v1/snapshots/\(bundle.id)",
      [try name("in-memory-trace-id"): "trace-7", try name("in-memory-span-id"): "span-7"])
    try await api.send(.get, "/nothing")
    let spans = tracer.finishedSpans
    #expect(spans.map(\.operationName) == ["GET /v1/snapshots/{id}", "GET"])
    #expect(spans.first?.context.inMemorySpanContext?.traceID == "trace-7")
    #expect(spans.first?.context.inMemorySpanContext?.parentSpanID == "span-7")
    #expect(spans.first?.attributes.get("http.response.status_code") == .int64(404))
    #expect(spans.first?.attributes.get("http.route") == .string("/v1/snapshots/{id}"))
    #expect(spans.first?.kind == .server)
  }

  @Test func `the trace of a request is available to its handler and in the access log`() async throws {
    let parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    let seen = AsyncStream.makeStream(of: TraceParent?.self)
    let api = TestAPI(more: [
      Endpoint(unaudited: "readSeen", "/seen", "Reads the trace.", responses: []) { _ in
        seen.continuation.yield(ServiceContext.current?.traceParent)
        return HTTPServerResponse(status: .ok)
      }
    ])
    for values in [[parent], [], ["nonsense"], [parent, parent]] {
      var fields = HTTPFields()
      fields[values: try name("traceparent")] = values
      _ = try await api.handler.respond(
        to: HTTPServerRequest(method: .get, path: "/seen", headerFields: fields))
    }
    seen.continuation.finish()
    var parents: [TraceParent?] = []
    for await parent in seen.stream { parents.append(parent) }
    #expect(parents == [TraceParent(parent), nil, nil, nil])
  }

  @Test(arguments: [
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00", true),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-what-the-future-holds", true),
    ("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more", false),
    ("cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01.more", false),
    ("ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-00000000000000000000000000000000-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01", false),
    ("00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01", false),
    ("00_0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", false),
    ("00-0af7651916cd43dd8448eb211c80319g-b7ad6b7169203331-01", false), ("", false),
  ]) func `a traceparent is parsed strictly`(text: String, isValid: Bool) {
    let parent = TraceParent(text)
    #expect((parent != nil) == isValid)
    if let parent { #expect(TraceParent(parent.description) == parent) }
  }

  private func name(_ text: String) throws -> HTTPField.Name { try #require(HTTPField.Name(text)) }
}
