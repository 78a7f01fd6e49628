import AccessControl
import HTTPClient
import Logging
import PostgreSQLClient
import PostgreSQLStore
import S3Client
import S3Store
import SnapshotStore
import Webhooks

extension ServerStorage {
  /// Connects to the object store and the database that several servers share, creates missing tables, and copies the
  /// tokens into the folder of the settings.
  /// - Parameter environment: contains the credentials of the object store.
  static func openShared(
    _ settings: ServerSettings, environment: [String: String], observer: StorageObserver, logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    let client = try client(settings.shared, environment, logger)
    return try await openShared(settings, in: client, observer: observer, logger: logger)
  }

  /// Connects to the database, and uses an object store that is connected already.
  static func openShared(
    _ settings: ServerSettings, in client: S3Client, observer: StorageObserver = StorageObserver(),
    logger: Logger
  ) async throws(ServerError) -> ServerStorage {
    let configuration: PostgreSQLConfiguration
    do {
      configuration = try settings.shared.databaseConfiguration()
    } catch {
      throw .sharedSettings(error)
    }
    let database: PostgreSQLStore
    do { database = try await PostgreSQLStore.open(configuration, storage: settings.storage) } catch {
      throw .database("\(error)")
    }
    do {
      var storage = try await open(
        settings, in: client, rows: database.uploads, catalog: database.catalog,
        intents: database.promptCatalog, settledRecords: database.promptCatalog,
        lock: database.maintenanceLock,
        downloads: settings.shared.downloads, observer: observer, logger: logger)
      storage.database = database
      return storage
    } catch {
      database.close()
      throw error
    }
  }

  private static func client(
    _ shared: SharedSettings, _ environment: [String: String], _ logger: Logger
  ) throws(ServerError) -> S3Client {
    let bucket: S3Configuration
    do { bucket = try shared.bucket() } catch { throw .sharedSettings(error) }
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

extension PostgreSQLTokens {
  /// Runs `body` with the tokens in the storage folder of `settings`. If servers share them, the folder gets those of the
  /// servers first, and all servers get the changes.
  package static func change<Value: Sendable>(
    of settings: ServerSettings, _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    guard settings.shared.isEnabled else { return try body() }
    let pool = PostgreSQLPool(try settings.shared.databaseConfiguration())
    defer { pool.close() }
    return try await PostgreSQLTokens(pool, storage: settings.storage).change(body)
  }
}
