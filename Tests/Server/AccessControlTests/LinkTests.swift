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
import Testing

@Suite struct LinkTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private let reader: HTTPFields

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
    reader = try guarded.token(.read).fields
    try await guarded.attach(bundle, guarded.token(.attach).fields)
  }

  private struct Answer: Decodable {
    let link: String
    let expiresAt: Date
  }

  private func make(_ query: String? = nil, on guarded: GuardedAPI? = nil) async throws -> Answer {
    let answer = try await (guarded ?? self.guarded).api.send(
      .post, "/v1/snapshots/\(bundle.id)/links", query: query, reader)
    #expect(answer.status == 201)
    #expect(answer.fields[.cacheControl] == "no-store")
    let link = try answer.decode(Answer.self)
    #expect(answer.fields[.location] == link.link)
    return link
  }

  private func follow(
    _ link: String, _ method: HTTPRequest.Method = .get, _ fields: HTTPFields = [:]
  ) async throws -> TestAPI.Answer {
    let parts = link.split(separator: "?", maxSplits: 1).map(String.init)
    return try await guarded.api.send(method, parts[0], query: parts[1], fields)
  }

  @Test func `a link gives access to its bundle without a token until it expires`() async throws {
    let link = try await make("seconds=60")
    for method in [HTTPRequest.Method.get, .head] {
      let answer = try await follow(link.link, method)
      #expect(answer.status == 200)
      #expect(answer.fields[.referrerPolicy] == "no-referrer")
    }
    #expect(try await follow(link.link).bytes == bundle.bytes)
    #expect(try await follow(link.link, .get, [.range: "bytes=0-9"]).status == 206)
    let rest = link.expiresAt.timeIntervalSince(guarded.clock.now)
    #expect((60..<61).contains(rest))
    guarded.clock.pass(.seconds(rest - 0.01))
    #expect(try await follow(link.link).status == 200)
    guarded.clock.pass(.milliseconds(10.1))
    let over = try await follow(link.link)
    #expect(over.status == 401)
    #expect(over.kind == "link-expired")
  }

  @Test func `a link gives access to nothing but its bundle`() async throws {
    let other = try ZippedSample("other")
    try await guarded.attach(other, guarded.token(.attach).fields)
    let link = try await make()
    let query = String(link.link.split(separator: "?")[1])
    for path in ["/v1/snapshots/\(other.id).zip", "/v1/snapshots/\(SnapshotID()).zip"] {
      let answer = try await guarded.api.send(.get, path, query: query)
      #expect(answer.status == 401)
      #expect(answer.kind == "link-refused")
    }
    for route in guarded.api.calls where ![.open, .bundle].contains(route.permission) {
      let path = route.template.replacing("{report}", with: "BUG-1").replacing("{id}", with: "\(bundle.id)")
      #expect(try await guarded.api.send(route.method, path, query: query).status == 401, "\(path)")
    }
  }

  @Test func `no part of a link can be changed`() async throws {
    let link = try await make().link
    let expires = try #require(link.firstMatch(of: /expires=(\d+)/)?.1)
    let end = try #require(Int(expires))
    let later = link.replacing("expires=\(expires)", with: "expires=\(end + 1)")
    var changed = [
      later, link.replacing(expires, with: "+\(expires)"), link.replacing(expires, with: "0\(expires)"),
      link + "A", link + "=", String(link.dropLast()), link + "&signature=x", link + "&expires=\(expires)",
      link.replacing("expires=\(expires)&", with: ""),
      String(link.prefix(while: { $0 != "=" })) + "=1&signature=",
    ]
    for index in link.indices.suffix(43) {
      var other = link
      other.replaceSubrange(index...index, with: link[index] == "A" ? "B" : "A")
      changed.append(other)
    }
    for link in changed {
      let answer = try await follow(link)
      #expect([400, 401].contains(answer.status), "\(link)")
      #expect(answer.bytes.isEmpty)
    }
  }

  @Test func `a link works in an open store, and also expires there`() async throws {
    let open = try GuardedAPI()
    try await open.api.upload(bundle.bytes, .put, id: bundle.id)
    let link = try await make("seconds=1", on: open)
    let parts = link.link.split(separator: "?").map(String.init)
    #expect(try await open.api.send(.get, parts[0], query: parts[1]).status == 200)
    open.clock.pass(.seconds(2))
    #expect(try await open.api.send(.get, parts[0], query: parts[1]).status == 401)
    #expect(try await open.api.send(.get, parts[0]).status == 200)
  }

  @Test func `links survive a restart of the server, but not the deletion of the bundle`() async throws {
    let link = try await make()
    let again = try AccessPolicy(
      AccessPolicy.Configuration(storage: guarded.storage), logger: .init(label: "test"))
    let api = TestAPI(access: again)
    try await api.upload(bundle.bytes, .put, id: bundle.id, fields: guarded.token(.attach).fields)
    let parts = link.link.split(separator: "?").map(String.init)
    #expect(try await api.send(.get, parts[0], query: parts[1]).status == 200)
    let admin = try guarded.token(.admin).fields
    #expect(try await guarded.api.send(.delete, "/v1/snapshots/\(bundle.id)", admin).status == 204)
    #expect(try await follow(link.link).status == 410)
  }

  @Test(
    arguments: [
      ("seconds=1", 201), ("seconds=7776000", 201), (nil, 201), ("seconds=0", 400), ("seconds=7776001", 400),
      ("seconds=-1", 400), ("seconds=x", 400), ("seconds=", 400), ("seconds=1&seconds=1", 400),
    ] as [(String?, Int)])
  func `the lifetime of a link has limits`(query: String?, status: Int) async throws {
    let path = "/v1/snapshots/\(bundle.id)/links"
    #expect(try await guarded.api.send(.post, path, query: query, reader).status == status)
  }

  @Test func `no link is created to a snapshot that does not exist`() async throws {
    #expect(try await guarded.api.send(.post, "/v1/snapshots/\(SnapshotID())/links", reader).status == 404)
  }

  @Test func `forged links are slowed down like wrong tokens`() async throws {
    let link = try await make().link + "A"
    for _ in 0..<12 { #expect(try await follow(link).status == 401) }
    #expect(guarded.clock.slept.count == 2)
  }
}
