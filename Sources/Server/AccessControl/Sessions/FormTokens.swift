import Crypto
import Foundation

/// What forms that change something carry to show that they come from a page which this server made for this browser:
/// an HMAC-SHA256 of what is in the browser's cookie, under a key that a restart changes.
///
/// A page of another site can neither read nor compute it. Nothing is kept of it, so visitors cost no memory.
struct FormTokens: Sendable {
  private let key = SymmetricKey(size: .bits256)

  /// The token of the forms in pages for the browser whose cookie holds `secret`.
  func token(for secret: String) -> String {
    Base64URL.encode(HMAC<SHA256>.authenticationCode(for: Self.signed(secret), using: key))
  }

  /// Whether `token` is just that; takes the same time whatever differs.
  func isGenuine(_ token: String, for secret: String) -> Bool {
    guard let code = Base64URL.decode(token) else { return false }
    return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.signed(secret), using: key)
  }

  private static func signed(_ secret: String) -> Data { Data("form\n\(secret)".utf8) }
}
