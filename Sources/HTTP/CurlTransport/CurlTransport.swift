#if canImport(CCurl)
  package import HTTPTransport
  package import HTTPTypes
  import Synchronization

  /// Sends requests by libcurl, all of them on one thread, which exists only while something is under way.
  ///
  /// Connections are kept and used again. TLS 1.2 is the least, and certificates are verified. Proxies are taken
  /// from the environment (`https_proxy`, `no_proxy`, …) as libcurl does, but never for this machine itself.
  package final class CurlTransport: Transport {
    /// What may be set.
    package struct Configuration: Sendable, Hashable {
      /// How many connections are kept open for later requests.
      package var keptConnections = 8

      /// The defaults above.
      package init() {}
    }

    private let loop: TransferLoop

    /// A transport with connections of its own.
    package init(configuration: Configuration = .init()) {
      loop = TransferLoop(keptConnections: configuration.keptConnections)
    }

    /// Sends `request` as the protocol says.
    package func send(
      _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts, events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      let transfer = Transfer(
        request: try CheckedRequest(request), body: body, destination: destination, timeouts: timeouts,
        events: events)
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          transfer.completion = { continuation.resume(returning: $0) }
          loop.submit(transfer)
        }
      } onCancel: {
        transfer.isCancelled.store(true, ordering: .releasing)
        loop.wake()
      }
      return try result.get()
    }
  }
#endif
