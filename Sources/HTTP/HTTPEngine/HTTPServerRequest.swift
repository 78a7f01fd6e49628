public import HTTPTypes
import Synchronization
import SystemIO

/// One request as it came in: the head, and the body as it arrives.
///
/// The parts of the head are made from the received bytes when they are asked for, so a handler pays for what it
/// looks at.
public struct HTTPServerRequest: Sendable {
  private enum Head: Sendable {
    case received(ReceivedHead, Exchange)
    case given(GivenHead)
  }

  private let head: Head
  /// The body; empty where the request has none.
  public let body: HTTPRequestBody

  /// A request by its parts; handlers can be tested with it without a socket.
  /// - Parameter onInterim: told of every interim answer; answers whether it went out.
  public init(
    method: HTTPRequest.Method, path: String, query: String? = nil, authority: String = "localhost",
    headerFields: HTTPFields = [:], body: HTTPRequestBody = .empty, peer: String = "127.0.0.1:0",
    id: String = "test",
    onInterim: @escaping @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool = { _, _ in false }
  ) {
    head = .given(
      GivenHead(
        method: method, path: path, query: query, authority: authority, headerFields: headerFields,
        peer: peer, id: id, onInterim: onInterim))
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

  /// The path as it was sent, not decoded, always beginning with `/` (`*` only for `OPTIONS *`).
  public var path: String {
    switch head {
    case .received(let head, _): head.path
    case .given(let head): head.path
    }
  }

  /// What follows the first `?`, not decoded; `nil` where there is none.
  public var query: String? {
    switch head {
    case .received(let head, _): head.query
    case .given(let head): head.query
    }
  }

  /// The value of `Host`, or the authority of an absolute-form target; empty where an HTTP/1.0 request has neither.
  public var authority: String {
    switch head {
    case .received(let head, _): head.authority
    case .given(let head): head.authority
    }
  }

  /// The fields, without `Host` and those of the connection itself.
  public var headerFields: HTTPFields {
    switch head {
    case .received(let head, _): head.headerFields
    case .given(let head): head.headerFields
    }
  }

  /// Who sent the request: the other end of the connection as `address:port`, or, where that is a trusted proxy,
  /// whom it names, with a port only if it does so: an address, `unknown`, or a name like `_hidden`.
  public var peer: String {
    switch head {
    case .received(let head, let exchange): exchange.forwardedPeer ?? head.peer.description
    case .given(let head): head.peer
    }
  }

  /// Names this request in answers and logs: what the client says in `X-Request-Id`, if that is made of letters,
  /// digits and `- _ . : = + / @ ~` and no longer than ``HTTPLimits/requestIDBytes``, or a name of the server's making.
  public var id: String {
    switch head {
    case .received(let head, _): head.id
    case .given(let head): head.id
    }
  }

  /// Sends an interim answer (RFC 9110 §15.2), such as `103` or `104`, before the final one, and waits until the client
  /// has taken it and all before it; a client that takes nothing is given up like one that takes no response.
  ///
  /// None goes out to a client of HTTP/1.0, once the final answer has begun, or when the connection has ended. Fields
  /// that are the server's to write are left out. `100 (Continue)` is answered when the body is asked for, and neither
  /// it nor `101` can be sent here.
  /// - Returns: whether it went out.
  @discardableResult
  public func sendInterim(_ status: HTTPResponse.Status, _ fields: HTTPFields = [:]) async -> Bool {
    switch head {
    case .received(_, let exchange): await exchange.sendInterim(status, fields)
    case .given(let head): await head.onInterim(status, fields)
    }
  }

  /// Ends the exchange from any thread: the connection is reset, what is unsent is discarded, and a handler that waits for
  /// the body gets ``HTTPBodyError/disconnected``. It does nothing once the exchange has ended, and keeps no part of the
  /// request in memory.
  public var abort: @Sendable () -> Void {
    guard case .received(_, let exchange) = head else { return {} }
    let loop = exchange.loop
    return { [weak exchange] in
      guard let exchange else { return }
      loop.execute { exchange.connection.abort(exchange) }
    }
  }

  /// What the handler has to say of the request to whoever is told of it in the end, as ``HTTPExchange/note``.
  public var note: (any AnyObject & Sendable)? {
    get {
      switch head {
      case .received(let head, _): head.note.withLock { $0 }
      case .given(let head): head.note.withLock { $0 }
      }
    }
    nonmutating set {
      switch head {
      case .received(let head, _): head.note.withLock { $0 = newValue }
      case .given(let head): head.note.withLock { $0 = newValue }
      }
    }
  }
}

/// A request's head that was put together rather than received.
private final class GivenHead: Sendable {
  let method: HTTPRequest.Method
  let path: String
  let query: String?
  let authority: String
  let headerFields: HTTPFields
  let peer: String
  let id: String
  let onInterim: @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool
  let note = Mutex<(any AnyObject & Sendable)?>(nil)

  init(
    method: HTTPRequest.Method, path: String, query: String?, authority: String, headerFields: HTTPFields,
    peer: String, id: String, onInterim: @escaping @Sendable (HTTPResponse.Status, HTTPFields) async -> Bool
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.authority = authority
    self.headerFields = headerFields
    self.peer = peer
    self.id = id
    self.onInterim = onInterim
  }
}
