import PostgreSQLClient
import PostgreSQLTesting
import TestSupport
import Testing

/// How several servers coordinate: locks, migrations and notifications.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct PostgreSQLCoordinationTests {
  private static let first = PostgreSQLMigrations.Step(
    "CREATE TABLE item (id bigint); INSERT INTO item VALUES (1)")
  private static let second = PostgreSQLMigrations.Step("INSERT INTO item VALUES (2)", isCompatible: true)
  private static let third = PostgreSQLMigrations.Step("INSERT INTO item VALUES (3)")

  private func withPool(_ body: (PostgreSQLPool) async throws -> Void) async throws {
    try await withDatabase { configuration in
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      try await body(pool)
    }
  }

  @Test func `a lock has one holder, until its transaction or its connection ends`() async throws {
    let key = PostgreSQLLockKey("maintenance")
    try await withDatabase { configuration in
      let (one, other) = (try PostgreSQLConnection(configuration), try PostgreSQLConnection(configuration))
      try one.transaction { one throws in
        #expect(try one.tryLock(key))
        try other.transaction { other throws in
          #expect(try !other.tryLock(key))
          #expect(try other.tryLock(PostgreSQLLockKey("another")))
        }
      }
      #expect(try other.trySessionLock(key))
      #expect(try !one.trySessionLock(key))
      try one.transaction { one throws in #expect(try !one.tryLock(key)) }
    }
  }

  @Test func `servers that migrate at the same time apply each step once`() async throws {
    try await withPool { pool in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            try await pool.perform {
              try PostgreSQLMigrations(schema: "items", [Self.first, Self.second]).apply($0)
            }
          }
        }
        try await group.waitForAll()
      }
      try await pool.perform { connection throws in
        #expect(
          try connection.query("SELECT id FROM items.item ORDER BY id").map { try $0.int(0) } == [1, 2])
      }
    }
  }

  @Test func `an older version works with compatible steps, and refuses others`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        let old = PostgreSQLMigrations(schema: "items", [Self.first])
        try old.apply(connection)
        try PostgreSQLMigrations(schema: "items", [Self.first, Self.second]).apply(connection)
        try old.apply(connection)
        try PostgreSQLMigrations(schema: "items", [Self.first, Self.second, Self.third]).apply(connection)
        #expect(throws: PostgreSQLError.newerDatabase(name: "items", version: 3)) {
          try old.apply(connection)
        }
        try PostgreSQLMigrations(schema: "others", []).apply(connection)
        #expect(try connection.query("SELECT id FROM items.item").count == 3)
      }
    }
  }

  @Test func `a step that fails leaves nothing`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        let failing = PostgreSQLMigrations(schema: "items", [Self.first, .init("SELECT nothing")])
        #expect(throws: PostgreSQLError.self) { try failing.apply(connection) }
        try PostgreSQLMigrations(schema: "items", [Self.first]).apply(connection)
      }
    }
  }

  @Test func `a listener receives what is sent, also after its connection was lost`() async throws {
    try await withDatabase { configuration in
      let listener = PostgreSQLListener(configuration, channel: "news")
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      var events = listener.events.makeAsyncIterator()
      #expect(await events.next() == .connected)
      for payload in ["", "revoked 1f0c"] {
        try await pool.perform { try $0.notify("news", payload) }
        #expect(await events.next() == .notification(.init(channel: "news", payload: payload)))
      }
      try await pool.perform { try $0.notify("other") }
      try await pool.perform { connection throws in
        try connection.execute(
          "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
      }
      guard case .disconnected? = await events.next() else {
        Issue.record("The listener did not notice the end.")
        return
      }
      #expect(await events.next() == .connected)
      try await pool.perform { try $0.notify("news", "again") }
      #expect(await events.next() == .notification(.init(channel: "news", payload: "again")))
      listener.stop()
    }
  }
}
