public import HTTPTypes

/// One request as it came in: the head, and the body as it arrives.
public struct HTTPServerRequest: Sendable {
  /// The method.
  public let method: HTTPRequest.Method
  /// The path as it was sent, not decoded, always beginning with `/` (`*` only for `OPTIONS *`).
  public let path: String
  /// What follows the first `?`, not decoded; `nil` where there is none.
  public let query: String?
  /// The value of `Host`, or the authority of an absolute-form target.
  public let authority: String
  /// The fields, without those of the connection itself.
  public let headerFields: HTTPFields
  /// The body; empty where the request has none.
  public let body: HTTPRequestBody
  /// The other end of the connection, as `address:port`.
  public let peer: String
  /// Names this request in answers and logs.
  public let id: String

  /// A request by its parts; handlers can be tested with it without a socket.
  public init(
    method: HTTPRequest.Method, path: String, query: String? = nil, authority: String = "localhost",
    headerFields: HTTPFields = [:], body: HTTPRequestBody = .empty, peer: String = "127.0.0.1:0",
    id: String = "test"
  ) {
    self.method = method
    self.path = path
    self.query = query
    self.authority = authority
    self.headerFields = headerFields
    self.body = body
    self.peer = peer
    self.id = id
  }
}
