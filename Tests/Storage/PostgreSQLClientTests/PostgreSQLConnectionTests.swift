import Foundation
import PostgreSQLClient
import PostgreSQLTesting
import TestSupport
import Testing

/// Statements, errors and deadlines of a connection.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct PostgreSQLConnectionTests {
  private struct Stop: Error {}

  /// Runs `body` with a pool of connections to an empty database.
  private func withPool(
    _ change: (inout PostgreSQLConfiguration) -> Void = { _ in },
    _ body: (PostgreSQLPool) async throws -> Void
  ) async throws {
    try await withDatabase { configuration in
      var configuration = configuration
      change(&configuration)
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      try await body(pool)
    }
  }

  @Test func `values arrive as they were sent`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        for number in [0, -1, 1, Int64.min, .max] {
          #expect(try connection.query("SELECT $1", [.int(number)])[0].int(0) == number)
        }
        for number in [-32768, -1, 0, 32767] as [Int64] {
          #expect(try connection.query("SELECT ($1::bigint)::smallint", [.int(number)])[0].int(0) == number)
        }
        for text in ["", "a\"'\\ Ärger ☃", String(repeating: "x", count: 1 << 20)] {
          #expect(try connection.query("SELECT $1", [.text(text)])[0].text(0) == text)
        }
        let bytes = Array(UInt8.min...UInt8.max)
        #expect(try connection.query("SELECT $1", [.bytes(bytes)])[0].bytes(0) == bytes)
        #expect(try connection.query("SELECT $1", [.bytes([])])[0].bytes(0) == [])
        #expect(try connection.query("SELECT $1", [.bool(true)])[0].bool(0))
        #expect(try connection.query("SELECT $1::text", [.null])[0].isNull(0))
        let rows = try connection.query(
          "SELECT * FROM unnest($1, $2, $3) AS each (number, word, bytes)",
          [.ints([1, -2]), .texts(["a", ""]), .byteArrays([[0], []])])
        #expect(try rows.map { try $0.int(0) } == [1, -2])
        #expect(try rows.map { try $0.text(1) } == ["a", ""])
        #expect(try rows.map { try $0.bytes(2) } == [[0], []])
        #expect(try connection.query("SELECT unnest($1)", [.ints([])]).isEmpty)
      }
    }
  }

  @Test func `a field of another type or a missing column is an error`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        let row = try connection.query("SELECT 'abc', NULL::bigint")[0]
        #expect(throws: PostgreSQLError.unexpectedResult("Column 0 is no integer.")) { try row.int(0) }
        #expect(throws: PostgreSQLError.self) { try row.int(1) }
        #expect(throws: PostgreSQLError.self) { try row.text(2) }
      }
    }
  }

  @Test func `errors have types, and the connection can be used afterwards`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        try connection.execute("CREATE TABLE item (id bigint CONSTRAINT item_id PRIMARY KEY)")
        #expect(try connection.query("INSERT INTO item VALUES ($1), ($2)", [.int(1), .int(2)]).changes == 2)
        #expect(throws: PostgreSQLError.uniqueViolation(constraint: "item_id")) {
          _ = try connection.query("INSERT INTO item VALUES ($1)", [.int(1)])
        }
        let failure = #expect(throws: PostgreSQLError.self) { try connection.execute("SELECT nothing") }
        guard case .rejected("42703", _) = failure else {
          Issue.record("\(String(describing: failure))")
          return
        }
        #expect(failure?.isTemporary == false)
        #expect(try connection.query("SELECT count(*) FROM item")[0].int(0) == 2)
      }
    }
  }

  @Test func `a transaction is rolled back by an error, and also if the error was ignored`() async throws {
    try await withPool { pool in
      try await pool.perform { try $0.execute("CREATE TABLE item (id bigint PRIMARY KEY)") }
      await #expect(throws: Stop.self) {
        try await pool.transaction { connection throws in
          try connection.execute("INSERT INTO item VALUES (1)")
          throw Stop()
        }
      }
      await #expect(throws: PostgreSQLError.self) {
        try await pool.transaction { connection throws in
          try connection.execute("INSERT INTO item VALUES (2)")
          do { try connection.execute("SELECT nothing") } catch PostgreSQLError.rejected {}
        }
      }
      try await pool.transaction { try $0.execute("INSERT INTO item VALUES (3)") }
      let ids = try await pool.perform { try $0.query("SELECT id FROM item").map { try $0.int(0) } }
      #expect(ids == [3])
    }
  }

  @Test func `many different statements can be prepared`() async throws {
    try await withPool { pool in
      try await pool.perform { connection throws in
        for number in 0...PostgreSQLLimits.preparedStatements * 2 {
          let sum = try connection.query("SELECT $1 + \(number)", [.int(1)])[0].int(0)
          #expect(sum == Int64(number) + 1)
        }
      }
    }
  }

  @Test func `a slow statement is cancelled by the server`() async throws {
    try await withPool {
      $0.statementTimeout = .milliseconds(50)
    } _: { pool in
      try await pool.perform { connection throws in
        #expect(throws: PostgreSQLError.timeout) { try connection.execute("SELECT pg_sleep(60)") }
        #expect(connection.isOpen)
        #expect(try connection.query("SELECT 1")[0].int(0) == 1)
      }
    }
  }

  /// Makes the server hang on the only connection of a pool, whose callers fail at once for `pause` afterwards.
  private func withHangingServer(
    pause: Duration, _ body: (PostgreSQLPool, _ process: Int64) async throws -> Void
  ) async throws {
    try await withPool {
      ($0.statementTimeout, $0.answerMargin, $0.connections) = (.milliseconds(50), .milliseconds(50), 1)
      $0.pause = pause...pause
    } _: { pool in
      let process = try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) }
      #expect(kill(Int32(process), SIGSTOP) == 0)
      defer { #expect(kill(Int32(process), SIGCONT) == 0) }
      await #expect(throws: PostgreSQLError.timeout) { try await pool.perform { try $0.execute("SELECT 1") } }
      try await body(pool, process)
    }
  }

  @Test func `a server that hangs does not block the next callers`() async throws {
    try await withHangingServer(pause: .seconds(3600)) { pool, _ in
      await #expect(throws: PostgreSQLError.timeout) { try await pool.perform { try $0.execute("SELECT 1") } }
    }
  }

  @Test func `after a server has hung, a caller gets another connection`() async throws {
    try await withHangingServer(pause: .milliseconds(10)) { pool, process in
      var other: Int64?
      try await eventually {
        do {
          other = try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) }
          return true
        } catch PostgreSQLError.timeout {
          return false
        }
      }
      #expect(other != process)
    }
  }
}
