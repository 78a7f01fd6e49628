import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO
import TestSupport
import Testing

@testable import AccessControl

/// Calls that are running when their token ends.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct RunningCallTests {
  enum End: CaseIterable, Sendable { case revoked, expired, removed }

  /// A token that ends when a test says so, and one that stays valid.
  private struct Fixture {
    let guarded: GuardedAPI
    let ending: (id: String, fields: HTTPFields)
    let lasting: (id: String, fields: HTTPFields)

    init(_ scopes: Scope...) throws {
      guarded = try GuardedAPI()
      let request = TokenStore.Request(
        scopes: Set(scopes), expiresAt: guarded.clock.now.addingTimeInterval(60))
      let (token, secret) = try guarded.tokens.create(request, now: guarded.clock.now)
      ending = (token.id, GuardedAPI.bearer(secret))
      lasting = try guarded.token(.admin)
    }

    func end(_ end: End) throws {
      switch end {
      case .revoked: try guarded.tokens.revoke(ending.id)
      case .expired: guarded.clock.pass(.seconds(60))
      case .removed:
        try FileManager.default.removeItem(atPath: guarded.storage + "/tokens/\(ending.id).json")
      }
    }

    func look() async throws { try await #require(guarded.access.authenticator).endInvalidCalls() }

    func serve(_ body: (UInt16) async throws -> Void) async throws {
      let log = guarded.api.log
      let server = HTTPServer(
        configuration: .init(port: 0), handler: guarded.api.handler,
        logger: Logger(label: "test") { _ in log })
      let port = try await server.start().port
      do { try await body(port) } catch {
        await server.shutdown(deadline: .zero)
        throw error
      }
      await server.shutdown(deadline: .zero)
    }
  }

  private static func head(_ request: String, _ token: HTTPFields, _ fields: String...) -> String {
    ([
      "\(request) HTTP/1.1", "Host: localhost", "Authorization: \(token[.authorization] ?? "none")",
    ] + fields).joined(separator: "\r\n") + "\r\n\r\n"
  }

  /// Returns whether the connection ends before this many more bytes are received.
  private static func isCut(_ client: RawHTTPClient, before count: Int) -> Bool {
    do { return try client.receiveExactly(count).isEmpty } catch { return true }
  }

  // MARK: Aborted calls

  @Test(arguments: End.allCases) func `a download is aborted when its token ends, and no other download is`(
    end: End
  ) async throws {
    let fixture = try Fixture(.read)
    // More bytes than the system buffers for a client that doesn't read.
    let bundle = try ZippedSample(String(repeating: "0123456789abcdef", count: 1 << 20))
    try await fixture.guarded.attach(bundle, fixture.lasting.fields)
    let path = "GET /v1/snapshots/\(bundle.id).zip"
    try await fixture.serve { port in
      let clients = try await RawHTTPClient.run {
        try [fixture.ending, fixture.lasting].map { token in
          let client = try RawHTTPClient(port: port, receiveBuffer: 32 * 1024)
          try client.send(Self.head(path, token.fields))
          _ = try client.receiveExactly(1000)
          return client
        }
      }
      let rest = bundle.bytes.count - 1000
      try await fixture.look()
      try fixture.end(end)
      try await fixture.look()
      let (isCut, received) = try await RawHTTPClient.run {
        (Self.isCut(clients[0], before: rest), try clients[1].receiveExactly(rest).count)
      }
      #expect(isCut)
      #expect(received == rest)
    }
  }

  @Test func `an upload is aborted when its token ends`() async throws {
    let fixture = try Fixture(.attach)
    let bundle = try ZippedSample()
    let put = Self.head(
      "PUT /v1/reports/BUG-1/snapshots/\(bundle.id)", fixture.ending.fields, "Content-Type: application/zip",
      "Content-Length: \(bundle.bytes.count)", "Expect: 100-continue")
    try await fixture.serve { port in
      let client = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(put)
        #expect(try client.receiveResponse().status == 100)
        try client.send(Array(bundle.bytes.prefix(10)))
        return client
      }
      try fixture.end(.revoked)
      try await fixture.look()
      #expect(try await RawHTTPClient.run { Self.isCut(client, before: 1) })
      await fixture.guarded.api.store.discarded()
    }
    #expect(fixture.guarded.api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test func `a finished call is released, and its connection is not closed`() async throws {
    let fixture = try Fixture(.read)
    let authenticator = try #require(fixture.guarded.access.authenticator)
    for _ in 0..<3 { try await fixture.guarded.api.send(.get, "/v1/snapshots", fixture.ending.fields) }
    #expect(authenticator.running.tokens.isEmpty)
    let first = Self.head("GET /v1/snapshots", fixture.ending.fields)
    let next = Self.head("GET /v1/snapshots", fixture.lasting.fields)
    try await fixture.serve { port in
      let client = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send(first)
        #expect(try client.receiveResponse().status == 200)
        return client
      }
      try fixture.end(.revoked)
      try await fixture.look()
      try await RawHTTPClient.run {
        try client.send(next)
        #expect(try client.receiveResponse().status == 200)
      }
    }
  }

  @Test func `calls continue while it is unknown whether their token is valid`() async throws {
    let ended = Lock(0)
    let fixture = try Fixture(.read)
    let authenticator = try #require(fixture.guarded.access.authenticator)
    let call = authenticator.running.add(fixture.ending.id) { ended.withLock { $0 += 1 } }
    let folder = fixture.guarded.storage + "/tokens"
    try FileManager.default.moveItem(atPath: folder, toPath: folder + ".moved")
    try Data().write(to: URL(filePath: folder))
    try await fixture.look()
    #expect(ended.withLock { $0 } == 0)
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.moveItem(atPath: folder + ".moved", toPath: folder)
    try fixture.end(.revoked)
    try await fixture.look()
    #expect(ended.withLock { $0 } == 1)
    withExtendedLifetime(call) {}
  }

  @Test func `running calls are checked every second until the task is cancelled`() async throws {
    let (looks, gate) = (AsyncStream.makeStream(of: Duration.self), AsyncStream.makeStream(of: Void.self))
    let clock = AccessClock(sleep: { time in
      looks.continuation.yield(time)
      for await _ in gate.stream { return }
      throw CancellationError()
    })
    let guarded = try GuardedAPI { $0.clock = clock }
    let token = try guarded.token(.read)
    let authenticator = try #require(guarded.access.authenticator)
    let ended = Lock(0)
    let call = authenticator.running.add(token.id) { ended.withLock { $0 += 1 } }
    let watch = Task { await guarded.access.watch() }
    var waits = looks.stream.makeAsyncIterator()
    #expect(await waits.next() == .seconds(1))
    #expect(ended.withLock { $0 } == 0)
    try guarded.tokens.revoke(token.id)
    gate.continuation.yield()
    _ = await waits.next()
    #expect(ended.withLock { $0 } == 1)
    watch.cancel()
    await watch.value
    withExtendedLifetime(call) {}
  }

  // MARK: Refused at the end of the body

  /// The ways to send a bundle.
  enum Way: CaseIterable, Sendable { case put, post, form, tus, draft, draftAtOnce }

  @Test(arguments: End.allCases, Way.allCases)
  func `an upload whose token ends before its last byte is refused`(
    end: End, way: Way
  ) async throws {
    let fixture = try Fixture(.attach)
    let (api, bundle) = (fixture.guarded.api, try ZippedSample())
    let token = fixture.ending.fields
    func with(_ fields: HTTPFields) -> HTTPFields { token.appending(fields) }
    func body(_ bytes: [UInt8]) -> HTTPRequestBody { .pieces(of: bytes) { try fixture.end(end) } }
    let reports = "/v1/reports/BUG-1/snapshots"
    let answer: TestAPI.Answer
    switch way {
    case .put:
      answer = try await api.send(
        .put, "\(reports)/\(bundle.id)", with([.contentType: "application/zip"]), body: body(bundle.bytes))
    case .post:
      answer = try await api.send(
        .post, reports, with([.contentType: "application/zip"]), body: body(bundle.bytes))
    case .form:
      let form = TestAPI.form([
        (head: "Content-Disposition: form-data; name=\"snapshot\"", data: bundle.bytes)
      ])
      answer = try await api.send(
        .post, reports, with([.contentType: "multipart/form-data; boundary=XX"]), body: body(form))
    case .tus:
      let path = try await api.open(bundle.bytes.count, [("report", "BUG-1")], token)
      answer = try await api.tus(
        .patch, path, with([.uploadOffset: "0", .contentType: TestAPI.tusType]), body: body(bundle.bytes))
    case .draft:
      let opened = try await api.upload([], fields: with([.uploadComplete: "?0"]))
      let path = try #require(opened.fields[.location])
      answer = try await api.send(
        .patch, path,
        with([.uploadOffset: "0", .uploadComplete: "?1", .contentType: "application/partial-upload"]),
        body: body(bundle.bytes))
    case .draftAtOnce:
      answer = try await api.send(
        .post, reports, with([.contentType: "application/zip", .uploadComplete: "?1"]),
        body: body(bundle.bytes))
    }
    #expect(answer.status == 401)
    #expect(answer.kind == (end == .expired ? "token-expired" : "token-refused"))
    #expect(api.store.ends.committed == 0)
    let list = try await api.send(.get, "/v1/snapshots", fixture.lasting.fields)
    #expect(list.text.contains("\"snapshots\":[]"), "\(list.text)")
  }

  @Test func `an upload that waits for publication is not published after its token has ended`() async throws
  {
    let fixture = try Fixture(.attach)
    let (api, bundle) = (fixture.guarded.api, try ZippedSample())
    let path = try await api.open(bundle.bytes.count, [("report", "BUG-1")], fixture.ending.fields)
    let fields: HTTPFields = [.uploadOffset: "0", .contentType: TestAPI.tusType]
    let answer = try await api.tus(
      .patch, path, fixture.ending.fields.appending(fields),
      body: .pieces(of: bundle.bytes) { try fixture.end(.revoked) })
    #expect(answer.status == 401)
    let service = SnapshotService(store: api.store, catalog: api.catalog)
    func publishDue(_ access: AccessPolicy) async {
      let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
      await UploadService(service, store: api.store.uploads, access: access, logger: logger).publishDue()
    }
    func outcomes() async -> Int { await api.store.uploads.uploadSessions().count { $0.outcome != nil } }
    await publishDue(fixture.guarded.access)
    #expect(await outcomes() == 0)
    await publishDue(.open)
    #expect(await outcomes() == 1, "it was complete")
  }

  @Test func `a record is not changed if the token ends before the body is received`() async throws {
    let fixture = try Fixture(.admin)
    let (api, bundle) = (fixture.guarded.api, try ZippedSample())
    try await fixture.guarded.attach(bundle, fixture.lasting.fields)
    let answer = try await api.send(
      .patch, "/v1/snapshots/\(bundle.id)",
      fixture.ending.fields.appending([.contentType: "application/merge-patch+json"]),
      body: .pieces(of: Array("{\"pinned\":true}".utf8)) { try fixture.end(.revoked) })
    #expect(answer.status == 401)
    #expect(try await !api.store.record(bundle.id).isPinned)
  }
}

extension HTTPFields {
  fileprivate func appending(_ more: HTTPFields) -> HTTPFields {
    var all = self
    all.append(contentsOf: more)
    return all
  }
}
