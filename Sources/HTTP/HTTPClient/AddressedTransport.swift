package import HTTPTypes
package import SystemIO

/// Sends a request to an address that was checked.
package protocol AddressedTransport: Sendable {
  /// Sends `request` as ``Transport`` specifies, to `address`, whatever addresses its host has. Uses no proxy.
  func send(
    _ request: HTTPRequest, body: TransportBody, to address: SocketAddress, destination: TransportDestination,
    timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
  ) async throws(TransportError) -> TransportResponse
}
