import HTTPTypes

/// A finished request and its response, for access logs and metrics.
///
/// Texts are created on access, so that counting alone is cheap.
public struct HTTPExchange: Sendable {
  /// The status of the response; 0 if the connection ended before a status was sent.
  public var status: Int
  /// The number of bytes of the request's head, and of the decoded body that was read.
  public var bytesReceived: Int64
  /// The number of bytes of the response that were written to the socket, including head and transfer coding.
  public var bytesSent: Int64
  /// The time from the last byte of the request's head to the last byte of the response.
  public var duration: Duration
  /// Whether the whole response was sent. `false` if the client disconnected or the server aborted the exchange.
  public var isComplete: Bool
  /// The address of the client; see ``HTTPServerRequest/peer``.
  public var peer: String
  /// The value that the handler stored in ``HTTPServerRequest/userInfo``.
  public var userInfo: (any AnyObject & Sendable)?

  /// The head, or `nil` if it could not be parsed.
  let head: ReceivedHead?
  let number: UInt64

  /// The method, or `-` if the head could not be parsed.
  public var method: String { head?.method.rawValue ?? "-" }
  /// The path without its query, which can contain secrets; `-` if the head could not be parsed.
  public var path: String { head?.path ?? "-" }
  /// The request's id; see ``HTTPServerRequest/id``.
  public var requestID: String { head?.id ?? ReceivedHead.text(ofNumber: number) }
}
