import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Users whom a proxy names, as callers of the API.
@Suite struct TrustedUserTests {
  private let folder: TemporaryFolder
  private let guarded: GuardedAPI
  private let bundle: ZippedSample

  init() throws {
    folder = try TemporaryFolder()
    let audit = try AuditLog(
      .together(folder.file("audit.log").path), logger: .init(label: "test") { _ in CapturedLog() })
    guarded = try GuardedAPI(observation: Observation(audit: audit)) { $0.users = .ofLoopback }
    bundle = try ZippedSample()
  }

  private static func block(_ text: String) -> TrustedUsers.Source {
    AddressBlock(text).map(TrustedUsers.Source.network) ?? .certificate(commonName: text)
  }

  private static let ownPage: HTTPFields = [
    .origin: "http://localhost", .secFetchSite: "same-origin",
  ]

  private var auditLines: [[String: String]] {
    get throws {
      try String(contentsOf: folder.file("audit.log"), encoding: .utf8).split(separator: "\n").map { line in
        let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any] ?? [:]
        return object.mapValues { "\($0)" }
      }
    }
  }

  // MARK: Scopes

  @Test(arguments: [
    ("developers", 200, 201), ("testers", 403, 201), ("testers, developers", 200, 201), ("admins,", 200, 201),
    ("Developers", 403, 403), ("developer", 403, 403), ("", 403, 403), ("[\"developers\"]", 403, 403),
  ])
  func `a request has the scopes of the groups that it states`(
    groups: String, reading: Int, attaching: Int
  ) async throws {
    let fields = HTTPFields.user("mira", groups)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", fields).status == reading)
    let status = try await guarded.attach(bundle, HTTPFields.user("mira", groups, Self.ownPage)).status
    #expect(status == attaching)
  }

  @Test func `a user without groups has the scopes of everybody`() async throws {
    #expect(try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user("mira")).status == 403)
    var users = TrustedUsers.ofLoopback
    users.everybody = [.read]
    guarded.access.change(users)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user("mira")).status == 200)
    #expect(try await guarded.attach(bundle, HTTPFields.user("mira", nil, Self.ownPage)).status == 403)
  }

  @Test func `a removed group, and a changed setting, end the rights with the next request`() async throws {
    let path = "/v1/snapshots"
    #expect(try await guarded.api.send(.get, path, HTTPFields.user("mira", "developers")).status == 200)
    #expect(try await guarded.api.send(.get, path, HTTPFields.user("mira", "other")).status == 403)
    var users = TrustedUsers.ofLoopback
    users.scopes["developers"] = nil
    guarded.access.change(users)
    #expect(try await guarded.api.send(.get, path, HTTPFields.user("mira", "developers")).status == 403)
  }

  @Test func `a store without tokens is not open while, or after, users sign in at a proxy`() async throws {
    #expect(try await guarded.api.send(.get, "/v1/snapshots").kind == "token-needed")
    guarded.access.change(TrustedUsers())
    #expect(try await guarded.api.send(.get, "/v1/snapshots").kind == "token-needed")
    let open = try GuardedAPI()
    #expect(try await open.api.send(.get, "/v1/snapshots").status == 200)
    open.access.change(.ofLoopback)
    #expect(try await open.api.send(.get, "/v1/snapshots").status == 401)
  }

  // MARK: Where it comes from

  @Test(
    arguments: [
      ("/v1/snapshots", "127.0.0.2"), ("/v1/snapshots", "192.0.2.1"), ("/v1/snapshots", nil),
      ("/healthz", "127.0.0.2"),
      ("/nothing", "127.0.0.2"), ("/", "::1"),
    ] as [(String, String?)])
  func `the field from elsewhere is refused and recorded, also with a valid token`(
    path: String, address: String?
  ) async throws {
    let token = try guarded.token(.admin)
    let source = address.flatMap { IPAddress($0) }
    for fields in [
      HTTPFields.user("mira", "admins"), HTTPFields.user("mira", nil, token.fields),
      [.remoteGroups: "admins"] as HTTPFields,
    ] {
      let answer = try await guarded.api.send(.get, path, fields, from: source)
      #expect(answer.status == 403 && answer.kind == "user-not-trusted")
    }
    let line = try #require(try auditLines.first)
    #expect(line["action"] == "stateUser" && line["result"] == "refused")
    #expect(line["problem"] == "user-not-trusted" && line["user"] == nil)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", token.fields, from: source).status == 200)
  }

  @Test func `the peer counts, not the client that it names`() async throws {
    let answer = try await guarded.api.send(
      .get, "/v1/snapshots", HTTPFields.user("mira", "developers"), peer: "203.0.113.9")
    #expect(answer.status == 200)
    #expect(try auditLines.last?["address"] == "203.0.113.9")
    let other = try await guarded.api.send(
      .get, "/v1/snapshots", HTTPFields.user("mira", "developers"), peer: "127.0.0.1",
      from: IPAddress("192.0.2.1"))
    #expect(other.kind == "user-not-trusted")
  }

  @Test(
    arguments: [
      (TrustedUsers.Source.unixSocket, nil, nil, 200), (.unixSocket, "127.0.0.1", nil, 403),
      (.certificate(commonName: nil), "192.0.2.1", "proxy", 200),
      (.certificate(commonName: nil), "192.0.2.1", nil, 403),
      (.certificate(commonName: "proxy"), "192.0.2.1", "proxy", 200),
      (.certificate(commonName: "proxy"), "192.0.2.1", "app", 403),
      (TrustedUserTests.block("10.0.0.0/8"), "10.1.2.3", nil, 200),
      (TrustedUserTests.block("10.0.0.0/8"), "::ffff:10.1.2.3", nil, 200),
      (TrustedUserTests.block("10.0.0.0/8"), "11.0.0.1", nil, 403),
      (TrustedUserTests.block("0.0.0.0/1"), nil, nil, 403),
    ] as [(TrustedUsers.Source, String?, String?, Int)])
  func `only requests from the sources are believed`(
    source: TrustedUsers.Source, address: String?, name: String?, status: Int
  ) async throws {
    var users = TrustedUsers.ofLoopback
    users.sources = [source]
    guarded.access.change(users)
    let certificate = name.map { ClientCertificate(fingerprint: "00", commonName: $0) }
    let answer = try await guarded.api.send(
      .get, "/v1/snapshots", HTTPFields.user("mira", "developers"), from: address.flatMap { IPAddress($0) },
      certificate: certificate)
    #expect(answer.status == status)
  }

  @Test func `without sources the fields mean nothing`() async throws {
    let plain = try GuardedAPI()
    let token = try plain.token(.read)
    let answer = try await plain.api.send(
      .get, "/v1/snapshots", HTTPFields.user("mira", "admins", token.fields))
    #expect(answer.status == 200)
    #expect(try await plain.api.send(.get, "/v1/snapshots", HTTPFields.user("mira", "admins")).status == 401)
  }

  // MARK: Malformed fields

  @Test(arguments: [
    "", " ", "(null)", "mira, otto", "mi\tra", "Zoë", "mi\u{200B}ra",
    String(repeating: "m", count: TrustedUsers.Limits.nameBytes + 1),
  ])
  func `names that a proxy would not send are refused and recorded`(name: String) async throws {
    let answer = try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user(name, "developers"))
    #expect(answer.status == 400 && answer.kind == "malformed-user")
    #expect(try auditLines.first?["problem"] == "malformed-user")
  }

  @Test(arguments: [
    "m", "mira@example.org", "Mira Example", "auth0|5f7c8ec7c33c6c004bbafe82", "https://id.example/u#7",
    String(repeating: "m", count: TrustedUsers.Limits.nameBytes),
    String(repeating: "m", count: TrustedUsers.Limits.nameBytes - 1),
  ])
  func `names of ASCII are accepted and recorded`(name: String) async throws {
    #expect(
      try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user(name, "developers")).status == 200)
    #expect(try auditLines.last?["user"] == name)
    #expect(try auditLines.last?["token"] == nil)
  }

  @Test func `fields that are there twice are refused`() async throws {
    for name in [HTTPField.Name.remoteUser, .remoteGroups] {
      var fields = HTTPFields.user("mira", "developers")
      fields.append(HTTPField(name: name, value: "developers"))
      let answer = try await guarded.api.send(.get, "/v1/snapshots", fields)
      #expect(answer.status == 400 && answer.kind == "malformed-user")
    }
  }

  @Test(arguments: ["Remote_User", "remote_groups"])
  func `fields that some programs take for the user's are refused`(text: String) async throws {
    let name = try #require(HTTPField.Name(text))
    let token = try guarded.token(.read).fields
    for fields in [token, HTTPFields.user("mira", "developers")] {
      var fields = fields
      fields.append(HTTPField(name: name, value: "admins"))
      #expect(try await guarded.api.send(.get, "/v1/snapshots", fields).kind == "malformed-user")
    }
  }

  @Test func `groups are limited`() async throws {
    let most = "developers," + String(repeating: "g", count: TrustedUsers.Limits.groupsBytes - 11)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user("mira", most)).status == 200)
    for groups in [most + "g", "developers\tadmins"] {
      let answer = try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user("mira", groups))
      #expect(answer.kind == "malformed-user")
    }
    let words = "développeurs, developers"
    #expect(try await guarded.api.send(.get, "/v1/snapshots", HTTPFields.user("mira", words)).status == 200)
  }

  @Test func `groups alone state no user`() async throws {
    #expect(
      try await guarded.api.send(.get, "/v1/snapshots", [.remoteGroups: "admins"]).kind == "token-needed")
  }

  // MARK: Beside tokens

  @Test func `a token goes before the user, and another credential does not`() async throws {
    let token = try guarded.token(.attach)
    let user = HTTPFields.user("mira", "admins")
    #expect(try await guarded.api.send(.get, "/v1/snapshots", user + token.fields).status == 403)
    #expect(try auditLines.last?["token"] == token.id)
    #expect(try auditLines.last?["user"] == nil)
    _ = try guarded.tokens.revoke(token.id, now: guarded.clock.now)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", user + token.fields).kind == "token-refused")
    // Proxies pass on what they have checked themselves.
    for value in ["Basic bWlyYTptaXJh", "Bearer eyJhbGciOiJSUzI1NiJ9.e30.c2ln"] {
      let fields = HTTPFields.user("mira", "admins", [.authorization: value])
      #expect(try await guarded.api.send(.get, "/v1/snapshots", fields).status == 200)
    }
  }

  @Test func `a user's certificate is not asked for a token`() async throws {
    let certificate = ClientCertificate(fingerprint: "00", commonName: "proxy")
    let answer = try await guarded.api.send(
      .get, "/v1/snapshots", HTTPFields.user("mira", "developers"), certificate: certificate)
    #expect(answer.status == 200)
  }

  // MARK: Pages of other sites

  @Test(
    arguments: [
      ([:], 403), ([.secFetchSite: "cross-site"], 403), ([.secFetchSite: "same-site"], 403),
      ([.origin: "https://evil.example"], 403), ([.origin: "null"], 403),
      ([.origin: "http://localhost", .secFetchSite: "cross-site"], 403),
      ([.secFetchSite: "same-origin"], 201), ([.origin: "https://localhost"], 201),
    ] as [(HTTPFields, Int)])
  func `calls that change something need a page of this server`(fields: HTTPFields, status: Int) async throws
  {
    let answer = try await guarded.attach(bundle, HTTPFields.user("mira", "admins", fields))
    #expect(answer.status == status)
    if status == 403 { #expect(answer.kind == "cross-site") }
    let deletion = try await guarded.api.send(
      .delete, "/v1/snapshots/\(bundle.id)", HTTPFields.user("mira", "admins", fields))
    #expect(deletion.status == (status == 201 ? 204 : 403))
  }

  @Test func `every call that changes something refuses a user from elsewhere`() async throws {
    for call in guarded.api.calls
    where CrossSiteRule.changesState(call.method) && call.permission != .open {
      let path = call.template.replacing("{id}", with: "\(bundle.id)").replacing("{report}", with: "BUG-1")
        .replacing("{upload}", with: "x").replacing("{link}", with: "x").replacing("{name...}", with: "x")
      let answer = try await guarded.api.send(
        call.method, path, HTTPFields.user("mira", "admins", [.secFetchSite: "cross-site"]))
      #expect(answer.kind == "cross-site", "\(call.name)")
    }
  }

  // MARK: Names

  @Test func `snapshots, comments and quotas are the user's`() async throws {
    let fields = HTTPFields.user("mira", "developers", Self.ownPage)
    var limits = AccessRates()
    let second = try ZippedSample(#"{"news":[{"id":2}]}"#)
    limits.tokenQuota = UploadQuota("\(max(bundle.bytes.count, second.bytes.count))B/d")
    guarded.access.change(limits)
    #expect(try await guarded.attach(bundle, fields).status == 201)
    let record = try await guarded.api.send(.get, "/v1/snapshots/\(bundle.id)", fields).decode(
      SnapshotRecord.self)
    #expect(record.attachedBy == "user:mira")
    #expect(try await guarded.attach(second, fields).kind == "upload-quota-exceeded")
    #expect(try await guarded.attach(second, HTTPFields.user("otto", "testers", Self.ownPage)).status == 201)
    // Whoever has attached it sees its status, without a right to read.
    let path = "/v1/snapshots/\(bundle.id)"
    #expect(try await guarded.api.send(.get, path, HTTPFields.user("mira", "testers")).status == 200)
    #expect(try await guarded.api.send(.get, path, HTTPFields.user("otto", "testers")).status == 404)
  }

  @Test func `a comment has the name of the user`() async throws {
    try await guarded.attach(bundle, HTTPFields.user("mira", "admins", Self.ownPage))
    var fields = HTTPFields.user("mira", "admins", Self.ownPage)
    fields[.contentType] = "application/json"
    let answer = try await guarded.api.send(
      .post, "/v1/snapshots/\(bundle.id)/comments", fields,
      body: .pieces(of: Array(#"{"text":"Seen."}"#.utf8)))
    let comment = try answer.decode(SnapshotComment.self)
    #expect(comment.author == "mira" && comment.token == "user:mira")
  }

  @Test func `an upload belongs to the user who began it`() async throws {
    var fields = HTTPFields.user("mira", "developers", Self.ownPage)
    fields[.tusResumable] = "1.0.0"
    var creation = fields
    creation[.uploadLength] = "10"
    creation[.uploadMetadata] = "report QlVHLTE="
    let location = try #require(
      try await guarded.api.send(.post, "/v1/uploads", creation).fields[.location])
    #expect(try await guarded.api.send(.head, location, fields).status == 200)
    fields[.remoteUser] = "otto"
    #expect(try await guarded.api.send(.head, location, fields).status == 404)
  }

  @Test func `users make no links to attach, and links work without a user`() async throws {
    let fields = HTTPFields.user("mira", "admins", Self.ownPage)
    let answer = try await guarded.api.send(.post, "/v1/reports/BUG-1/links", fields)
    #expect(answer.kind == "links-need-tokens", "\(answer.status)")
    let token = try guarded.token(.read, .attach)
    let link = try await guarded.api.send(.post, "/v1/reports/BUG-1/links", token.fields)
    #expect(link.status == 201, "\(link.status)")
  }

  // MARK: Limits of wrong tokens

  @Test func `forged fields count as wrong tokens of the address`() async throws {
    for _ in 0..<11 {
      _ = try await guarded.api.send(
        .get, "/v1/snapshots", HTTPFields.user("mira", "admins"), peer: "192.0.2.1:1",
        from: IPAddress("192.0.2.1"))
    }
    #expect(!guarded.clock.slept.isEmpty)
    let before = guarded.clock.slept.count
    for _ in 0..<30 {
      _ = try await guarded.api.send(
        .get, "/v1/snapshots", HTTPFields.user("mira", "developers"), peer: "192.0.2.1:1")
    }
    #expect(guarded.clock.slept.count == before)
  }
}
