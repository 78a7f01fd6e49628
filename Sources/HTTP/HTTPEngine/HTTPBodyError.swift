/// Why a body ended before its end.
public enum HTTPBodyError: Error, Sendable, Hashable {
  /// The client went away, or the request is over.
  case disconnected
  /// The client was slower than the server's limits allow.
  case tooSlow
  /// The body is larger than the server's limit, in bytes.
  case tooLarge(limit: Int64)
  /// The chunked coding is broken.
  case malformed
}
