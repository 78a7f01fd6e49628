/// One request and what became of it, for access logs and metrics.
public struct HTTPExchange: Sendable, Hashable {
  /// The method, or `-` where no head could be read.
  public var method: String
  /// The path without its query, which may hold secrets; `-` where no head could be read.
  public var path: String
  /// The status that was sent.
  public var status: Int
  /// Bytes of the response that the system took, head and coding included.
  public var bytesSent: Int64
  /// From the head's last byte to the response's.
  public var duration: Duration
  /// Whether the whole response was sent; `false` where the client went away or the server gave up.
  public var isComplete: Bool
  /// The request's id.
  public var requestID: String
  /// Who sent the request, as ``HTTPServerRequest/peer`` says.
  public var peer: String
}
