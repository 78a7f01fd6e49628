import HTTPClient
import Logging
import PostgreSQLStore
import SnapshotStore
import Webhooks

extension Webhooks {
  /// Creates the webhooks of a server, which have no endpoints yet.
  convenience init(_ settings: ServerSettings, _ storage: ServerStorage, logger: Logger) {
    let path = settings.storage + "/webhooks.sqlite"
    let database = storage.database
    var environment = Environment(transport: SystemTransport()) {
      if let database { return database.outbox }
      return try SQLiteOutbox(path: path)
    }
    if let database {
      (environment.lock, environment.now) = (database.webhooksLock, storage.now)
      // Another server does not wake the one that sends.
      environment.longestSleep = 1
    }
    self.init(environment, store: storage.store, logger: logger)
  }
}
