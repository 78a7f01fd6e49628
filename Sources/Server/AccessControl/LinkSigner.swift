import Crypto
package import Foundation
package import SnapshotFormat

/// Signs links to bundles, and tells whether one is genuine.
///
/// A link names one bundle and the second at which it ends; its signature is an HMAC-SHA256 of both.
package struct LinkSigner: Sendable {
  /// How long a link may last, in seconds: up to 90 days.
  package static let lifetimes = 1...7_776_000

  /// What is said of a link.
  package enum Verdict: Sendable, Hashable {
    case genuine
    case expired
    case forged
  }

  private let key: SymmetricKey

  init(key: SymmetricKey = SymmetricKey(size: .bits256)) { self.key = key }

  /// The path and query under which the bundle of `id` may be downloaded until `end`, which counts whole seconds.
  package func target(_ id: SnapshotID, until end: Date) -> String {
    let expires = String(Int(end.timeIntervalSince1970))
    let signature = Base64URL.encode(
      HMAC<SHA256>.authenticationCode(for: Self.signed(id, expires), using: key))
    return "/v1/snapshots/\(id).zip?expires=\(expires)&signature=\(signature)"
  }

  /// What is to be said of a link to `id` at `now`.
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
