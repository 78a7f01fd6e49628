#if canImport(CCurl)
  package import HTTPTypes
  package import SystemIO

  /// Sends requests with libcurl. All transfers run on one thread, which exists only while there are transfers.
  ///
  /// Connections are kept open and reused. TLS 1.2 is the minimum, and certificates are verified. Proxies are read from
  /// the environment (`https_proxy`, `no_proxy`, …) as libcurl does, but are never used for loopback addresses.
  package final class CurlTransport: Transport, AddressedTransport {
    /// The maximum number of connections kept open for later requests.
    private static let keptConnections = 8

    private let loop = TransferLoop(keptConnections: keptConnections)
    private let trust: ServerTrust

    /// Creates a transport with its own connections.
    /// - Parameter trust: how servers are recognized.
    package init(trust: ServerTrust = .system) { self.trust = trust }

    /// Sends `request` as ``Transport`` specifies.
    package func send(
      _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      try await run(
        Transfer(
          request: try CheckedRequest(request), body: body, destination: destination, timeouts: timeouts,
          trust: trust, events: events))
    }

    /// Sends `request` as ``AddressedTransport`` specifies. The certificate must be that of the host. Uses no connection
    /// of another request.
    package func send(
      _ request: HTTPRequest, body: TransportBody, to address: SocketAddress,
      destination: TransportDestination, timeouts: TransportTimeouts,
      events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      try await run(
        Transfer(
          request: try CheckedRequest(request), body: body, destination: destination, timeouts: timeouts,
          trust: trust, address: address, events: events))
    }

    private func run(_ transfer: Transfer) async throws(TransportError) -> TransportResponse {
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          transfer.completion = { continuation.resume(returning: $0) }
          loop.submit(transfer)
        }
      } onCancel: {
        transfer.isCancelled.set(true)
        loop.wake()
      }
      return try result.get()
    }
  }
#endif
