package import HTTPEngine
package import Logging
import CoreMetrics

/// Counts and logs finished requests. For ``HTTPServer/Configuration/onResponse``.
///
/// A log line has the token's id, never its secret, and the path without its query, which can contain secrets.
package final class RequestObserver: Sendable {
  private let metrics: ServerMetrics
  private let logger: Logger
  private let unrouted: RouteMetrics

  /// Creates an observer that counts with `metrics` and logs to `logger`, at level `info`.
  package init(_ metrics: ServerMetrics, logger: Logger) {
    self.metrics = metrics
    self.logger = logger
    unrouted = RouteMetrics(nil, factory: metrics.factory)
  }

  /// Counts and logs a finished request. Never blocks.
  package func observe(_ exchange: HTTPExchange) {
    let context = exchange.userInfo as? RequestContext
    (context?.route ?? unrouted).count(exchange)
    guard logger.logLevel <= .info else { return }
    let facts = context?.facts
    var metadata: Logger.Metadata = [
      "method": .string(exchange.method), "path": .string(exchange.path),
      "status": .string(String(exchange.status)), "bytes": .string(String(exchange.bytesSent)),
      "received": .string(String(exchange.bytesReceived)), "duration": .string(exchange.duration.description),
      "complete": .string(exchange.isComplete ? "true" : "false"), "id": .string(exchange.requestID),
      "peer": .string(exchange.peer),
    ]
    if let route = facts?.route { metadata["route"] = .string(route.name) }
    if let token = facts?.token { metadata["token"] = .string(token) }
    if let user = facts?.user { metadata["user"] = .string(user) }
    if let trace = facts?.traceID { metadata["trace"] = .string(trace) }
    logger.info("request", metadata: metadata)
  }
}
