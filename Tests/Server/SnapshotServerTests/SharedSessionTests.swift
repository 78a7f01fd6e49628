import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import ServerTesting
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

/// Servers that share their snapshots also share the sessions of the web pages.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct SharedSessionTests {
  /// Servers with the same tokens and keys, of which each has a table of its own in the same database.
  private struct Servers {
    let pool: PostgreSQLPool
    let servers: [GuardedAPI]

    init(_ configuration: PostgreSQLConfiguration, _ count: Int) async throws {
      pool = PostgreSQLPool(configuration)
      var servers: [GuardedAPI] = []
      for _ in 0..<count {
        let rows = try await PostgreSQLSessions(pool)
        let first = servers.first
        servers.append(
          try GuardedAPI { access in
            access.sharedSessions = rows
            access.clock = AccessClock()
            if let first { access.storage = first.storage }
          })
      }
      self.servers = servers
    }
  }

  private func withServers(_ count: Int, _ body: (Servers) async throws -> Void) async throws {
    try await withDatabase { configuration in
      let servers = try await Servers(configuration, count)
      defer { servers.pool.close() }
      try await body(servers)
    }
  }

  /// A browser that follows the one of another server.
  private func browser(_ server: GuardedAPI, like other: PageBrowser? = nil) -> PageBrowser {
    let browser = PageBrowser(server.api)
    if let other { browser.cookies = other.cookies }
    return browser
  }

  @Test func `a session of one server is valid on another, and so are its forms`() async throws {
    try await withServers(2) { shared in
      let (one, other) = (shared.servers[0], shared.servers[1])
      let first = browser(one)
      try await first.signIn(one.token(.admin).fields)
      let second = browser(other, like: first)
      #expect(try await second.get("/").status == 200)
      let form = try await first.formToken(in: "/")
      #expect(try await second.formToken(in: "/") == form)
    }
  }

  @Test func `signing out holds on all servers`() async throws {
    try await withServers(2) { shared in
      let (one, other) = (shared.servers[0], shared.servers[1])
      let watch = Task { await other.access.watch() }
      defer { watch.cancel() }
      let first = browser(one)
      try await first.signIn(one.token(.read).fields)
      let second = browser(other, like: first)
      #expect(try await second.get("/").status == 200)
      let cookies = second.cookies
      let form = try await first.formToken(in: "/")
      #expect(try await first.post("/sign-out", ["form-token": form]).status == 200)
      try await eventually {
        second.cookies = cookies
        return try await second.get("/").status == 401
      }
      watch.cancel()
      await watch.value
    }
  }

  @Test func `a session that ended is announced, so that no server waits for its next comparison`()
    async throws
  {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let (rows, key) = (
        try await PostgreSQLSessions(pool), SessionKey(bytes: Array(repeating: 1, count: 32))
      )
      try await rows.insert(key, token: "t", limits: SessionLimits())
      var removals = rows.removals().makeAsyncIterator()
      #expect(await removals.next() == .some(nil), "it is connected")
      try await rows.remove(key)
      #expect(await removals.next() == key)
    }
  }

  @Test func `a session that is in use here continues without the database, and no other one begins`()
    async throws
  {
    try await withServers(2) { shared in
      let (one, other) = (shared.servers[0], shared.servers[1])
      let first = browser(one)
      try await first.signIn(one.token(.read).fields)
      shared.pool.close()
      #expect(try await first.get("/").status == 200)
      #expect(try await browser(other, like: first).get("/").status == 503)
      let secret = try #require(one.token(.read).fields[.authorization]).dropFirst("Bearer ".count)
      #expect(try await browser(one).signIn(String(secret)).status == 503)
    }
  }

  @Test func `sessions end when they are idle, too old or too many`() async throws {
    try await withServers(1) { shared in
      let rows = try await PostgreSQLSessions(shared.pool)
      func key(_ number: UInt8) -> SessionKey { SessionKey(bytes: Array(repeating: number, count: 32)) }
      var limits = SessionLimits()
      limits.sessionsPerToken = 2
      limits.sessions = 4
      for number in 0..<3 as Range<UInt8> { try await rows.insert(key(number), token: "a", limits: limits) }
      for number in 3..<5 as Range<UInt8> { try await rows.insert(key(number), token: "b", limits: limits) }
      #expect(try await rows.existing((0..<9).map(key)) == Set([1, 2, 3, 4].map(key)))
      #expect(try await rows.find(key(3), limits: limits)?.token == "b")
      func age(_ column: String, _ number: Int, hours: Int) async throws {
        try await shared.pool.perform { connection in
          _ = try connection.query(
            """
            UPDATE snapshot_sessions_1.session SET \(column) = \(column) - interval '\(hours) hours'
            WHERE key = $1
            """, [.bytes(Array(repeating: UInt8(number), count: 32))])
        }
      }
      try await age("last_use", 1, hours: 12)
      try await age("began", 2, hours: 7 * 24)
      try await age("last_use", 3, hours: 11)
      #expect(try await rows.find(key(1), limits: limits) == nil)
      #expect(try await rows.find(key(2), limits: limits) == nil)
      let idle = try #require(try await rows.find(key(3), limits: limits)).idle
      #expect((.seconds(11 * 3600)..<(.seconds(12 * 3600))).contains(idle))
      try await rows.use(key(3))
      #expect(try #require(try await rows.find(key(3), limits: limits)).idle < .seconds(3600))
      try await rows.insert(key(5), token: "c", limits: limits)
      #expect(try await rows.existing((0..<9).map(key)) == Set([3, 4, 5].map(key)))
    }
  }
}
