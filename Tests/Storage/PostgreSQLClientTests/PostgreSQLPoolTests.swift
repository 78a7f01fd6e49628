import Dispatch
import Foundation
import PostgreSQLClient
import PostgreSQLTesting
import SystemIO
import TestSupport
import Testing

/// Several connections, transactions that conflict, and servers that cannot be reached.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct PostgreSQLPoolTests {
  private func pool(
    _ configuration: PostgreSQLConfiguration, _ change: (inout PostgreSQLConfiguration) -> Void = { _ in }
  ) -> PostgreSQLPool {
    var configuration = configuration
    change(&configuration)
    return PostgreSQLPool(configuration)
  }

  @Test func `more callers than connections are all served`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration) { $0.connections = 3 }
      defer { pool.close() }
      let processes = try await withThrowingTaskGroup(of: Int64.self) { group in
        for _ in 0..<60 {
          group.addTask { try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) } }
        }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect((1...3).contains(processes.count))
    }
  }

  @Test func `a caller that waited too long for a connection fails`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration) {
        $0.connections = 1
        $0.waitTimeout = .zero
      }
      defer { pool.close() }
      let (isHeld, isReleased) = (Signal(), DispatchSemaphore(value: 0))
      let holder = Task {
        try await pool.perform { _ in
          isHeld.fire()
          isReleased.wait()
        }
      }
      await isHeld.wait()
      // Both wait when their tasks have suspended for the first time.
      let late = (0..<2).map { _ in Task.immediate { try await pool.perform { try $0.execute("SELECT 1") } } }
      isReleased.signal()
      try await holder.value
      for caller in late {
        await #expect(throws: PostgreSQLError.busy) { try await caller.value }
      }
      try await pool.perform { try $0.execute("SELECT 1") }
    }
  }

  @Test func `callers that wait are limited in number, and fail when the pool is closed`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration) { $0.connections = 1 }
      let (isHeld, isReleased) = (Signal(), DispatchSemaphore(value: 0))
      let holder = Task {
        try await pool.perform { _ in
          isHeld.fire()
          isReleased.wait()
        }
      }
      await isHeld.wait()
      let waiting = (0..<PostgreSQLLimits.waiting).map { _ in
        Task.immediate { try await pool.perform { try $0.execute("SELECT 1") } }
      }
      await #expect(throws: PostgreSQLError.busy) { try await pool.perform { try $0.execute("SELECT 1") } }
      pool.close()
      for caller in waiting {
        await #expect(throws: PostgreSQLError.unavailable("The pool is closed.")) { try await caller.value }
      }
      isReleased.signal()
      try await holder.value
    }
  }

  @Test func `a transaction that conflicts with another is run again`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration)
      defer { pool.close() }
      try await pool.perform {
        try $0.execute("CREATE TABLE counter (value bigint); INSERT INTO counter VALUES (0)")
      }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask {
            try await pool.transaction { connection throws in
              try connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
              let value = try connection.query("SELECT value FROM counter")[0].int(0)
              _ = try connection.query("UPDATE counter SET value = $1", [.int(value + 1)])
            }
          }
        }
        try await group.waitForAll()
      }
      let value = try await pool.perform { try $0.query("SELECT value FROM counter")[0].int(0) }
      #expect(value == 8)
    }
  }

  @Test func `a connection that the server ended is replaced`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration) { $0.connections = 1 }
      defer { pool.close() }
      let admin = self.pool(configuration)
      defer { admin.close() }
      for _ in 0..<3 {
        let process = try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) }
        try await admin.perform { connection throws in
          _ = try connection.query("SELECT pg_terminate_backend($1::bigint::integer, 5000)", [.int(process)])
        }
        let other = try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) }
        #expect(other != process)
      }
      let failure = await #expect(throws: PostgreSQLError.self) {
        try await pool.perform { try $0.execute("SELECT pg_terminate_backend(pg_backend_pid())") }
      }
      #expect(failure?.isConnectionLost == true)
    }
  }

  @Test func `while a server cannot be reached, callers fail at once`() async throws {
    // A port at which nothing listens.
    let pool = pool(try PostgreSQLConfiguration(uri: "postgres://tests@127.0.0.1:1/x")) {
      $0.pause = .seconds(60)...Duration.seconds(60)
    }
    defer { pool.close() }
    for _ in 0..<3 {
      let failure = await #expect(throws: PostgreSQLError.self) {
        try await pool.perform { try $0.execute("SELECT 1") }
      }
      #expect(failure?.isUnavailable == true)
    }
  }

  @Test func `a server that accepts and never answers is given up`() async throws {
    let silent = try Socket.listeners(at: SocketAddress(.loopback, port: 0), count: 1)
    let pool = pool(
      try PostgreSQLConfiguration(uri: "postgres://tests@127.0.0.1:\(try silent[0].localAddress.port)/x")
    ) {
      $0.connectTimeout = .milliseconds(50)
    }
    defer { pool.close() }
    let failure = await #expect(throws: PostgreSQLError.self) {
      try await pool.perform { try $0.execute("SELECT 1") }
    }
    #expect(failure?.isUnavailable == true)
  }

  @Test func `a closed pool rejects callers`() async throws {
    try await withDatabase { configuration in
      let pool = pool(configuration)
      try await pool.perform { try $0.execute("SELECT 1") }
      pool.close()
      await #expect(throws: PostgreSQLError.unavailable("The pool is closed.")) {
        try await pool.perform { try $0.execute("SELECT 1") }
      }
    }
  }
}

extension PostgreSQLError {
  fileprivate var isUnavailable: Bool {
    if case .unavailable = self { true } else { false }
  }

  fileprivate var isConnectionLost: Bool {
    if case .connectionLost = self { true } else { false }
  }
}
