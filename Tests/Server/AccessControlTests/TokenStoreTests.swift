import AccessControl
import Foundation
import SnapshotServer
import SystemIO
import TestSupport
import Testing

@Suite struct TokenStoreTests {
  private let temporary: TemporaryFolder
  private let storage: URL
  private let store: TokenStore

  init() throws {
    temporary = try TemporaryFolder()
    storage = temporary.file("deep/storage")
    store = TokenStore(storage: storage.path)
  }

  private func file(_ id: String) -> URL { storage.appending(path: "tokens/\(id).json") }

  private func mode(_ path: String) throws -> Int {
    let attributes = try FileManager.default.attributesOfItem(atPath: storage.appending(path: path).path)
    return try #require(attributes[.posixPermissions] as? Int)
  }

  @Test func `a token is shown once, and stored only as a keyed hash that only the owner can read`() throws {
    #expect(try !store.hasTokens())
    let (token, secret) = try store.create(.init(name: "app", scopes: [.attach]))
    #expect(try store.hasTokens())
    #expect(secret.hasPrefix("snapshot_\(token.id)_"))
    #expect(secret.utf8.count == "snapshot_".utf8.count + 12 + 1 + 43)
    let random = try #require(secret.split(separator: "_", maxSplits: 2).last)
    let kept = try String(contentsOf: file(token.id), encoding: .utf8)
    #expect(!kept.contains(random))
    #expect(try !"\(store.list())".contains(random))
    for path in ["tokens/\(token.id).json", "keys/tokens"] { #expect(try mode(path) == 0o600) }
    for path in ["tokens", "keys"] { #expect(try mode(path) == 0o700) }
    #expect(try Data(contentsOf: storage.appending(path: "keys/tokens")).count == 32)
    #expect(try FileManager.default.contentsOfDirectory(atPath: storage.path).sorted() == ["keys", "tokens"])
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: storage.appending(path: "keys").path) == ["tokens"])
  }

  @Test(arguments: ["short", "pipe", "folder", "link"])
  func `a key that is none is named with what to do, and nothing replaces it`(kind: String) throws {
    let (token, _) = try store.create(.init(scopes: [.read]))
    let key = storage.appending(path: "keys/tokens").path
    try Folder.replace(key + ".away", with: key)
    switch kind {
    case "short": try Data([1, 2, 3]).write(to: URL(filePath: key))
    case "pipe": try #require(mkfifo(key, 0o600) == 0)
    case "folder": try Folder.create(key)
    default: try #require(symlink(key + ".away", key) == 0)
    }
    let refusal = #expect(throws: TokenStoreError.self) { try store.create(.init(scopes: [.read])) }
    for error in try store.examine() + [#require(refusal)] {
      #expect("\(error)".contains(key))
      #expect("\(error)".contains(kind == "link" ? "symbolic link" : "Restore it from the backup"))
    }
    #expect(try store.examine().count == 1)
    #expect(try store.list().map(\.id) == [token.id])
  }

  @Test func `without the key of its tokens a storage gets no new one, which would make all others wrong`()
    throws
  {
    let (token, _) = try store.create(.init(scopes: [.read]))
    try Folder.removeTree(storage.appending(path: "keys").path)
    let error = #expect(throws: TokenStoreError.self) { try store.create(.init(scopes: [.read])) }
    guard case .keyMissing(storage.path) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect("\(try #require(error))".contains(storage.path + "/keys"))
    #expect(try store.list().map(\.id) == [token.id])
    #expect(try !Folder.exists(storage.appending(path: "keys").path))
  }

  @Test func `a token that is no file is reported`() throws {
    let (token, _) = try store.create(.init(scopes: [.read]))
    try Folder.remove(file(token.id).path)
    try #require(mkfifo(file(token.id).path, 0o600) == 0)
    let found = try store.examine()
    #expect(found.count == 1 && "\(found[0])".contains(file(token.id).path))
  }

  @Test func `tokens are listed with the newest first`() throws {
    let now = Date(timeIntervalSince1970: 1_790_000_000)
    let limits = CallerLimits(reportPrefixes: ["BUG-", "IOS-"], applications: ["com.example.news"])
    let (first, _) = try store.create(
      .init(
        name: "größer", scopes: [.read, .delete], limits: limits, rate: RateLimit("100/min"),
        expiresAt: now.addingTimeInterval(60)), now: now)
    let (second, _) = try store.create(.init(scopes: [.admin]), now: now.addingTimeInterval(1))
    #expect(try store.list() == [second, first])
    #expect(first.name == "größer")
    #expect(first.scopes == [.read, .delete])
    #expect(first.limits == limits)
    #expect(first.rate?.description == "100/min")
    #expect(first.state(at: now.addingTimeInterval(59)) == .valid)
    #expect(first.state(at: now.addingTimeInterval(60)) == .expired)
  }

