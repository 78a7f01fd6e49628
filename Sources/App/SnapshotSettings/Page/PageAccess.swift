import HTTPEngine
import HTTPTypes
import SystemIO

/// Access control of the page: one-time tokens, sessions, and checks of a request's host and origin.
///
/// - A token can be exchanged once for a session cookie, which is `HttpOnly` and `SameSite=Strict`.
/// - `Host` must be this machine's loopback address or `localhost`, with any port, because ports can be forwarded. This
///   prevents DNS rebinding.
/// - Requests that change something must come from this origin according to `Origin` and `Sec-Fetch-Site`; at least one
///   of these fields must be present.
final class PageAccess: Sendable {
  /// The maximum number of unused tokens, and of sessions. The oldest ones are removed first.
  static let limit = 16

  private struct Secrets {
    var tokens: [String] = []
    var sessions: [String] = []
  }

  /// The cookie's name. It is random for each server, because browsers share cookies between ports.
  let cookie = "beta-settings-\(PageAccess.makeSecret().prefix(8))"
  private let secrets = Lock(Secrets())

  /// Creates a one-time token for a link.
  func makeToken() -> String {
    let token = Self.makeSecret()
    secrets.withLock { $0.tokens = $0.tokens.suffix(Self.limit - 1) + [token] }
    return token
  }

  /// Exchanges an unused token for the value of a `Set-Cookie` field; returns `nil` if the token is invalid.
  func exchange(_ token: String) -> String? {
    let session = Self.makeSecret()
    let isTaken = secrets.withLock { secrets in
      guard let index = secrets.tokens.firstIndex(where: { Self.isEqual($0, token) }) else { return false }
      secrets.tokens.remove(at: index)
      secrets.sessions = secrets.sessions.suffix(Self.limit - 1) + [session]
      return true
    }
    return isTaken ? "\(cookie)=\(session); Path=/; HttpOnly; SameSite=Strict" : nil
  }

  /// Whether the request has the cookie of a session.
  func admits(_ request: HTTPServerRequest) -> Bool {
    let values = request.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap {
      pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
      return parts.count == 2 && parts[0] == cookie ? parts[1] : nil
    }
    let sessions = secrets.withLock { $0.sessions }
    return values.contains { value in sessions.contains { Self.isEqual($0, value) } }
  }

  /// Whether the request's authority is this machine's loopback address or `localhost`.
  static func isForLoopback(_ request: HTTPServerRequest) -> Bool {
    let authority = request.authority.lowercased()
    return ["127.0.0.1", "localhost", "localhost.", "[::1]"].contains { host in
      guard authority.hasPrefix(host) else { return false }
      let port = authority.dropFirst(host.count)
      return port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil
    }
  }

  /// Whether the request was made by a page of the same origin.
  static func isFromOwnPage(_ request: HTTPServerRequest) -> Bool {
    let origins = request.headerFields[values: .origin]
    let sites = secFetchSite.map { request.headerFields[values: $0] } ?? []
    return (!origins.isEmpty || !sites.isEmpty)
      && origins.allSatisfy { $0.lowercased() == "http://\(request.authority.lowercased())" }
      && sites.allSatisfy { $0 == "same-origin" }
  }

  private static let secFetchSite = HTTPField.Name("Sec-Fetch-Site")

  /// 256 random bits as 64 hexadecimal digits.
  private static func makeSecret() -> String {
    (0..<4).map { _ in
      let digits = String(UInt64.random(in: .min ... .max), radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }

  /// Compares in a time that does not depend on the number of equal characters.
  private static func isEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
