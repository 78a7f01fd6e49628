package import HTTPTransport
package import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
  import Foundation
  import FoundationNetworking
#else
  import Foundation
#endif

/// Sends requests by `URLSession`.
///
/// Two things differ from the contract, since `URLSession` does not tell them: fields that came several times are
/// one, joined by commas; and ``TransportTimeouts/connect`` has no part of its own, the time for the connection
/// counts as idle.
package final class URLSessionTransport: Transport {
  private let session: URLSession
  private let exchanges: Exchanges

  /// A transport with connections of its own.
  package init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.urlCache = nil
    configuration.urlCredentialStorage = nil
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.httpCookieAcceptPolicy = .never
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    #if canImport(Darwin)
      configuration.tlsMinimumSupportedProtocolVersion = .TLSv12
      configuration.waitsForConnectivity = false
    #endif
    exchanges = Exchanges()
    session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: exchanges.queue)
  }

  deinit { session.finishTasksAndInvalidate() }

  /// Sends `request` as the protocol says.
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