  @Test func `a revoked token is kept, and the first revocation counts`() throws {
    let (token, _) = try store.create(.init(scopes: [.read]))
    let first = Date(timeIntervalSince1970: 1_790_000_000)
    #expect(try store.revoke(token.id, now: first).revokedAt == first)
    #expect(try store.revoke(token.id, now: first.addingTimeInterval(5)).revokedAt == first)
    #expect(try store.list().map { $0.state(at: first) } == [.revoked])
    #expect(try store.hasTokens())
  }

  @Test(arguments: ["", "0123456789ab", "../../keys/tokens", "0123456789AB", "0123456789ab\n"])
  func `a malformed token id can't be revoked`(id: String) throws {
    _ = try store.create(.init(scopes: [.read]))
    #expect { try store.revoke(id) } throws: { error in
      if case TokenStoreError.noSuchToken = error { true } else { false }
    }
  }

  @Test func `a file without a token of this version is not a token, but still closes the store`() throws {
    let (token, _) = try store.create(.init(scopes: [.read]))
    let text = try String(contentsOf: file(token.id), encoding: .utf8)
    for broken in [
      "", "{", text.replacing("\"version\" : 1", with: "\"version\" : 2"),
      text.replacing("\"read\"", with: "\"write\""), text.replacing("\"read\"", with: ""),
      text.replacing(token.id, with: "0123456789ab"), text + String(repeating: " ", count: 200_000),
    ] {
      try Data(broken.utf8).write(to: file(token.id))
      #expect(try store.list().isEmpty)
      #expect(try store.hasTokens())
      #expect(throws: TokenStoreError.self) { try store.revoke(token.id) }
    }
    try Data(text.utf8).write(to: file(token.id))
    #expect(try store.list() == [token])
  }

  @Test func `the remains of a token after a crash are not a token`() throws {
    try Folder.create(storage.appending(path: "tokens").path)
    try Data("{}".utf8).write(to: storage.appending(path: "tokens/0123456789ab.json.7-1.staged"))
    #expect(try !store.hasTokens())
    #expect(try store.list().isEmpty)
  }

  @Test func `a truncated key is not used`() throws {
    _ = try store.create(.init(scopes: [.read]))
    try Data(count: 31).write(to: storage.appending(path: "keys/tokens"))
    #expect(throws: TokenStoreError.self) { try store.create(.init(scopes: [.read])) }
  }

  @Test func `tokens created concurrently share one key`() async throws {
    let store = store
    let ids = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<20 { group.addTask { try store.create(.init(scopes: [.read])).token.id } }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(ids.count == 20)
    #expect(Set(try store.list().map(\.id)) == ids)
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: storage.appending(path: "keys").path) == ["tokens"])
  }

  @Test func `every limit of a token is exact`() throws {
    var limits = TokenStore.Limits()
    limits.nameBytes = 4
    limits.entries = 2
    limits.entryBytes = 3
    let store = TokenStore(storage: storage.path, limits: limits)
    let now = Date()
    func request(
      name: String? = nil, reports: Set<String>? = nil, applications: Set<String>? = nil,
      expiresAt: Date? = nil
    ) -> TokenStore.Request {
      .init(
        name: name, scopes: [.read], limits: .init(reportPrefixes: reports, applications: applications),
        expiresAt: expiresAt)
    }
    for good in [
      request(name: "abc"), request(name: "abcd"), request(reports: ["a"]), request(reports: ["abc", "b"]),
      request(applications: ["a", "abc"]), request(expiresAt: now.addingTimeInterval(0.001)),
    ] { _ = try store.create(good, now: now) }
    for bad in [
      request(name: ""), request(name: "abcde"), request(name: "a\n"), request(name: "\u{202E}"),
      request(reports: []), request(reports: ["a", "b", "c"]), request(reports: [""]),
      request(reports: ["abcd"]), request(reports: ["\u{1B}"]), request(applications: ["abcd"]),
      request(applications: []), request(expiresAt: now), .init(scopes: []),
    ] {
      #expect { try store.create(bad, now: now) } throws: { error in
        if case TokenStoreError.invalid = error { true } else { false }
      }
    }
    limits.tokens = 7
    let full = TokenStore(storage: storage.path, limits: limits)
    _ = try full.create(request())
    #expect { try full.create(request()) } throws: { error in
      if case TokenStoreError.tooMany(7) = error { true } else { false }
    }
  }

  @Test(arguments: ["1/s", "100/min", "1000/h", "5/d", "7/90s", "1000000/1000000s"])
  func `a rate is parsed`(text: String) {
    #expect(RateLimit(text)?.description == text)
  }

  @Test(arguments: [
    "", "/", "1", "1/", "0/s", "-1/s", "1/0s", "1/x", "1000001/s", "1/1000001s", "1/s/s", " 1/s",
    "1/99999999999999999999s",
    "1/9223372036854775807d",
  ])
  func `a malformed rate is refused`(text: String) { #expect(RateLimit(text) == nil) }
}
