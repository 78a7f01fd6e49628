import Logging
import SystemIO

/// The immutable state that all connections of a server share. ``HTTPServer/change(limits:trustedProxies:)`` replaces it
/// as a whole.
final class ServerContext: Sendable {
  let limits: HTTPLimits
  /// ``HTTPLimits/idleTime`` in milliseconds. Stored, because it is used for every request.
  let idleMilliseconds: UInt64
  let serverName: String?
  let handler: any HTTPHandler
  let logger: Logger
  let budget: ConnectionBudget
  let proxies: TrustedProxies
  let security: (any ConnectionSecurity)?
  /// The lowest descriptor reserved for files, which connections should not get.
  let descriptorCeiling: Int
  let bodyBuffers: IOBufferPool
  /// Whether each connection begins with a ``ProxyHeader``.
  let expectsProxyHeader: Bool
  /// Whether the listening sockets outlive the server, for the next one.
  let sharesListeners: Bool
  private let logsExchanges: Bool
  private let onResponse: (@Sendable (HTTPExchange) -> Void)?

  init(configuration: HTTPServer.Configuration, handler: any HTTPHandler, logger: Logger) {
    limits = configuration.limits
    idleMilliseconds = limits.idleTime.milliseconds
    serverName = configuration.serverName
    sharesListeners = !configuration.listeners.isEmpty
    expectsProxyHeader = configuration.proxyProtocol
    onResponse = configuration.onResponse
    logsExchanges = configuration.logsExchanges
    self.handler = handler
    self.logger = logger
    budget = ConnectionBudget(limits: limits)
    proxies = TrustedProxies(configuration.trustedProxies, fields: configuration.forwardingFields)
    security = configuration.security
    descriptorCeiling = Self.descriptorCeiling(limits)
    bodyBuffers = IOBufferPool(limit: limits.bodyBuffers)
  }

  /// Shares the counters and buffers of `former`, with other limits and trusted proxies.
  init(_ former: ServerContext, limits: HTTPLimits, trustedProxies: [TrustedProxy]) {
    self.limits = limits
    idleMilliseconds = limits.idleTime.milliseconds
    serverName = former.serverName
    security = former.security
    onResponse = former.onResponse
    logsExchanges = former.logsExchanges
    expectsProxyHeader = former.expectsProxyHeader
    sharesListeners = former.sharesListeners
    handler = former.handler
    logger = former.logger
    budget = former.budget
    proxies = TrustedProxies(trustedProxies, fields: former.proxies.fields)
    descriptorCeiling = Self.descriptorCeiling(limits)
    bodyBuffers = former.bodyBuffers
  }

  private static func descriptorCeiling(_ limits: HTTPLimits) -> Int {
    let descriptors = DescriptorLimit.current
    return descriptors - min(limits.reservedDescriptors, descriptors / 4)
  }

  /// Whether exchanges are logged or reported. If not, they are not created.
  var reportsExchanges: Bool { onResponse != nil || (logsExchanges && logger.logLevel <= .info) }

  func report(_ exchange: HTTPExchange) {
    onResponse?(exchange)
    guard logsExchanges else { return }
    logger.info(
      "request",
      metadata: [
        "method": "\(exchange.method.escapedForLog)", "path": "\(exchange.path.escapedForLog)",
        "status": "\(exchange.status)", "bytes": "\(exchange.bytesSent)", "duration": "\(exchange.duration)",
        "complete": "\(exchange.isComplete)", "id": "\(exchange.requestID)", "peer": "\(exchange.peer)",
      ])
  }

  /// The interval of checking deadlines: a quarter of the shortest one, within bounds.
  var tickMilliseconds: UInt64 {
    let shortest = [
      limits.headTime, limits.bodyWindow, limits.bodyGrace, limits.idleTime, limits.writeStallTime,
      limits.lingerTime, limits.acceptPause, limits.handshakeTime,
    ].map(\.milliseconds).min()
    return min(max((shortest ?? 1000) / 4, 5), 250)
  }
}
