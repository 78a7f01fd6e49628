public import HTTPTypes

/// What happens while a request is under way.
public enum TransportEvent: Sendable {
  /// The head of the final response is here, its destination is ready, and no byte of the body was taken yet.
  case response(HTTPResponse)
  /// Bytes moved; at most some ten times a second, and once more at the end.
  case progress(TransportProgress)
}
