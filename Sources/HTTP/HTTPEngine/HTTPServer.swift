import Dispatch
import HTTPTypes
public import Logging
import Synchronization
public import SystemIO

/// An HTTP/1.1 server (RFC 9110, RFC 9112, read strictly): one event loop per core, each with its own listening
/// socket at the same address.
public final class HTTPServer: Sendable {
  /// Where and how to serve.
  public struct Configuration: Sendable {
    /// An IPv4 or IPv6 address, or `localhost`.
    public var host = "127.0.0.1"
    /// The port; 0 takes a free one.
    public var port: UInt16 = 8080
    /// How many event loops; at least 1.
    public var eventLoops = Processors.count
    /// What the server puts up with.
    public var limits = HTTPLimits()
    /// The proxies that may say in `Forwarded` (RFC 7239) whom they bring a request from. Each must add its element
    /// at the end of what it got, or in place of it; the last hop that isn't one of them counts as the client. From
    /// everybody else the field is no more than a field.
    public var trustedProxies: [AddressBlock] = []
    /// The value of the field `Server`; none is sent without one.
    public var serverName: String?
    /// How long ``HTTPServer/run()`` lets requests finish when its task is cancelled.
    public var shutdownDeadline: Duration = .seconds(30)
    /// Whether the logger is told of every exchange when it ends, at `info`.
    public var logsExchanges = true
    /// Told of every exchange when it ends, on an event loop: it must not block.
    public var onResponse: (@Sendable (HTTPExchange) -> Void)?

    /// The defaults.
    public init(host: String = "127.0.0.1", port: UInt16 = 8080) {
      self.host = host
      self.port = port
    }
  }

  private enum State {
    case new
    case running(SocketAddress, [EventLoop])
    case stopped
  }

  private let configuration: Configuration
  private let handler: any HTTPHandler
  private let logger: Logger
  private let state = Mutex(State.new)
  private let ended = Signal()

  /// A server that doesn't listen yet.
  public init(configuration: Configuration, handler: any HTTPHandler, logger: Logger) {
    self.configuration = configuration
    self.handler = handler
    self.logger = logger
  }

  /// Listens and serves, and answers where.
  /// - Throws: ``HTTPServerError``.
  @discardableResult
  public func start() async throws(HTTPServerError) -> SocketAddress {
    guard let address = SocketAddress(host: configuration.host, port: configuration.port) else {
      throw .invalidHost(configuration.host)
    }
    if let name = configuration.serverName, !HTTPField.isValidValue(name) { throw .invalidServerName(name) }
    let context = ServerContext(configuration: configuration, handler: handler, logger: logger)
    let result = state.withLock { state -> Result<(SocketAddress, [EventLoop]), HTTPServerError> in
      guard case .new = state else { return .failure(.alreadyStarted) }
      do {
        let listeners = try Socket.listeners(at: address, count: max(1, configuration.eventLoops))
        let bound = try listeners[0].localAddress
        let loops = try listeners.map { try EventLoop(listener: $0, context: context) }
        state = .running(bound, loops)
        return .success((bound, loops))
      } catch let error as SystemError where error.isAddressTaken {
        return .failure(.addressInUse(address))
      } catch {
        return .failure(.cannotListen(address, reason: "\(error)"))
      }
    }
    let (bound, loops) = try result.get()
    for (index, loop) in loops.enumerated() {
      DispatchQueue(label: "http-event-loop-\(index)").async {
        ProcessSignals.withoutBrokenPipe { loop.run() }
      }
    }
    return bound
  }

  /// How many connections are open.
  public var openConnections: Int {
    state.withLock {
      if case .running(_, let loops) = $0 { loops.first?.context.budget.connections ?? 0 } else { 0 }
    }
  }

  /// Serves until ``shutdown(deadline:)`` is called or the calling task is cancelled, which begins a shutdown;
  /// starts the server first where that hasn't been done.
  /// - Throws: ``HTTPServerError`` where it can't listen.
  public func run() async throws(HTTPServerError) {
    if state.withLock({ if case .new = $0 { true } else { false } }) { try await start() }
    let deadline = configuration.shutdownDeadline
    await withTaskCancellationHandler {
      await ended.wait()
    } onCancel: {
      Task { await self.shutdown(deadline: deadline) }
    }
  }

  /// Stops accepting, closes idle connections, lets running requests finish within `deadline` and closes what is
  /// left then, cancelling its handlers. Returns when no connection is open. Calling it again waits for the same
  /// end, under the earlier deadline.
  public func shutdown(deadline: Duration = .seconds(30)) async {
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
