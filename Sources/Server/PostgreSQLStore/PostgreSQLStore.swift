package import AccessControl
package import Logging
package import PostgreSQLClient
package import SnapshotStore

/// What servers that share their snapshots have in one PostgreSQL database: the index, the resumable uploads, the tokens,
/// the sessions of the web pages, the quotas, the audit lines, the events of webhooks, and locks.
///
/// ``Schemas`` has the tables. Safe to use from any task.
package struct PostgreSQLStore: Sendable {
  /// The index of the snapshots.
  package let catalog: PostgreSQLCatalog
  /// The index for the changes of requests, which fail soon if the database does not answer.
  package let promptCatalog: PostgreSQLCatalog
  package let uploads: PostgreSQLUploadRows
  package let sessions: PostgreSQLSessions
  package let quotas: PostgreSQLQuotas
  package let audit: PostgreSQLAudit
  /// The events that wait to be sent to webhooks.
  package let outbox: PostgreSQLOutbox
  /// The tokens for the changes of requests, which fail soon if the database does not answer.
  package var tokens: any SharedTokens { ownTokens.promptly() }
  /// Selects the server that maintains the object store.
  package var maintenanceLock: any MaintenanceLock { PostgreSQLMaintenanceLock(pool.configuration) }
  /// Selects the server that sends the events of webhooks.
  package var webhooksLock: any MaintenanceLock {
    PostgreSQLMaintenanceLock(pool.configuration, for: "webhooks")
  }

  private let ownTokens: PostgreSQLTokens
  private let pool: PostgreSQLPool
  /// For what a request waits for, and for what is repeated soon.
  private let prompt: PostgreSQLPool

  /// Connects to the database, creates missing tables, and copies the tokens into the storage folder.
  /// - Parameter storage: the storage folder, which only this server uses.
  package static func open(
    _ configuration: PostgreSQLConfiguration, storage: String
  ) async throws -> PostgreSQLStore {
    let pool = PostgreSQLPool(configuration)
    let prompt = PostgreSQLPool(configuration.prompt, failingWith: pool)
    let tokens = try await PostgreSQLTokens(pool, copyingBy: prompt, storage: storage)
    try await tokens.prepare()
    let catalog = try await PostgreSQLCatalog.open(configuration)
    return PostgreSQLStore(
      catalog: catalog, promptCatalog: catalog.promptly(),
      uploads: try await PostgreSQLUploadRows.open(configuration, failingWith: pool),
      sessions: try await PostgreSQLSessions(prompt), quotas: try await PostgreSQLQuotas(prompt),
      audit: try await PostgreSQLAudit(prompt),
      outbox: try await PostgreSQLOutbox.open(configuration, failingWith: pool),
      ownTokens: tokens, pool: pool, prompt: prompt)
  }

  /// Keeps this server's tokens the same as those of the others, until the task is cancelled.
  package func watchTokens(logger: Logger) async { await ownTokens.watch(logger: logger) }

  /// Closes the connections. Don't use any part afterwards.
  package func close() {
    promptCatalog.close()
    catalog.close()
    uploads.close()
    outbox.close()
    prompt.close()
    pool.close()
  }
}
