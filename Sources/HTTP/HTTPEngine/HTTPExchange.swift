import HTTPTypes
import SystemIO

/// One request and what became of it, for access logs and metrics.
///
/// What is text is made when it is asked for, so that counting alone costs little.
public struct HTTPExchange: Sendable {
  /// The status that was sent; 0 where the connection ended before any was.
  public var status: Int
  /// Bytes of the request's head, and of what was read of its body without its coding.
  public var bytesReceived: Int64
  /// Bytes of the response that the system took, head and coding included.
  public var bytesSent: Int64
  /// From the head's last byte to the response's.
  public var duration: Duration
  /// Whether the whole response was sent; `false` where the client went away or the server gave up.
  public var isComplete: Bool
  /// What the handler had to say: ``HTTPServerRequest/note``.
  public var note: (any AnyObject & Sendable)?

  /// `nil` where no head could be read.
  let head: ReceivedHead?
  let number: UInt64
  let forwardedPeer: String?
  let address: SocketAddress

  /// The method, or `-` where no head could be read.
  public var method: String { head?.method.rawValue ?? "-" }
  /// The path without its query, which may hold secrets; `-` where no head could be read.
  public var path: String { head?.path ?? "-" }
  /// The request's id, as ``HTTPServerRequest/id`` says.
  public var requestID: String { head?.id ?? ReceivedHead.text(ofNumber: number) }
  /// Who sent the request, as ``HTTPServerRequest/peer`` says.
  public var peer: String { forwardedPeer ?? address.description }
}
