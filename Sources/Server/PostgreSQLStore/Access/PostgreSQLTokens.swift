import AccessControl
package import Logging
package import PostgreSQLClient
import SystemIO

/// The tokens and keys of servers that share their snapshots.
///
/// They are in a table, and every server has a copy in its storage folder, with which it continues if the database does
/// not answer. A change reaches all servers within a second by a notification, and otherwise within ``interval``.
package struct PostgreSQLTokens: SharedTokens {
  /// How often the files are compared with the table.
  package static let interval = Duration.seconds(5)

  private static let channel = "snapshot_access"
  private static let lock = PostgreSQLLockKey("access")
  private static let schema = Schemas.tokens.schema

  private let pool: PostgreSQLPool
  private let copying: PostgreSQLPool
  private let files: AccessFiles

  /// Creates the table if it does not exist.
  /// - Parameters:
  ///   - pool: connections to the database.
  ///   - copying: connections for ``copy()``, which is repeated if it fails; `nil` for the same.
  ///   - storage: the storage folder, which only this server uses.
  package init(
    _ pool: PostgreSQLPool, copyingBy copying: PostgreSQLPool? = nil, storage: String
  ) async throws {
    self.pool = pool
    self.copying = copying ?? pool
    files = AccessFiles(storage: storage)
    try await pool.perform { try Schemas.tokens.apply($0) }
  }

  /// Copies the table's files into the folder, and creates the keys that a server needs.
  ///
  /// The first server fills an empty table with the files of its folder: a server that worked alone keeps its tokens.
  package func prepare() async throws {
    try await change { [files] in try files.createLinkKey() }
  }

  /// Changes the files for all servers. `body` runs on the files as they are in the table, while no other server changes
  /// them. When this returns, the table has the changed files; if it throws, it is unknown whether it has.
  package func change<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await pool.transaction { [files] connection in
      try connection.lock(Self.lock)
      let shared = try Self.read(connection)
      if !shared.isEmpty { try files.replace(with: shared) }
      let value = try body()
      let changed = try files.read().filter { shared[$0.key] != $0.value }
      for (name, contents) in changed {
        _ = try connection.query(
          """
          INSERT INTO \(Self.schema).file VALUES ($1, $2)
          ON CONFLICT (name) DO UPDATE SET contents = excluded.contents
          """, [.text(name), .bytes(contents)])
      }
      if !changed.isEmpty { try connection.notify(Self.channel) }
      return value
    }
  }

  /// Copies changes of the table into the folder until the task is cancelled.
  package func watch(logger: Logger) async {
    let listener = PostgreSQLListener(pool.configuration, channel: Self.channel)
    defer { listener.stop() }
    await withTaskGroup(of: Void.self) { group in
      group.addTask {
        for await event in listener.events {
          if case .disconnected = event { continue }
          await copy(logger: logger)
        }
      }
      group.addTask {
        while !Task.isCancelled {
          do { try await Task.sleep(for: Self.interval) } catch { return }
          await copy(logger: logger)
        }
      }
    }
  }

  /// The same tokens, for the changes of requests, which fail soon if the database does not answer.
  package func promptly() -> PostgreSQLTokens {
    PostgreSQLTokens(pool: copying, copying: copying, files: files)
  }

  private init(pool: PostgreSQLPool, copying: PostgreSQLPool, files: AccessFiles) {
    (self.pool, self.copying, self.files) = (pool, copying, files)
  }

  /// Copies the table's files into the folder once.
  package func copy() async throws {
    try await copying.transaction { [files] connection in
      // During a change the folder can have files that are not in the table yet.
      try connection.lockShared(Self.lock)
      let shared = try Self.read(connection)
      // A table without files is a new one: the database was lost, and the next server that starts fills it again.
      if !shared.isEmpty { try files.replace(with: shared) }
    }
  }

  private func copy(logger: Logger) async {
    do { try await copy() } catch {
      logger.error("The tokens can't be compared with the database", metadata: ["error": "\(error)"])
    }
  }

  private static func read(_ connection: PostgreSQLConnection) throws -> [String: [UInt8]] {
    let rows = try connection.query("SELECT name, contents FROM \(schema).file")
    return Dictionary(
      uniqueKeysWithValues: try rows.map { row in (try row.text(0), try row.bytes(1)) })
  }
}
