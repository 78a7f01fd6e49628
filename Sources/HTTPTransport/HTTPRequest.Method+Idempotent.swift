package import HTTPTypes

extension HTTPRequest.Method {
  /// Whether to do it twice has the effect of doing it once (RFC 9110 §9.2.2).
  package var isIdempotent: Bool { [.get, .head, .put, .delete, .options, .trace].contains(self) }
}
