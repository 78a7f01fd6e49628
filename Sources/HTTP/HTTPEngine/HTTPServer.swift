import Dispatch
import HTTPTypes
public import Logging
public import SystemIO

/// An HTTP/1.1 server with strict parsing (RFC 9110, RFC 9112). It runs one event loop per core. Each loop has its own
/// listening socket for the same address.
public final class HTTPServer: Sendable {
  /// The settings of a server.
  public struct Configuration: Sendable {
    /// An IPv4 or IPv6 address, or `localhost`.
    public var host = "127.0.0.1"
    /// The port; 0 for any free port.
    public var port: UInt16 = 8080
    /// The path of a Unix socket to listen on instead of ``host`` and ``port``. Its file is created at the start, in place
    /// of one on which nobody listens, and is removed when the shutdown begins.
    public var socketPath: SocketPath?
    /// The permission bits of the socket's file. Only users who may write it can connect.
    public var socketMode: UInt16 = 0o660
    /// Sockets that listen already, such as `InheritedSockets`. If there are any, ``host``, ``port`` and ``socketPath`` are
    /// not used.
    ///
    /// Other processes may have the same sockets. A shutdown therefore leaves connections that wait in their queues to
    /// the next process, and gives idle connections ``HTTPLimits/replacementTime``, so that no request fails while a
    /// server is replaced.
    public var listeners: [Socket] = []
    /// The number of event loops; at least 1.
    public var eventLoops = Processors.count
    /// The limits for clients.
    public var limits = HTTPLimits()
    /// The proxies whose ``forwardingFields`` are trusted to name the client. A trusted proxy must append its element to
    /// the received field, or replace the field. The last hop that is not a trusted proxy counts as the client. From
    /// other senders the fields have no effect.
    public var trustedProxies: [TrustedProxy] = []
    /// The fields that trusted proxies send. They must remove the others of the same kind that a client sends. A request
    /// with malformed `X-Forwarded-*` fields, or with one of them twice, is answered with 400; only `X-Forwarded-For` is
    /// a list.
    public var forwardingFields = ForwardingFields.forwarded
    /// Whether every connection comes from a trusted proxy and begins with a header of the PROXY protocol, version 1 or 2,
    /// also before a handshake. Others are closed. The client that the header names is then the other end of the
    /// connection: ``forwardingFields`` are used only if it is a trusted proxy itself. A header that names none leaves the
    /// address of the proxy, and no fields are used.
    public var proxyProtocol = false
    /// The protection of all connections, such as TLS; `nil` for plain HTTP.
    public var security: (any ConnectionSecurity)?
    /// The value of the field `Server`. If it is `nil`, the field is not sent.
    public var serverName: String?
    /// How long ``HTTPServer/run()`` waits for running requests when its task is cancelled.
    public var shutdownDeadline: Duration = .seconds(30)
    /// Whether every finished exchange is logged, at level `info`.
    public var logsExchanges = true
    /// Called with every finished exchange, on an event loop. It must not block.
    public var onResponse: (@Sendable (HTTPExchange) -> Void)?

    /// Creates a configuration with the default values.
    public init(host: String = "127.0.0.1", port: UInt16 = 8080) {
      self.host = host
      self.port = port
    }
  }

  private enum State {
    case new
    case running(ServerContext, [EventLoop])
    case stopped
  }

  private let configuration: Configuration
  private let handler: any HTTPHandler
  private let logger: Logger
  private let state = Lock(State.new)
  private let ended = Signal()
  /// The Unix socket whose file the shutdown removes.
  private let unixListener = Lock<UnixListener?>(nil)

  /// Creates a server. It does not listen yet.
  public init(configuration: Configuration, handler: any HTTPHandler, logger: Logger) {
    self.configuration = configuration
    self.handler = handler
    self.logger = logger
  }

  /// Starts to listen and serve, and returns the bound address.
  ///
  /// - Throws: ``HTTPServerError``.
  @discardableResult
  public func start() async throws(HTTPServerError) -> ListenAddress {
    let address: ListenAddress
    if let path = configuration.socketPath {
      address = .unix(path)
    } else if let network = SocketAddress(host: configuration.host, port: configuration.port) {
      address = .network(network)
    } else {
      throw .invalidHost(configuration.host)
    }
    if let name = configuration.serverName, !HTTPField.isValidValue(name) { throw .invalidServerName(name) }
    let context = ServerContext(configuration: configuration, handler: handler, logger: logger)
    let result = state.withLock { state -> Result<(ListenAddress, [EventLoop]), HTTPServerError> in
      guard case .new = state else { return .failure(.alreadyStarted) }
      do {
        let listeners = try openListeners(at: address)
        let bound = try listeners[0].localAddress
        let loops = try listeners.map { try EventLoop(listener: $0, context: context) }
        state = .running(context, loops)
        return .success((bound, loops))
      } catch let error as SystemError where error.isAddressTaken {
        return .failure(.addressInUse(address))
      } catch UnixListener.Failure.inUse {
        return .failure(.addressInUse(address))
      } catch UnixListener.Failure.notSocket {
        return .failure(.cannotListen(address, reason: "the file there is not a socket, and is not replaced"))
      } catch {
        removeSocketFile()
        return .failure(.cannotListen(address, reason: "\(error)"))
      }
    }
    let (bound, loops) = try result.get()
    for (index, loop) in loops.enumerated() {
      DispatchQueue(label: "event-loop.\(index)").async {
        ProcessSignals.withoutBrokenPipe { loop.run() }
      }
    }
    return bound
  }

