import HTTPTypes

/// What a request says of its right.
enum Authorization: Sendable {
  /// Nothing.
  case none
  /// A token that may be one of ours.
  case token(TokenSecret)
  /// Something that can't be one.
  case malformed

  /// Reads `Authorization: Bearer TOKEN` (RFC 6750 §2.1), the scheme in any case (RFC 9110 §11.1).
  init(_ fields: HTTPFields) {
    guard let value = fields[.authorization] else {
      self = .none
      return
    }
    let parts = value.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer",
      let secret = TokenSecret(String(parts[1].drop { $0 == " " }))
    else {
      self = .malformed
      return
    }
    self = .token(secret)
  }

  /// Reads a token that somebody pasted, white space around it or not.
  init(pasted text: String) {
    let text = text.filter { !$0.isWhitespace }
    self = text.isEmpty ? .none : TokenSecret(text).map(Authorization.token) ?? .malformed
  }
}
