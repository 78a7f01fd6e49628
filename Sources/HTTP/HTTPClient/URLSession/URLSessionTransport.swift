#if canImport(Darwin) || DEBUG
  package import HTTPTypes
  package import SystemIO

  #if canImport(FoundationNetworking)
    import Foundation
    import FoundationNetworking
  #else
    import Foundation
  #endif

  /// Sends requests with `URLSession`.
  ///
  /// Two things differ from the protocol's contract, because `URLSession` does not report them: repeated fields are one
  /// field, joined by commas; and ``TransportTimeouts/connect`` has no effect, because the time for connecting counts as
  /// idle time.
  ///
  /// On Linux, only debug builds have it, for tests: a program that is released must not load FoundationNetworking.
  package final class URLSessionTransport: Transport {
    private let session: URLSession
    private let exchanges: Exchanges

    /// Creates a transport with its own connections.
    /// - Parameter trust: how servers are recognized. Has no effect on Linux.
    package init(trust: ServerTrust = .system) {
      let configuration = URLSessionConfiguration.ephemeral
      configuration.keepNothing()
      #if canImport(Darwin)
        configuration.waitsForConnectivity = false
      #endif
      exchanges = Exchanges(trust: trust)
      session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: exchanges.queue)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends `request` as ``Transport`` specifies.
    package func send(
      _ request: HTTPRequest, body: TransportBody, destination: TransportDestination,
      timeouts: TransportTimeouts,
      events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      let exchange = Exchange(
        request: try CheckedRequest(request), body: body, destination: destination, timeouts: timeouts,
        events: events)
      let result = await withTaskCancellationHandler {
        await withCheckedContinuation { continuation in
          exchange.completion = { continuation.resume(returning: $0) }
          exchanges.start(exchange, in: session)
        }
      } onCancel: {
        exchanges.cancel(exchange)
      }
      return try result.get()
    }
  }

  extension URLSessionTransport: AddressedTransport {
    /// Throws ``TransportError/connectionFailed(_:)``, because `URLSession` can't connect to an address that was checked.
    package func send(
      _ request: HTTPRequest, body: TransportBody, to address: SocketAddress,
      destination: TransportDestination, timeouts: TransportTimeouts,
      events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      throw .connectionFailed("webhooks need Linux")
    }
  }

  extension TransportError {
    /// Converts an error of the session.
    init(_ error: any Error) {
      let text = error.localizedDescription
      switch (error as? URLError)?.code {
      case .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet,
        .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired,
        .internationalRoamingOff, .dataNotAllowed,
        .appTransportSecurityRequiresSecureConnection:
        self = .connectionFailed(text)
      case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid:
        self = .untrusted(text)
      case .badURL:
        self = .invalidRequest(text)
      case .timedOut:
        self = .timedOut
      case .cancelled:
        self = .cancelled
      case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile:
        self = .file(text)
      default:
        self = .interrupted(text)
      }
    }
  }
#endif
