package import HTTPTransport
package import HTTPTypes
import SystemIO

#if canImport(FoundationNetworking)
  package import Foundation
  import FoundationNetworking
#else
  package import Foundation
#endif

/// Sends requests with `URLSession`.
///
/// Two things differ from the protocol's contract, because `URLSession` does not report them: repeated fields are one
/// field, joined by commas; and ``TransportTimeouts/connect`` has no effect, because the time for connecting counts as
/// idle time.
package final class URLSessionTransport: Transport {
  private let session: URLSession
  private let exchanges: Exchanges

  /// Creates a transport with its own connections.
  /// - Parameter recognizes: decides whether a server is the right one by its certificate in DER format, instead of the
  ///   system. Has no effect on Linux.
  package init(recognizes: (@Sendable (Data) -> Bool)? = nil) {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.keepNothing()
    #if canImport(Darwin)
      configuration.waitsForConnectivity = false
    #endif
    exchanges = Exchanges(recognizes: recognizes)
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
