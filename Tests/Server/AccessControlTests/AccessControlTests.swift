import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SystemIO
import Testing

@testable import AccessControl

@Suite struct AccessControlTests {
  private let guarded: GuardedAPI

  init() throws { guarded = try GuardedAPI() }

  private func status(_ fields: HTTPFields = [:], _ path: String = "/v1/snapshots") async throws -> Int {
    try await guarded.api.send(.get, path, fields).status
  }

  @Test func `a new store is open until it has a token, without a restart`() async throws {
    #expect(try await status() == 200)
    #expect(try await status(GuardedAPI.bearer("anything")) == 200)
    let token = try guarded.token(.read)
    #expect(try await status() == 401)
    #expect(try await status(token.fields) == 200)
  }

  @Test func `a token is valid as soon as it is created, until it is revoked`() async throws {
    for _ in 0..<30 {
      let token = try guarded.token(.read)
      #expect(try await status(token.fields) == 200)
      try guarded.tokens.revoke(token.id)
      #expect(try await status(token.fields) == 401)
    }
  }

  @Test func `a store never opens again, even without tokens`() async throws {
    let token = try guarded.token(.read)
    #expect(try await status() == 401)
    try guarded.tokens.revoke(token.id)
    #expect(try await status() == 401)
    try Folder.remove(guarded.storage + "/tokens/\(token.id).json")
    #expect(try await status() == 401)
    for name in ["tokens", "keys"] {
      try Folder.removeTree("\(guarded.storage)/\(name)")
      #expect(try await status() == 401)
    }
  }

  @Test func `a store that must not be open is closed before its first token`() async throws {
    let guarded = try GuardedAPI { $0.opensWithoutTokens = false }
    #expect(try await guarded.api.send(.get, "/v1/snapshots").status == 401)
    let token = try guarded.token(.read)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", token.fields).status == 200)
  }

  @Test func `no caller is admitted if the tokens can't be read`() async throws {
    let token = try guarded.token(.read)
    #expect(try await status(token.fields) == 200)
    try Folder.replace(guarded.storage + "/aside", with: guarded.storage + "/tokens")
    try Data().write(to: URL(filePath: guarded.storage + "/tokens"))
    for fields in [token.fields, [:]] {
      let answer = try await guarded.api.send(.get, "/v1/snapshots", fields)
      #expect(answer.status == 503)
      #expect(answer.fields[.retryAfter] != nil)
    }
    #expect(try await status([:], "/healthz") == 200)
    try Folder.remove(guarded.storage + "/tokens")
    try Folder.replace(guarded.storage + "/tokens", with: guarded.storage + "/aside")
    #expect(try await status(token.fields) == 200)
  }

  @Test func `a damaged token does not affect others`() async throws {
    let (broken, right) = (try guarded.token(.read), try guarded.token(.read))
    try DurableFile.replace(guarded.storage + "/tokens/\(broken.id).json", with: Array("{".utf8))
    #expect(try await status(broken.fields) == 401)
    #expect(try await status(right.fields) == 200)
  }

  @Test func `tokens of a copied storage are valid, and tokens of another key are not`() async throws {
    let token = try guarded.token(.read)
    #expect(try await status(token.fields) == 200)
    try Data(count: 32).write(to: URL(filePath: guarded.storage + "/keys/tokens"))
    _ = try guarded.token(.read)
    #expect(try await status(token.fields) == 401)
  }

  @Test(arguments: ["Bearer", "bearer", "BEARER"]) func `the scheme is case-insensitive`(
    scheme: String
  ) async throws {
    let token = try guarded.token(.read).fields[.authorization]?.dropFirst("Bearer ".count) ?? ""
    #expect(try await status([.authorization: "\(scheme) \(token)"]) == 200)
    #expect(try await status([.authorization: "\(scheme)   \(token)"]) == 200)
    #expect(try await status([.authorization: "\(scheme)\(token)"]) == 401)
    #expect(try await status([.authorization: "\(scheme) \(token) x"]) == 401)
    #expect(try await status([.authorization: "\(token)"]) == 401)
  }

  @Test(arguments: [true, false])
  func `an expired token is reported as expired, but only to its holder`(isSettled: Bool) async throws {
    let token = try guarded.token(.read, expiresAt: guarded.clock.now.addingTimeInterval(60))
    if isSettled { try guarded.settleTokens() }
    guarded.clock.pass(.milliseconds(59_990))
    #expect(try await status(token.fields) == 200)
    guarded.clock.pass(.milliseconds(10))
    let answer = try await guarded.api.send(.get, "/v1/snapshots", token.fields)
    #expect(answer.status == 401)
    #expect(answer.kind == "token-expired")
    try guarded.tokens.revoke(token.id)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", token.fields).kind == "token-refused")
  }

  @Test func `a token in a URL is refused, even if it is valid`() async throws {
    let token = try guarded.token(.read).fields
    let answer = try await guarded.api.send(.get, "/v1/snapshots", query: "access_token=x", token)
    #expect(answer.status == 400)
    #expect(answer.kind == "token-in-url")
    let open = try GuardedAPI()
    #expect(try await open.api.send(.get, "/v1/snapshots", query: "a=1&access%5Ftoken=x").status == 400)
  }

  // MARK: Files

