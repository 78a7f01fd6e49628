import HTTPEngine
import HTTPSemantics
import HTTPTypes

/// The cookies of the web pages, in a request and its response.
///
/// `snapshot-session` contains the secret of a session. `snapshot-visitor` contains random bits that identify a browser
/// without session, so that forms can be bound to it. Scripts can't read these cookies, and other sites' requests do
/// not include them.
///
/// Beyond loopback they are `Secure` and have the prefix `__Host-`, so that only this host can set and receive
/// them, through TLS. Below a path of a host that others share, that prefix is not possible: they have the prefix
/// `__Secure-`, and browsers send them only below this path. The request's host determines whether this is the
/// case, since TLS can end at a proxy. Only visitors of an open store without TLS get a cookie without `Secure`:
/// there, the random bits protect nothing of value.
struct PageCookies: Sendable {
  enum Kind: String, Sendable {
    case session = "snapshot-session"
    case visitor = "snapshot-visitor"
  }

  private let isSecure: Bool
  /// The path below which browsers send the cookies.
  let path: String
  private let hasPlainVisitor: Bool
  /// Cookies are shared by all ports of a host, so their names contain the port.
  private let suffix: String
  private let values: [String: String]

  /// Reads the cookies of `request`. `isOpen` states whether the store requires no tokens.
  init(_ request: HTTPServerRequest, isOpen: Bool) {
    let authority = request.authority.lowercased()
    path = request.basePath.isEmpty ? "/" : request.basePath
    isSecure = !PageOrigin.isLoopback(authority)
    hasPlainVisitor = isOpen && !PageOrigin(request).isSecure
    let port = authority.split(separator: ":").last.flatMap { UInt16($0) }
    suffix = authority.contains(":") && authority.last != "]" ? port.map { "-\($0)" } ?? "" : ""
    var values: [String: String] = [:]
    for pair in request.headerFields[values: .cookie].flatMap({ $0.split(separator: ";") }) {
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2 else { continue }
      let name = String(parts[0].drop { $0 == " " })
      // The first cookie of a name takes precedence: it has the longest path, or is the oldest (RFC 6265 §5.4).
      if values[name] == nil, RandomSecret.isOne(String(parts[1])) { values[name] = String(parts[1]) }
    }
    self.values = values
  }

  /// The value of the cookie in the request.
  subscript(kind: Kind) -> String? { values[name(kind)] }

  /// Returns the `Set-Cookie` value that sets the cookie until the browser is closed.
  func setting(_ kind: Kind, to secret: String) -> String { "\(name(kind))=\(secret)\(attributes(kind))" }

  /// Returns the `Set-Cookie` value that deletes the cookie.
  func clearing(_ kind: Kind) -> String { "\(name(kind))=; Max-Age=0\(attributes(kind))" }

  private func name(_ kind: Kind) -> String {
    (isSecure(kind) ? path == "/" ? "__Host-" : "__Secure-" : "") + kind.rawValue + suffix
  }

  private func attributes(_ kind: Kind) -> String {
    "; Path=\(path); HttpOnly; SameSite=Strict" + (isSecure(kind) ? "; Secure" : "")
  }

  private func isSecure(_ kind: Kind) -> Bool { isSecure && !(kind == .visitor && hasPlainVisitor) }
}
