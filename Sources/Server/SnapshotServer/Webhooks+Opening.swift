import Logging
import PostgreSQLStore
import SnapshotStore
import Webhooks

#if os(Linux)
  import CurlTransport

  extension CurlTransport: AddressedTransport {}
#endif

extension Webhooks {
  /// Creates the webhooks of a server, which have no endpoints yet.
  convenience init(_ settings: ServerSettings, _ storage: ServerStorage, logger: Logger) {
    let path = settings.storage + "/webhooks.sqlite"
    let database = storage.database
    #if os(Linux)
      let transport: any AddressedTransport = CurlTransport()
    #else
      let transport: any AddressedTransport = NoTransport()
    #endif
    var environment = Environment(transport: transport) {
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

#if !os(Linux)
  import HTTPTransport
  import HTTPTypes
  import SystemIO

  /// URLSession can't connect to an address that was checked.
  private struct NoTransport: AddressedTransport {
    func send(
      _ request: HTTPRequest, body: TransportBody, to address: SocketAddress,
      destination: TransportDestination,
      timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      throw .connectionFailed("webhooks need Linux")
    }
  }
#endif
