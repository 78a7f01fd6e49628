public import HTTPTypes
public import SystemIO

/// A received request: its head, and its body as it arrives.
///
/// The parts of the head are parsed on access, so a handler pays only for the parts that it uses.
public struct HTTPServerRequest: Sendable {
  private enum Head: Sendable {
    case received(ReceivedHead, Exchange)
    case given(GivenHead)
  }

  private let head: Head
  /// What the client of a proxy sees; `nil` if that is what the server received. Boxed, so that a request stays small.
  private var boxedView: Box<PublicView>?
  var view: PublicView? {
    get { boxedView?.value }
    set { boxedView = newValue.map(Box.init) }
  }
  /// The body; empty if the request has none.
  public let body: HTTPRequestBody

  /// Creates a request from its parts, to test handlers without a socket.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - path: the path, percent-encoded, without a query. It starts with `/`.
  ///   - query: the query without `?`, percent-encoded.
  ///   - authority: the host, with a port if there is one.
  ///   - headerFields: the header fields.
  ///   - body: the body.
  ///   - peer: the client's address and port.
  ///   - connectedAddress: the address of the other end of the connection; `nil` for a Unix socket.
  ///   - id: the request's id.
  ///   - isSecure: whether the connection is protected.
  ///   - clientCertificate: the verified certificate of the client.
  ///   - onInterim: called with each interim response; returns whether it was sent.
  public init(
    method: HTTPRequest.Method, path: String, query: String? = nil, authority: String = "localhost",
    headerFields: HTTPFields = [:], body: HTTPRequestBody = .empty, peer: String = "127.0.0.1:0",
    connectedAddress: IPAddress? = .loopback, id: String = "test", isSecure: Bool = false,
    clientCertificate: ClientCertificate? = nil,
    onInterim: @escaping @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool = { _, _ in false }
  ) {
    head = .given(
      GivenHead(
        method: method, path: path, query: query, authority: authority, headerFields: headerFields,
        peer: peer, connectedAddress: connectedAddress, id: id, isSecure: isSecure,
        clientCertificate: clientCertificate, onInterim: onInterim))
    self.body = body
  }

  init(_ head: ReceivedHead, _ exchange: Exchange, body: HTTPRequestBody) {
    self.head = .received(head, exchange)
    self.body = body
  }

  /// The method.
  public var method: HTTPRequest.Method {
    switch head {
    case .received(let head, _): head.method
    case .given(let head): head.method
    }
  }

  /// The path as sent, not decoded, without ``basePath``. It always starts with `/`, except for `OPTIONS *`, where it is
  /// `*`.
  public var path: String {
    if let view { return view.path }
    return switch head {
    case .received(let head, _): head.path
    case .given(let head): head.path
    }
  }

  /// The text after the first `?`, not decoded; `nil` if there is none.
  public var query: String? {
    switch head {
    case .received(let head, _): head.query
    case .given(let head): head.query
    }
  }

  /// The value of `Host`, or the authority of an absolute-form target. Empty if an HTTP/1.0 request has neither. Behind a
  /// proxy, the one that the client uses, if it is known.
  public var authority: String {
    if let view { return view.authority }
    return switch head {
    case .received(let head, _): head.authority
    case .given(let head): head.authority
    }
  }

  /// The fields, except `Host` and those that belong to the connection.
  public var headerFields: HTTPFields {
    switch head {
    case .received(let head, _): head.headerFields
    case .given(let head): head.headerFields
    }
  }

  /// The client: the other end of the connection as `address:port`, or `unix` for a Unix socket. With
  /// ``HTTPServer/Configuration/proxyProtocol``, the client that the proxy names there. If that is a trusted proxy, the
  /// client that it names in the request, with a port only if it states one: an address, `unknown`, or a name like
  /// `_hidden`.
  public var peer: String {
    switch head {
    case .received(_, let exchange): exchange.forwardedPeer ?? exchange.peerName
    case .given(let head): head.peer
    }
  }

  /// The address of the other end of the connection, which can be a proxy, whatever that says about its client; `nil` if
  /// it has no address, as the other end of a Unix socket.
  package var connectedAddress: IPAddress? {
    switch head {
    case .received(_, let exchange): exchange.connectedAddress
    case .given(let head): head.connectedAddress
    }
  }