  /// The number of open connections.
  public var openConnections: Int {
    state.withLock {
      if case .running(let context, _) = $0 { context.budget.connections } else { 0 }
    }
  }

  /// Applies other limits and trusted proxies while the server runs, without closing a connection. Returns when every
  /// event loop uses them. Does nothing if the server does not run.
  ///
  /// Limits apply to everything that begins afterwards, also on open connections; a running request keeps those of its
  /// body. Whether a connection comes from a trusted proxy is decided when it is accepted.
  /// ``HTTPLimits/bodyBuffers`` keeps its value.
  public func change(limits: HTTPLimits, trustedProxies: [TrustedProxy]) async {
    let signals = state.withLock { state -> [Signal] in
      guard case .running(let former, let loops) = state else { return [] }
      let context = ServerContext(former, limits: limits, trustedProxies: trustedProxies)
      former.budget.change(limits)
      state = .running(context, loops)
      return loops.map { $0.beginChange(to: context) }
    }
    for signal in signals { await signal.wait() }
  }

  /// Returns when every event loop has begun a new round: soon, unless one hangs.
  public func pass() async {
    let signals = state.withLock { state -> [Signal] in
      if case .running(_, let loops) = state { return loops.map { $0.begin {} } }
      return []
    }
    for signal in signals { await signal.wait() }
  }

  /// Serves until ``shutdown(deadline:)`` is called or the calling task is cancelled. Cancellation starts a shutdown.
  /// Starts the server if it was not started.
  ///
  /// - Throws: ``HTTPServerError`` if it can't listen.
  public func run() async throws(HTTPServerError) {
    if state.withLock({ if case .new = $0 { true } else { false } }) { try await start() }
    let deadline = configuration.shutdownDeadline
    await withTaskCancellationHandler {
      await ended.wait()
    } onCancel: {
      Task { await self.shutdown(deadline: deadline) }
    }
  }

  /// Stops accepting connections, closes idle ones and waits up to `deadline` for running requests. Then closes the
  /// remaining connections and cancels their handlers. Returns when no connection is open. A second call waits for the
  /// same end, with the earlier of the two deadlines.
  public func shutdown(deadline: Duration = .seconds(30)) async {
    removeSocketFile()
    let loops = state.withLock { state -> [EventLoop] in
      if case .running(_, let loops) = state { return loops }
      state = .stopped
      return []
    }
    for signal in loops.map({ $0.beginStop(within: deadline.milliseconds) }) { await signal.wait() }
    state.withLock { $0 = .stopped }
    ended.fire()
  }
}

extension HTTPServer {
  /// The listening sockets, one for each event loop.
  private func openListeners(at address: ListenAddress) throws -> [Socket] {
    let count = max(1, configuration.eventLoops)
    var listeners = configuration.listeners
    if listeners.isEmpty {
      switch address {
      case .network(let address): return try Socket.listeners(at: address, count: count)
      case .unix(let path):
        let listener = try UnixListener(at: path, mode: configuration.socketMode)
        unixListener.set(listener)
        listeners = [listener.socket]
      }
    }
    // Every socket has a loop, and every loop has a socket.
    var all: [Socket] = []
    let each = (count + listeners.count - 1) / listeners.count
    for listener in listeners { all += try listener.sharing(count: each) }
    return all
  }

  /// Removes the file of the Unix socket, if the server has created one.
  private func removeSocketFile() {
    do { try unixListener.exchange(nil)?.removeFile() } catch {
      logger.warning("The file of the socket can't be removed: \(error)")
    }
  }
}

/// The reason why a server can't start.
public enum HTTPServerError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The configured host is neither an IP address nor `localhost`.
  case invalidHost(String)
  /// The configured server name is not a valid field value.
  case invalidServerName(String)
  /// Another process listens at this address.
  case addressInUse(ListenAddress)
  /// The system returned another error.
  case cannotListen(ListenAddress, reason: String)
  /// The server was started before.
  case alreadyStarted

  /// A description of the error for people.
  public var description: String {
    switch self {
    case .invalidHost(let host): "“\(host)” is neither an IP address nor localhost."
    case .invalidServerName(let name): "“\(name.escapedForLog)” can't be the value of the field Server."
    case .addressInUse(.network(let address)):
      "Another process is listening at \(address). Stop it, or choose another port (0 for any free port)."
    case .addressInUse(.unix(let path)):
      "Another process is listening at \(path). Stop it, or choose another path."
    case .cannotListen(let address, let reason): "The server can't listen at \(address): \(reason)."
    case .alreadyStarted: "The server was started already."
    }
  }
}

/// Responds to requests.
public protocol HTTPHandler: Sendable {
  /// Responds to one request. A thrown ``HTTPProblem`` is sent as problem+json. Any other error is logged and becomes a
  /// 500 with only the request's id.
  ///
  /// Begins on the event loop of the request's connection, and continues on any thread after it has waited. It must not
  /// block: await work on files, hashes and databases elsewhere. A response for which nothing was awaited is sent
  /// without a change of threads.
  func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse
}
