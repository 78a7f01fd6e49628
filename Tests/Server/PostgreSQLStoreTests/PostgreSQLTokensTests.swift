import AccessControl
import Foundation
import HTTPEngine
import Observability
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import SnapshotFormat
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct PostgreSQLTokensTests {
  /// A server with a folder of its own.
  private struct Node {
    let folder: TemporaryFolder
    let access: PostgreSQLTokens
    var tokens: TokenStore { TokenStore(storage: folder.url.path) }
    var files: AccessFiles { AccessFiles(storage: folder.url.path) }

    init(_ pool: PostgreSQLPool) async throws {
      folder = try TemporaryFolder()
      access = try await PostgreSQLTokens(pool, storage: folder.url.path)
    }
  }

  private func withNodes(_ count: Int, _ body: ([Node]) async throws -> Void) async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      var nodes: [Node] = []
      for _ in 0..<count { nodes.append(try await Node(pool)) }
      try await body(nodes)
    }
  }

  @Test func `the first server brings its tokens, and all others get them`() async throws {
    try await withNodes(2) { nodes in
      let (token, _) = try nodes[0].tokens.create(.init(scopes: [.admin]))
      for node in nodes { try await node.access.prepare() }
      #expect(try nodes[1].tokens.list().map(\.id) == [token.id])
      #expect(try nodes[0].files.read() == nodes[1].files.read())
      #expect(try nodes[0].files.read().keys.contains("keys/links"))
    }
  }

  @Test func `servers that start at the same time have the same keys`() async throws {
    try await withNodes(6) { nodes in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for node in nodes {
          group.addTask {
            try await node.access.prepare()
            _ = try await node.access.change { try node.tokens.create(.init(scopes: [.read])) }
          }
        }
        try await group.waitForAll()
      }
      for node in nodes { try await node.access.prepare() }
      let files = try nodes[0].files.read()
      #expect(files.count == 2 + nodes.count)
      for node in nodes { #expect(try node.files.read() == files) }
    }
  }

  @Test func `all servers together count the uses of a link to attach`() async throws {
    try await withNodes(2) { nodes in
      for node in nodes { try await node.access.prepare() }
      let (maker, _) = try await nodes[0].access.change {
        try nodes[0].tokens.create(.init(scopes: [.read, .attach]))
      }
      let policies = try nodes.map { node in
        var configuration = AccessPolicy.Configuration(storage: node.folder.url.path)
        configuration.sharedTokens = node.access.promptly()
        return try AccessPolicy(configuration, logger: .quiet)
      }
      let caller = Caller(
        .token(maker.id), scopes: [.read, .attach], address: ClientAddress(peer: "127.0.0.1:1"))
      let (link, _) = try await policies[0].makeAttachLink(
        to: ReportID(validating: "BUG-1"), seconds: 60, count: 3, bytes: 1000, for: caller)
      for node in nodes { try await node.access.copy() }
      let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<10 {
          let policy = policies[number % 2]
          group.addTask {
            let use = try #require(try await policy.linkUse(ofToken: link.token.id))
            let id = SnapshotID()
            do {
              return try await use.counting(1, as: id) {
                true
              } stored: { _ in
                id
              } storedNothing: { _ in
                false
              }
            } catch is HTTPProblem {
              return false
            }
          }
        }
        return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
      }
      #expect(stored == 3)
      for node in nodes {
        try await node.access.copy()
        #expect(try node.tokens.list().first { $0.id == link.token.id }?.link?.remainingCount == 0)
      }
    }
  }

  @Test func `a change reaches a server that watches`() async throws {
    try await withNodes(2) { nodes in
      for node in nodes { try await node.access.prepare() }
      let watch = Task { await nodes[1].access.watch(logger: .quiet) }
      defer { watch.cancel() }
      let (token, _) = try await nodes[0].access.change { try nodes[0].tokens.create(.init(scopes: [.read])) }
      try await eventually { try nodes[1].tokens.list().map(\.id) == [token.id] }
      _ = try await nodes[0].access.change { try nodes[0].tokens.revoke(token.id) }
      try await eventually { try nodes[1].tokens.list().first?.revokedAt != nil }
      watch.cancel()
      await watch.value
    }
  }

  @Test func `a change is announced, so that no server waits for its next comparison`()
    async throws
  {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let node = try await Node(pool)
      let listener = PostgreSQLListener(configuration, channel: "snapshot_access")
      defer { listener.stop() }
      var events = listener.events.makeAsyncIterator()
      #expect(await events.next() == .connected)
      _ = try await node.access.change { try node.tokens.create(.init(scopes: [.read])) }
      #expect(
        await events.next() == .notification(PostgreSQLNotification(channel: "snapshot_access", payload: "")))
    }
  }

  @Test func `a lost database takes no tokens along, and gets them again`() async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let node = try await Node(pool)
      try await node.access.prepare()
      let (token, _) = try await node.access.change { try node.tokens.create(.init(scopes: [.admin])) }
      try await pool.perform { try $0.execute("DROP SCHEMA snapshot_access_1 CASCADE") }
      let restarted = try await PostgreSQLTokens(pool, storage: node.folder.url.path)
      try await restarted.copy()
      #expect(try node.tokens.list().map(\.id) == [token.id])
      try await restarted.prepare()
      let other = try await Node(pool)
      try await other.access.prepare()
      #expect(try other.tokens.list().map(\.id) == [token.id])
    }
  }

  @Test func `a change that fails is not shared`() async throws {
    struct Refused: Error {}
    try await withNodes(2) { nodes in
      for node in nodes { try await node.access.prepare() }
      await #expect(throws: Refused.self) {
        try await nodes[0].access.change {
          _ = try nodes[0].tokens.create(.init(scopes: [.read]))
          throw Refused()
        }
      }
      for node in nodes { try await node.access.prepare() }
      for node in nodes { #expect(try node.tokens.list().isEmpty) }
    }
  }
}
