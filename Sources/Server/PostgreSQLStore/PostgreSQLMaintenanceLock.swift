package import PostgreSQLClient
import SnapshotStore

/// The lock of the server that does something that only one of several may do, such as maintaining the storage: an
/// advisory lock, which the database releases when the holder's connection ends.
package struct PostgreSQLMaintenanceLock: MaintenanceLock {
  private let key: PostgreSQLLockKey
  private let configuration: PostgreSQLConfiguration
  private let interval: Duration

  /// Creates the lock.
  /// - Parameters:
  ///   - configuration: the database. The lock uses one connection while it is held or waited for.
  ///   - purpose: what the server does that holds the lock.
  ///   - interval: how often to try to take the lock, and to check that it is still held.
  package init(
    _ configuration: PostgreSQLConfiguration, for purpose: String = "maintenance",
    interval: Duration = .seconds(2)
  ) {
    key = PostgreSQLLockKey(purpose)
    var configuration = configuration
    configuration.connections = 1
    self.configuration = configuration
    self.interval = interval
  }

  /// Whether a server holds the lock: one does as long as any runs, and for a moment after its machine was lost.
  package func isHeld() async throws -> Bool {
    let pool = PostgreSQLPool(configuration)
    defer { pool.close() }
    return try await pool.perform { connection in
      guard try connection.trySessionLock(key) else { return true }
      try connection.sessionUnlock(key)
      return false
    }
  }

  package func whileHeld(_ work: @escaping @Sendable () async -> Void) async {
    let pool = PostgreSQLPool(configuration)
    defer { pool.close() }
    while !Task.isCancelled {
      if let process = await take(pool), await run(work, while: process, pool) {
        return await release(pool)
      }
      do { try await Task.sleep(for: interval) } catch { return }
    }
  }

  /// Takes the lock, if it is free and the database answers.
  /// - Returns: the process of the server that serves the connection; `nil` if the lock was not taken.
  private func take(_ pool: PostgreSQLPool) async -> Int64? {
    do {
      return try await pool.perform { connection in
        guard try connection.trySessionLock(key) else { return nil }
        return try connection.query("SELECT pg_backend_pid()")[0].int(0)
      }
    } catch {
      return nil
    }
  }

  /// Releases the lock. If this fails, the lock ends with the connection.
  private func release(_ pool: PostgreSQLPool) async {
    do { try await pool.perform { try $0.sessionUnlock(key) } } catch {}
  }

  /// Runs `work` while the connection that holds the lock remains.
  /// - Returns: whether `work` ended by itself, or because the task was cancelled.
  private func run(
    _ work: @escaping @Sendable () async -> Void, while process: Int64, _ pool: PostgreSQLPool
  ) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
      group.addTask {
        await work()
        return true
      }
      group.addTask {
        while await isServed(by: process, pool) {
          do { try await Task.sleep(for: interval) } catch { return false }
        }
        return false
      }
      let isFinished = await group.next() ?? true
      group.cancelAll()
      await group.waitForAll()
      return isFinished || Task.isCancelled
    }
  }

  /// Whether the same process serves the connection. The pool replaces a connection that was lost.
  private func isServed(by process: Int64, _ pool: PostgreSQLPool) async -> Bool {
    do {
      return try await pool.perform { try $0.query("SELECT pg_backend_pid()")[0].int(0) } == process
    } catch {
      return false
    }
  }
}
