import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SystemIO
import Testing

@Suite struct AttachLinkTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private let maker: (id: String, fields: HTTPFields)

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
    maker = try guarded.token(.read, .attach)
  }

  private struct Link: Decodable {
    let id: String
    let link: String?
    let token: String?
    let state: String
    let createdBy: String
    let usedCount: Int
    let usedBytes: Int64
    var fields: HTTPFields { GuardedAPI.bearer(token ?? "") }
  }

  private struct Links: Decodable { let links: [Link] }

  private func make(_ query: String? = nil, report: String = "BUG-1") async throws -> Link {
    let answer = try await guarded.api.send(.post, "/v1/reports/\(report)/links", query: query, maker.fields)
    #expect(answer.status == 201)
    #expect(answer.fields[.cacheControl] == "no-store")
    let link = try answer.decode(Link.self)
    #expect(answer.fields[.location] == link.link)
    return link
  }

  private func known(_ link: Link) async throws -> Link? {
    try await guarded.api.send(.get, "/v1/reports/BUG-1/links", maker.fields).decode(Links.self).links
      .first { $0.id == link.id }
  }

  private func attach(
    _ bundle: ZippedSample, report: String = "BUG-1", _ link: Link
  ) async throws -> TestAPI.Answer {
    try await guarded.attach(bundle, report: report, link.fields)
  }

  @Test func `a link attaches to its report, and its uses are counted`() async throws {
    let link = try await make("seconds=60&count=2&bytes=1000000")
    let answer = try await attach(bundle, link)
    #expect(answer.status == 201)
    let record = try await guarded.api.store.record(bundle.id)
    #expect(record.attachedBy == link.id)
    let used = try #require(try await known(link))
    #expect(used.usedCount == 1)
    #expect(used.usedBytes == Int64(bundle.bytes.count))
    #expect(used.token == nil)
    #expect(used.link == nil)
    #expect(used.createdBy == maker.id)
  }

  @Test func `a link gives access to nothing but attaching to its report`() async throws {
    let link = try await make()
    try await guarded.attach(bundle, maker.fields)
    let unknown = try await guarded.api.send(
      .get, "/v1/snapshots/\(bundle.id)",
      GuardedAPI.bearer("snapshot_000000000000_\(String(repeating: "A", count: 43))"))
    #expect(unknown.kind == "token-refused")
    for route in guarded.api.calls where ![.open, .attach].contains(route.permission) {
      let path = route.template.replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(bundle.id)")
      let answer = try await guarded.api.send(route.method, path, link.fields)
      #expect(answer.status == 401, "\(path)")
      #expect(answer.kind == unknown.kind, "\(path)")
    }
    let other = try await attach(try ZippedSample("other"), report: "BUG-12", link)
    #expect(other.status == 401)
    #expect(other.kind == unknown.kind)
    let tus = try await guarded.api.send(
      .post, "/v1/uploads",
      link.fields.with([
        "Tus-Resumable": "1.0.0", "Upload-Length": "10",
        "Upload-Metadata": "report \(Data("BUG-2".utf8).base64EncodedString())",
      ]))
    #expect(tus.status == 401)
    #expect(tus.kind == unknown.kind)
  }

  @Test func `a link learns nothing about what others attached`() async throws {
    let link = try await make()
    try await guarded.attach(bundle, maker.fields)
    let answer = try await guarded.api.upload(
      try ZippedSample("other").bytes, .put, report: "BUG-1", id: bundle.id, fields: link.fields)
    #expect(answer.status == 409)
    #expect(answer.kind == "snapshot-differs")
    #expect(try await attach(bundle, link).status == 409)
    #expect(try await known(link)?.usedCount == 0)
  }

  @Test func `a link signs nobody in, and its id is no certificate's name`() async throws {
    let link = try await make()
    let token = try #require(link.token)
    let request = HTTPServerRequest(
      method: .post, path: "/sign-in", authority: "localhost", peer: "127.0.0.1")
    await #expect(throws: HTTPProblem.self) { try await guarded.access.signIn(token, request) }
  }

  @Test func `a link allows as many snapshots as it says, and a repeated one counts once`() async throws {
    let link = try await make("count=2")
    for name in ["a", "b"] { #expect(try await attach(try ZippedSample(name), link).status == 201) }
    let refused = try await attach(try ZippedSample("c"), link)
    #expect(refused.status == 403)
    #expect(refused.kind == "link-used-up")
    #expect(try await known(link)?.usedCount == 2)
  }

  @Test func `repeating an upload counts once`() async throws {
    let link = try await make("count=1")
    #expect(try await attach(bundle, link).status == 201)
    #expect(try await known(link)?.usedCount == 1)
    #expect(try await attach(bundle, link).status == 200)
    #expect(try await known(link)?.usedCount == 1)
  }

  @Test func `a bundle that was refused is not counted`() async throws {
    let link = try await make("count=1")
    let answer = try await guarded.api.upload(
      Array("no bundle".utf8), .put, report: "BUG-1", id: SnapshotID(), fields: link.fields)
    #expect(answer.status == 422)
    #expect(try await known(link)?.usedCount == 0)
    #expect(try await attach(bundle, link).status == 201)
  }

  @Test(arguments: [-1, 0, 1]) func `a link allows as many bytes as it says`(more: Int) async throws {
    let link = try await make("bytes=\(bundle.bytes.count - more)")
    let answer = try await attach(bundle, link)
    #expect(answer.status == (more > 0 ? 413 : 201))
    if more > 0 { #expect(answer.kind == "link-bytes-exceeded") }
  }

  @Test func `a body without a length is refused at its end`() async throws {
    let link = try await make("bytes=\(bundle.bytes.count - 1)")
    let answer = try await guarded.api.send(
      .post, "/v1/reports/BUG-1/snapshots", link.fields.with(["Content-Type": "application/zip"]),
      body: .pieces(of: bundle.bytes, isChunked: true))
    #expect(answer.kind == "link-bytes-exceeded")
    #expect(try await known(link)?.usedBytes == 0)
  }

  @Test func `uploads at the same time exceed no link`() async throws {
    let link = try await make("count=3")
    let (api, fields) = (guarded.api, link.fields)
    let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<12 {
        group.addTask {
          let bundle = try ZippedSample("bundle \(number)")
          return try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields).status
        }
      }
      return try await group.reduce(into: [Int]()) { $0.append($1) }
    }
    #expect(statuses.filter { $0 == 201 }.count == 3)
    #expect(statuses.filter { $0 == 403 }.count == 9)
    #expect(try await known(link)?.usedCount == 3)
  }

  @Test func `the count survives a restart of the server`() async throws {
    let link = try await make("count=1")
    #expect(try await attach(bundle, link).status == 201)
    let again = try AccessPolicy(
      AccessPolicy.Configuration(storage: guarded.storage), logger: Logger(label: "test"))
    let answer = try await TestAPI(access: again).upload(
      try ZippedSample("other").bytes, .put, report: "BUG-1", id: SnapshotID(), fields: link.fields)
    #expect(answer.kind == "link-used-up")
  }

  @Test func `a link expires`() async throws {
    let link = try await make("seconds=60")
    guarded.clock.pass(.seconds(61))
    let answer = try await attach(bundle, link)
    #expect(answer.status == 401)
    #expect(answer.kind == "link-expired")
  }

  @Test func `a revoked link is refused like an unknown one`() async throws {
    let link = try await make()
    let path = "/v1/reports/BUG-1/links/\(link.id)"
    let stranger = try guarded.token(.read, .attach)
    #expect(try await guarded.api.send(.delete, path, stranger.fields).status == 403)
    #expect(
      try await guarded.api.send(.delete, "/v1/reports/BUG-2/links/\(link.id)", maker.fields).kind
        == "no-such-link")
    #expect(
      try await guarded.api.send(.delete, "/v1/reports/BUG-1/links/\(maker.id)", maker.fields).kind
        == "no-such-link")
    #expect(try await guarded.api.send(.delete, path, maker.fields).status == 204)
    #expect(try await attach(bundle, link).kind == "token-refused")
    #expect(try await known(link)?.state == "revoked")
  }

  @Test func `an administrator revokes the links of others`() async throws {
    let link = try await make()
    let admin = try guarded.token(.admin)
    #expect(
      try await guarded.api.send(.delete, "/v1/reports/BUG-1/links/\(link.id)", admin.fields).status == 204)
    #expect(try await attach(bundle, link).status == 401)
  }

  @Test func `a link is revoked with the token that made it`() async throws {
    let link = try await make()
    try guarded.tokens.revoke(maker.id)
    #expect(try await attach(bundle, link).kind == "token-refused")
  }

  @Test func `a link expires with the token that made it`() async throws {
    let maker = try guarded.token(.read, .attach, expiresAt: guarded.clock.now.addingTimeInterval(100))
    let answer = try await guarded.api.send(
      .post, "/v1/reports/BUG-1/links", query: "seconds=1000", maker.fields)
    let link = try answer.decode(Link.self)
    #expect(try await attach(bundle, link).status == 201)
    guarded.clock.pass(.seconds(101))
    #expect(try await attach(try ZippedSample("other"), link).status == 401)
  }

  @Test func `only tokens that read and attach make links`() async throws {
    for scopes in [[Scope.read], [.attach], [.delete]] {
      let request = TokenStore.Request(scopes: Set(scopes))
      let fields = GuardedAPI.bearer(try guarded.tokens.create(request, now: guarded.clock.now).secret)
      let answer = try await guarded.api.send(.post, "/v1/reports/BUG-1/links", fields)
      #expect(answer.kind == "not-permitted")
    }
    let limited = try guarded.token(.read, .attach, limits: CallerLimits(reportPrefixes: ["CRASH-"]))
    #expect(
      try await guarded.api.send(.post, "/v1/reports/BUG-1/links", limited.fields).kind == "outside-limits")
  }

  @Test func `an open store makes no links`() async throws {
    let open = try GuardedAPI()
    #expect(try await open.api.send(.post, "/v1/reports/BUG-1/links").kind == "links-need-tokens")
    #expect(try await open.access.isOpen())
  }

  @Test(arguments: [
    ("seconds", AttachLink.Limits.lifetimes.lowerBound, AttachLink.Limits.lifetimes.upperBound),
    ("count", AttachLink.Limits.counts.lowerBound, AttachLink.Limits.counts.upperBound),
    ("bytes", Int(AttachLink.Limits.bytes.lowerBound), Int(AttachLink.Limits.bytes.upperBound)),
  ]) func `the numbers of a link have limits`(name: String, low: Int, high: Int) async throws {
    for number in [low, high] { _ = try await make("\(name)=\(number)") }
    for text in ["\(low - 1)", "\(high + 1)", "x", ""] {
      let answer = try await guarded.api.send(
        .post, "/v1/reports/BUG-1/links", query: "\(name)=\(text)", maker.fields)
      #expect(answer.kind == "bad-request", "\(name)=\(text)")
    }
  }

  @Test func `a report has a limited number of valid links`() async throws {
    var link: Link?
    for _ in 0..<AttachLink.Limits.perReport { link = try await make() }
    let answer = try await guarded.api.send(.post, "/v1/reports/BUG-1/links", maker.fields)
    #expect(answer.status == 409)
    #expect(answer.kind == "too-many-links")
    _ = try await make(report: "BUG-2")
    let last = try #require(link)
    _ = try await guarded.api.send(.delete, "/v1/reports/BUG-1/links/\(last.id)", maker.fields)
    _ = try await make()
  }

  @Test func `revoking and using a link at the same time lose neither`() async throws {
    let link = try await make("count=50")
    let (api, fields, tokens) = (guarded.api, link.fields, guarded.tokens)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<8 {
        group.addTask {
          let bundle = try ZippedSample("bundle \(number)")
          try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields)
        }
      }
      group.addTask { try tokens.revoke(link.id) }
      try await group.waitForAll()
    }
    #expect(try await known(link)?.state == "revoked")
    #expect(try await attach(bundle, link).status == 401)
  }

  @Test func `a resumable upload by a link is counted when it is published`() async throws {
    let link = try await make("count=1")
    let metadata = [("report", "BUG-1"), ("note", "from a customer")]
      .map { "\($0) \(Data($1.utf8).base64EncodedString())" }.joined(separator: ",")
    let opened = try await guarded.api.send(
      .post, "/v1/uploads",
      link.fields.with([
        "Tus-Resumable": "1.0.0", "Upload-Length": "\(bundle.bytes.count)", "Upload-Metadata": metadata,
      ]))
    #expect(opened.status == 201)
    #expect(try await known(link)?.usedCount == 0)
    let path = try #require(opened.fields[.location]).replacing(/^http:\/\/[^\/]*/, with: "")
    let other = try await make("count=1")
    let part: [String: String] = [
      "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream",
    ]
    let foreign = try await guarded.api.send(
      .patch, path, other.fields.with(part), body: .pieces(of: bundle.bytes))
    #expect(foreign.status == 404)
    let ended = try await guarded.api.send(
      .patch, path, link.fields.with(part), body: .pieces(of: bundle.bytes))
    #expect(ended.status == 204)
    #expect(try await known(link)?.usedCount == 1)
    let more = try await guarded.api.send(
      .post, "/v1/uploads",
      link.fields.with(["Tus-Resumable": "1.0.0", "Upload-Length": "10", "Upload-Metadata": metadata]))
    #expect(more.kind == "link-used-up")
  }

  @Test func `a resumable upload that exceeds a link is refused before its bytes, or removed at its end`()
    async throws
  {
    let link = try await make("bytes=\(bundle.bytes.count - 1)")
    let report = "report \(Data("BUG-1".utf8).base64EncodedString())"
    let known = try await guarded.api.send(
      .post, "/v1/uploads",
      link.fields.with([
        "Tus-Resumable": "1.0.0", "Upload-Length": "\(bundle.bytes.count)", "Upload-Metadata": report,
      ]))
    #expect(known.kind == "link-bytes-exceeded")
    let deferred = try await guarded.api.send(
      .post, "/v1/uploads",
      link.fields.with(["Tus-Resumable": "1.0.0", "Upload-Defer-Length": "1", "Upload-Metadata": report]))
    let path = try #require(deferred.fields[.location]).replacing(/^http:\/\/[^\/]*/, with: "")
    let whole = try await guarded.api.send(
      .patch, path,
      link.fields.with([
        "Tus-Resumable": "1.0.0", "Upload-Offset": "0", "Content-Type": "application/offset+octet-stream",
      ]), body: .pieces(of: bundle.bytes))
    #expect(whole.kind == "link-bytes-exceeded")
  }
}

extension HTTPFields {
  /// The fields with more ones.
  fileprivate func with(_ more: [String: String]) -> HTTPFields {
    var fields = self
    for (name, value) in more { if let name = HTTPField.Name(name) { fields[name] = value } }
    return fields
  }
}
