import Logging
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
    let isShared = settings.shared.isEnabled
    #if os(Linux)
      let transport: any AddressedTransport = CurlTransport()
    #else
      let transport: any AddressedTransport = NoTransport()
    #endif
    let environment = Environment(transport: transport) {
      guard !isShared else { throw WebhookError.unsupported }
      return try SQLiteOutbox(path: path)
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