  @Test func `a token that changes twice within one clock tick has its latest state`() async throws {
    let token = try guarded.token(.read)
    let file = guarded.storage + "/tokens/\(token.id).json"
    let valid = try Data(contentsOf: URL(filePath: file))
    try guarded.tokens.revoke(token.id)
    let revoked = try Data(contentsOf: URL(filePath: file))
    let authenticator = try #require(guarded.access.authenticator)
    func put(_ contents: Data, _ time: Date) throws {
      let staged = guarded.storage + "/staged"
      try contents.write(to: URL(filePath: staged))
      try Folder.replace(file, with: staged)
      // As if both changes occurred within one clock tick.
      try FileManager.default.setAttributes(
        [.modificationDate: time], ofItemAtPath: guarded.storage + "/tokens")
    }
    func state() async throws -> AccessToken.State? {
      try await authenticator.currentTokens().token(id: token.id)?.state(at: guarded.clock.now)
    }
    // Stamps younger than 100 ms are not trusted. Tries again if the machine was too slow for that.
    for _ in 0..<1000 {
      let time = Date()
      try put(valid, time)
      #expect(try await state() == .valid)
      guard Date().timeIntervalSince(time) < 0.09 else { continue }
      try put(revoked, time)
      #expect(try await state() == .revoked)
      return
    }
    Issue.record("no attempt was quick enough")
  }

  @Test func `a storage that lost its tokens does not open`() async throws {
    let token = try guarded.token(.read)
    let tokens = guarded.storage + "/tokens"
    for removesFolder in [false, true] {
      try removesFolder
        ? Folder.removeTree(tokens) : Folder.remove(tokens + "/\(token.id).json")
      #expect(try guarded.tokens.hasTokens())
      #expect(try await guarded.api.send(.get, "/v1/snapshots").status == 401)
      #expect {
        _ = try AccessPolicy(.init(storage: guarded.storage), logger: Logger(label: "test"))
      } throws: { error in
        if case TokenStoreError.tokensMissing(guarded.storage) = error {
          "\(error)".contains("Restore \(tokens)") && "\(error)".contains("snapshot token create")
        } else {
          false
        }
      }
    }
    // The remedy that the error names.
    let next = try guarded.token(.read)
    let access = try AccessPolicy(.init(storage: guarded.storage), logger: Logger(label: "test"))
    #expect(try await !access.isOpen())
    #expect(try await guarded.api.send(.get, "/v1/snapshots", next.fields).status == 200)
  }

  // MARK: Browsers

  @Test(
    arguments: [
      ([:], 201), (["Sec-Fetch-Site": "same-origin"], 201), (["Sec-Fetch-Site": "none"], 201),
      (["Sec-Fetch-Site": "cross-site"], 403), (["Sec-Fetch-Site": "same-site"], 403),
      (["Sec-Fetch-Site": "x"], 403), (["Origin": "http://localhost"], 201),
      (["Origin": "HTTPS://LOCALHOST"], 201), (["Origin": "http://localhost:1"], 403),
      (["Origin": "null"], 403), (["Origin": "https://example.com"], 403), (["Origin": ""], 403),
      (["Origin": "http://localhost", "Sec-Fetch-Site": "cross-site"], 403),
      (["Origin": "null", "Sec-Fetch-Site": "same-origin"], 201),
    ] as [([String: String], Int)])
  func `a page of another site changes nothing in an open store`(fields: [String: String], status: Int)
    async throws
  {
    let bundle = try ZippedSample()
    var all = HTTPFields()
    for (name, value) in fields { all[try #require(HTTPField.Name(name))] = value }
    let form = TestAPI.form([
      (head: "Content-Disposition: form-data; name=snapshot; filename=a.zip", data: bundle.bytes)
    ])
    var posted = all
    posted[.contentType] = "multipart/form-data; boundary=XX"
    let answer = try await guarded.api.send(
      .post, "/v1/reports/BUG-1/snapshots", posted, body: .pieces(of: form))
    #expect(answer.status == status)
    #expect(guarded.api.store.ends.begun == (status == 201 ? 1 : 0))
    if status == 403 {
      #expect(answer.kind == "cross-site")
      #expect(try await guarded.api.send(.delete, "/v1/snapshots/\(bundle.id)", all).status == 403)
      #expect(try await guarded.api.send(.post, "/v1/snapshots/\(bundle.id)/links", all).status == 403)
    }
    #expect(try await guarded.api.send(.get, "/v1/snapshots", all).status == 200)
    // A page can't make a browser send a token.
    let token = try guarded.token(.attach).fields
    posted.append(contentsOf: token)
    #expect(
      try await guarded.api.send(
        .post, "/v1/reports/BUG-1/snapshots", posted, body: .pieces(of: form)
      ).status == 201)
  }

  @Test(
    arguments: [
      ("localhost", 200), ("localhost:8080", 200), ("a.localhost", 200), ("127.0.0.1:1", 200),
      ("[::1]:1", 200),
      ("192.0.2.1", 200), ("", 200), ("server:8080", 200), ("example.com", 421),
      ("localhost.", 200), ("LOCALHOST.:8080", 200), ("a.localhost.", 200), ("server.:8080", 200),
      ("mac.local", 200), ("Mac.Local.:8080", 200), ("127.0.0.1.", 200),
      ("example.com.", 421), ("local.example.com", 421), ("xlocal.com", 421),
      ("localhost.example.com:8080", 421),
      ("127.0.0.1.example.com", 421), ("1.2.3.4.5", 421),
    ] as [(String, Int)])
  func `an open store refuses names that anyone could own`(authority: String, status: Int)
    async throws
  {
    #expect(try await guarded.api.send(.get, "/v1/snapshots", authority: authority).status == status)
    #expect(try await guarded.api.send(.get, "/healthz", authority: authority).status == 200)
    let any = try GuardedAPI { $0.answersAnyName = true }
    #expect(try await any.api.send(.get, "/v1/snapshots", authority: authority).status == 200)
    let token = try guarded.token(.read).fields
    #expect(try await guarded.api.send(.get, "/v1/snapshots", token, authority: authority).status == 200)
  }
}
