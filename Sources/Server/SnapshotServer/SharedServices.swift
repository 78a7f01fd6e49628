import AccessControl
import Foundation
import HTTPClient
import Logging
import PostgreSQLCatalog
import PostgreSQLClient
import PostgreSQLSharing
import S3Client
import S3Store
import SnapshotStore
import Webhooks

/// What servers that share their snapshots have in common: the object store, and the database with the index, the rows
/// of resumable uploads, the tokens, the sessions of the web pages, the quotas, the audit lines, the events of webhooks,
/// and the locks of the maintenance and of sending events.
struct SharedServices: Sendable {
  private let settings: ServerSettings
  private let client: S3Client
  private let pool: PostgreSQLPool
  private let access: SharedAccess
  /// For what a request waits for, and for what is repeated soon.
  private let prompt: PostgreSQLPool
  /// The sessions of the web pages on all servers.
  let sessions: SharedSessionRows
  /// The quotas of uploads on all servers.
  let quotas: SharedQuotaRows
  /// The tokens of all servers.
  var tokens: any SharedTokens { access.promptly() }
  /// The audit lines of all servers.
  let audit: SharedAuditRows
  /// The events that wait to be sent to webhooks.
  let outbox: PostgreSQLOutbox
  /// Selects the server that sends them.
  var webhooksLock: any MaintenanceLock { PostgreSQLMaintenanceLock(pool.configuration, for: "webhooks") }
  private let catalog: PostgreSQLCatalog
  /// The catalogue for the changes of requests, which fail soon if the database does not answer.
  let promptCatalog: PostgreSQLCatalog
  private let rows: PostgreSQLUploadRows
  private let logger: Logger

  /// Connects to the database, creates missing tables, and copies the tokens into the folder of the settings.
  static func open(
    _ settings: ServerSettings, environment: [String: String], logger: Logger
  ) async throws(ServerError) -> SharedServices {
    try await open(settings, in: try client(settings.shared, environment, logger), logger: logger)
  }

  /// Connects to the database, and uses an object store that is connected already.
  static func open(
    _ settings: ServerSettings, in client: S3Client, logger: Logger
  ) async throws(ServerError) -> SharedServices {
    let configuration: PostgreSQLConfiguration
    do {
      configuration = try settings.shared.databaseConfiguration()
    } catch {
      throw .sharedSettings(error)
    }
    do {
      let pool = PostgreSQLPool(configuration)
      let prompt = PostgreSQLPool(configuration.prompt, failingWith: pool)
      let access = try await SharedAccess(pool, copyingBy: prompt, storage: settings.storage)
      try await access.prepare()
      let catalog = try await PostgreSQLCatalog.open(configuration)
      return SharedServices(
        settings: settings, client: client, pool: pool, access: access, prompt: prompt,
        sessions: try await SharedSessionRows(prompt), quotas: try await SharedQuotaRows(prompt),
        audit: try await SharedAuditRows(prompt),
        outbox: try await PostgreSQLOutbox.open(configuration, failingWith: pool),
        catalog: catalog, promptCatalog: catalog.promptly(),
        rows: try await PostgreSQLUploadRows.open(configuration, failingWith: pool), logger: logger)
    } catch {
      throw .database("\(error)")
    }
  }

  private static func client(
    _ shared: SharedSettings, _ environment: [String: String], _ logger: Logger
  ) throws(ServerError) -> S3Client {
    let bucket: S3Configuration
    do throws(SharedSettingsError) { bucket = try shared.bucket() } catch { throw .sharedSettings(error) }
    do {
      return try S3Client(bucket, environment: environment) { seconds in
        logger.warning(
          """
          The clock of this server is wrong, or that of the object store: they differ by \(Int(abs(seconds))) s. \
          Requests are signed, records are dated and uploads expire by the store's time.
          """)
      }
    } catch {
      throw .objectStore(.objectStore(error))
    }
  }

  /// Opens the object store. The connections to the database are closed with it.
  func openStorage(_ observer: StorageObserver) async throws(ServerError) -> ServerStorage {
    do {
      var storage = try await ServerStorage.open(
        settings, in: client, rows: rows, catalog: catalog, notes: promptCatalog,
        settledRecords: promptCatalog, lock: PostgreSQLMaintenanceLock(pool.configuration),
        downloads: settings.shared.downloads, observer: observer, logger: logger)
      storage.shared = self
      return storage
    } catch {
      close()
      throw error
    }
  }

  /// Keeps this server's tokens the same as those of the others, until the task is cancelled.
  func watch() async { await access.watch(logger: logger) }

  /// Closes the connections to the database.
  func close() {
    promptCatalog.close()
    catalog.close()
    rows.close()
    outbox.close()
    prompt.close()
    pool.close()
  }
}

extension S3Client {
  /// A client with the system's transport and the credentials in the environment.
  /// - Parameter onClockCorrection: see ``S3Environment/onClockCorrection``.
  convenience init(
    _ bucket: S3Configuration, environment: [String: String],
    onClockCorrection: @escaping @Sendable (_ seconds: Double) -> Void = { _ in }
  ) throws(S3Error) {
    self.init(
      bucket, credentials: try .environment(environment), transport: SystemTransport(),
      environment: S3Environment(onClockCorrection: onClockCorrection))
  }
}

extension SharedAccess {
  /// Runs `body` with the tokens in the storage folder of `settings`. If servers share them, the folder gets those of the
  /// servers first, and all servers get the changes.
  package static func change<Value: Sendable>(
    of settings: ServerSettings, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    guard settings.shared.isEnabled else { return try body() }
    let pool = PostgreSQLPool(try settings.shared.databaseConfiguration())
    defer { pool.close() }
    return try await SharedAccess(pool, storage: settings.storage).change(body)
  }
}
