import HTTPEngine
import HTTPSemantics
import HTTPTypes

/// The cookies of the web pages, as one request brings them and its answer sets them.
///
/// `snapshot-session` holds the secret of who has signed in. `snapshot-visitor` holds random bits that stand for the
/// browser of who has not, so that forms can be bound to it. Neither can be read by a script or comes along from another
/// site.
///
/// Beyond loopback they are `Secure` and have the prefix `__Host-`, so that nothing but this host by TLS sets or gets
/// them. What the request names as its host tells which it is, since TLS may end at a proxy. Only a visitor to an open
/// store that is used without TLS gets one without: the bits are no secret that would be worth anything there.
struct PageCookies: Sendable {
  enum Kind: String, Sendable {
    case session = "snapshot-session"
    case visitor = "snapshot-visitor"
  }

  private let isSecure: Bool
  private let hasPlainVisitor: Bool
  /// Cookies don't tell ports apart, so their names do.
  private let suffix: String
  private let values: [String: String]

  /// Reads the cookies of `request`, which is made to a store that is open or needs tokens.
  init(_ request: HTTPServerRequest, isOpen: Bool) {
    let authority = request.authority.lowercased()
    isSecure = !PageOrigin.isLoopback(authority)
    hasPlainVisitor = isOpen && !PageOrigin(request).isSecure
    let port = authority.split(separator: ":").last.flatMap { UInt16($0) }
    suffix = authority.contains(":") && authority.last != "]" ? port.map { "-\($0)" } ?? "" : ""
    var values: [String: String] = [:]
    for pair in request.headerFields[values: .cookie].flatMap({ $0.split(separator: ";") }) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let name = String(parts[0].drop { $0 == " " })
      // The first counts: the one that fits the path best, or is older.
      if values[name] == nil, RandomSecret.isOne(String(parts[1])) { values[name] = String(parts[1]) }
    }
    self.values = values
  }

  /// The secret that the request brings.
  subscript(kind: Kind) -> String? { values[name(kind)] }

  /// The value of `Set-Cookie` that has the browser keep `secret` until it is closed.
  func setting(_ kind: Kind, to secret: String) -> String { "\(name(kind))=\(secret)\(attributes(kind))" }

  /// The value of `Set-Cookie` that has the browser forget it.
  func clearing(_ kind: Kind) -> String { "\(name(kind))=; Max-Age=0\(attributes(kind))" }

  private func name(_ kind: Kind) -> String {
    (isSecure(kind) ? "__Host-" : "") + kind.rawValue + suffix
  }

  private func attributes(_ kind: Kind) -> String {
    "; Path=/; HttpOnly; SameSite=Strict" + (isSecure(kind) ? "; Secure" : "")
  }

  private func isSecure(_ kind: Kind) -> Bool { isSecure && !(kind == .visitor && hasPlainVisitor) }
}
