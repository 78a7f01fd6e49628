import HTTPClient
import Logging
import SnapshotStore
import Webhooks

extension Webhooks {
  /// Creates the webhooks of a server, which have no endpoints yet.
  convenience init(_ settings: ServerSettings, _ storage: ServerStorage, logger: Logger) {
    let path = settings.storage + "/webhooks.sqlite"
    let shared = storage.shared
    var environment = Environment(transport: SystemTransport()) {
      if let shared { return shared.outbox }
      return try SQLiteOutbox(path: path)
    }
    if let shared {
      (environment.lock, environment.now) = (shared.webhooksLock, storage.now)
      // Another server does not wake the one that sends.
      environment.longestSleep = 1
    }
    self.init(environment, store: storage.store, logger: logger)
  }
}
