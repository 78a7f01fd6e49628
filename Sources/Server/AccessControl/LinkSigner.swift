import Crypto
package import Foundation
package import SnapshotFormat

/// Signs and verifies links to bundles.
///
/// A link contains the id of one snapshot and the time in seconds at which it expires. Its signature is an HMAC-SHA256
/// of both.
package struct LinkSigner: Sendable {
  /// The allowed lifetimes of a link, in seconds: up to 90 days.
  package static let lifetimes = 1...7_776_000

  /// The result of verifying a link.
  package enum Verdict: Sendable, Hashable {
    case genuine
    case expired
    case forged
  }

  private let key: SymmetricKey

  init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

  /// Returns the path and query under which the bundle of `id` can be downloaded until `end`, truncated to seconds.
  package func target(_ id: SnapshotID, until end: Date) -> String {
    let expires = String(Int(end.timeIntervalSince1970))
    let signature = Base64URL.encode(
      HMAC<SHA256>.authenticationCode(for: Self.signed(id, expires), using: key))
    return "/v1/snapshots/\(id).zip?expires=\(expires)&signature=\(signature)"
  }

  /// Verifies a link to the bundle of `id` at the time `now`.
  package func verdict(_ id: SnapshotID, expires: String?, signature: String, at now: Date) -> Verdict {
    guard let expires, let code = Base64URL.decode(signature),
      HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Self.signed(id, expires), using: key),
      let end = Int(expires)
    else { return .forged }
    return now.timeIntervalSince1970 < Double(end) ? .genuine : .expired
  }

  private static func signed(_ id: SnapshotID, _ expires: String) -> Data {
    Data("bundle\n\(id)\n\(expires)".utf8)
  }
}
