public import HTTPTypes

/// What happens while a request is under way.
public enum TransportEvent: Sendable {
  /// An informational response (1xx) came, the final one is still to come; where the transport can tell.
  case informational(HTTPResponse)
  /// The head of the final response is here, its destination is ready, and no byte of the body was taken yet.
  case response(HTTPResponse)
  /// Bytes moved; at most some ten times a second, and once more at the end.
  case progress(TransportProgress)
}