  /// Whether the connection is protected by ``HTTPServer/Configuration/security``. Behind a proxy that receives HTTPS
  /// itself, `true` only if the client's address is known.
  public var isSecure: Bool {
    if let view { return view.isSecure }
    return switch head {
    case .received(_, let exchange): exchange.isSecure
    case .given(let head): head.isSecure
    }
  }

  /// How the client of a trusted proxy sees the server; `nil` if no such proxy has said it.
  package var forwardedView: ForwardedView? {
    switch head {
    case .received(_, let exchange): exchange.forwardedView
    case .given(let head): head.forwardedView
    }
  }

  /// The certificate with which the client has proved its identity; `nil` if there is none.
  public var clientCertificate: ClientCertificate? {
    switch head {
    case .received(_, let exchange): exchange.clientCertificate
    case .given(let head): head.clientCertificate
    }
  }

  /// The id of this request in responses and logs. This is the client's `X-Request-Id` if it consists of letters,
  /// digits and `- _ . : = + / @ ~` and is not longer than ``HTTPLimits/requestIDBytes``. Otherwise the server creates
  /// an id.
  public var id: String {
    switch head {
    case .received(let head, _): head.id
    case .given(let head): head.id
    }
  }

  /// A time between the arrival of the head's last byte and now, as early as possible, in nanoseconds of
  /// ``SystemClock/monotonicNanoseconds``.
  package var arrival: UInt64 {
    if case .received(_, let exchange) = head, let began = exchange.began { return began }
    return SystemClock.monotonicNanoseconds
  }

  /// Sends an interim response (RFC 9110 §15.2), such as `103` or `104`, before the final one. Waits until it and all
  /// bytes before it were written to the socket. A client that does not read is disconnected, as for a final response.
  ///
  /// Sends nothing to a client with HTTP/1.0, after the final response has started, or after the connection has ended.
  /// Drops fields that only the server sets. Can't send `100`, which the server sends when the body is requested, and
  /// `101`.
  ///
  /// - Returns: whether the response was sent.
  @discardableResult
  public func sendInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) async -> Bool {
    let fields = view.map { fields.below($0.basePath) } ?? fields
    return switch head {
    case .received(_, let exchange): await exchange.sendInterim(status, fields)
    case .given(let head): await head.onInterim(status, fields)
    }
  }

  /// Aborts the exchange, from any thread: resets the connection and discards unsent data. A handler that waits for the
  /// body gets ``HTTPBodyError/disconnected``. Has no effect after the end of the exchange. The closure does not retain
  /// the request.
  public var abort: @Sendable () -> Void {
    guard case .received(_, let exchange) = head else { return {} }
    let loop = exchange.loop
    return { [weak exchange] in
      guard let exchange else { return }
      loop.execute { exchange.connection.abort(exchange) }
    }
  }

  /// A value that the handler attaches to the request, for the receiver of ``HTTPExchange/userInfo``.
  public var userInfo: (any AnyObject & Sendable)? {
    get {
      switch head {
      case .received(let head, _): head.userInfo.withLock { $0 }
      case .given(let head): head.userInfo.withLock { $0 }
      }
    }
    nonmutating set {
      switch head {
      case .received(let head, _): head.userInfo.withLock { $0 = newValue }
      case .given(let head): head.userInfo.withLock { $0 = newValue }
      }
    }
  }
}

/// An immutable value in a reference.
private final class Box<Value: Sendable>: Sendable {
  let value: Value

  init(_ value: Value) { self.value = value }
}

/// A head that was created from its parts instead of being received.
private final class GivenHead: Sendable {
  let method: HTTPRequest.Method
  let path: String
  let query: String?
  let authority: String
  let headerFields: HTTPFields
  let peer: String
  let connectedAddress: IPAddress?
  let id: String
  let isSecure: Bool
  let clientCertificate: ClientCertificate?
  let forwardedView: ForwardedView? = nil
  let onInterim: @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool
  let userInfo = Lock<(any AnyObject & Sendable)?>(nil)

  init(
    method: HTTPRequest.Method, path: String, query: String?, authority: String, headerFields: HTTPFields,
    peer: String, connectedAddress: IPAddress?, id: String, isSecure: Bool,
    clientCertificate: ClientCertificate?,
    onInterim: @escaping @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.authority = authority
    self.headerFields = headerFields
    self.peer = peer
    self.connectedAddress = connectedAddress
    self.id = id
    self.isSecure = isSecure
    self.clientCertificate = clientCertificate
    self.onInterim = onInterim
  }
}
