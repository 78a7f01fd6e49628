import Crypto
import Foundation

/// The tokens of forms that change something. They prove that a form is from a page that this server created for this
/// browser (protection against cross-site request forgery). A token is an HMAC-SHA256 of the browser's cookie. The key
/// is that of ``LinkSigner``, so that it is the same on all servers that share their snapshots; the signed texts differ.
///
/// Pages of other sites can neither read nor compute the token. Tokens are not stored, so visitors need no memory.
struct FormTokens: Sendable {
  private let key: SymmetricKey

  init(key: SymmetricKey) { self.key = key }

  /// Returns the token for forms in pages for the browser whose cookie contains `secret`.
  func token(for secret: String) -> String {
    Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.signed(secret), using: key))
  }

  /// Whether `token` is the token for `secret`. Compares in constant time.
  func isGenuine(_ token: String, for secret: String) -> Bool {
    guard let code = Base64URL.decode(token) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.signed(secret), using: key)
  }

  private static func signed(_ secret: String) -> Data { Data("form\n\(secret)".utf8) }
}

/// 256 random bits as text, for cookies and forms.
enum RandomSecret {
  /// The number of characters.
  private static let length = 43

  /// Returns a new random text.
  static func make() -> String {
    var generator = SystemRandomNumberGenerator()
    return Base64URL.encode((0..<32).map { _ in generator.next() as UInt8 })
  }

  /// Whether `text` has the format of such a text.
  static func isOne(_ text: String) -> Bool { text.utf8.count == length && Base64URL.decode(text) != nil }
}
