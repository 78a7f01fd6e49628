/// Why there is no response. The texts are for people and hold no field of the request.
public enum TransportError: Error, Sendable, Hashable {
  /// The request can't be sent as it is: what is wrong with it. Nothing was sent.
  case invalidRequest(String)
  /// No connection: name not found, refused, unreachable, TLS failed, too slow. Nothing was sent.
  case connectionFailed(String)
  /// A deadline passed, other than the connection's.
  case timedOut
  /// The connection broke, or the answer was no HTTP, after sending had begun.
  case interrupted(String)
  /// A response with status 206 holds another range than the destination goes on with, which was left alone.
  case unexpectedRange
  /// The response is larger than its destination takes.
  case responseTooLarge(limit: Int64)
  /// The file to read or write failed.
  case file(String)
  /// The task was cancelled.
  case cancelled
}
