import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
package import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// The implementations of ``MaintenanceLock`` for several servers.
package enum MaintenanceLockKind: CaseIterable, Sendable {
  case memory, postgresql

  /// The implementations that can be tested on this machine.
  package static let allCases: [MaintenanceLockKind] =
    PostgreSQLServer.isInstalled ? [.memory, .postgresql] : [.memory]

  /// Runs `body` with a function that makes the lock of one more server, and one that lets the holder lose the lock.
  package func withLocks(
    _ body: (_ make: () async throws -> any MaintenanceLock, _ revoke: () async throws -> Void) async throws
      ->
      Void
  ) async throws {
    switch self {
    case .memory:
      let lock = InMemoryMaintenanceLock()
      try await body({ lock }, { lock.revoke() })
    case .postgresql:
      try await withDatabase { configuration in
        let admin = PostgreSQLPool(configuration)
        defer { admin.close() }
        try await body(
          { PostgreSQLMaintenanceLock(configuration, interval: .milliseconds(20)) },
          {
            try await admin.perform { connection in
              try connection.execute(
                """
                SELECT pg_terminate_backend(pid, 5000) FROM pg_locks JOIN pg_database ON database = pg_database.oid
                WHERE locktype = 'advisory' AND granted AND datname = current_database()
                """)
            }
          })
      }
    }
  }
}

/// The guarantees of ``MaintenanceLock``, tested with every implementation.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct MaintenanceLockConformance {
  /// The work of one server, which ends when it is cancelled.
  private final class Work: Sendable {
    private let counts = Lock((begun: 0, running: 0))
    private let changes = AsyncStream<Void>.makeStream()

    var begun: Int { counts.withLock { $0.begun } }
    var isRunning: Bool { counts.withLock { $0.running > 0 } }

    func run() async {
      counts.withLock { counts in
        counts.begun += 1
        counts.running += 1
      }
      changes.continuation.yield()
      do { try await Signal.waitForCancellation() } catch {}
      counts.withLock { $0.running -= 1 }
    }

    /// Waits until the work has begun once more.
    func began() async { for await _ in changes.stream { return } }
  }

  @Test(arguments: MaintenanceLockKind.allCases)
  func `one server works at a time, and the next one when it ends`(kind: MaintenanceLockKind) async throws {
    try await kind.withLocks { make, _ in
      let works = [Work(), Work(), Work()]
      var tasks: [Task<Void, Never>] = []
      for work in works {
        let lock = try await make()
        tasks.append(Task { await lock.whileHeld { await work.run() } })
        if tasks.count == 1 { await work.began() }
      }
      // The one that waits and is cancelled does not begin.
      tasks[1].cancel()
      await tasks[1].value
      #expect(works.map(\.begun) == [1, 0, 0])
      tasks[0].cancel()
      await tasks[0].value
      #expect(!works[0].isRunning)
      await works[2].began()
      #expect(works.map(\.begun) == [1, 0, 1])
      tasks[2].cancel()
      await tasks[2].value
    }
  }

  @Test(arguments: MaintenanceLockKind.allCases)
  func `work is cancelled when the lock is lost, and begins again with the lock`(kind: MaintenanceLockKind)
    async throws
  {
    try await kind.withLocks { make, revoke in
      let (lock, work) = (try await make(), Work())
      let task = Task { await lock.whileHeld { await work.run() } }
      for _ in 0..<3 {
        await work.began()
        #expect(work.isRunning)
        try await revoke()
      }
      await work.began()
      #expect(work.begun == 4)
      task.cancel()
      await task.value
      #expect(!work.isRunning)
    }
  }

  @Test(arguments: MaintenanceLockKind.allCases)
  func `the lock is free after work that returns`(kind: MaintenanceLockKind) async throws {
    try await kind.withLocks { make, _ in
      for _ in 0..<3 {
        let count = Lock(0)
        try await make().whileHeld { count.withLock { $0 += 1 } }
        #expect(count.withLock { $0 } == 1)
      }
    }
  }
}
