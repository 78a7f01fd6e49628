import HTTPEngine
import HTTPTypes
import Synchronization

/// Who may see and use the page: whoever came by a link with a one-time token, from a page of this server's own.
///
/// - A token is good for one exchange against a cookie, which no script can read and no other site can send along.
/// - `Host` names this machine's loopback, whatever the port (it may be forwarded), so that no other name that was
///   made to point here gets in (DNS rebinding).
/// - What changes something comes from this very origin, by `Origin` and `Sec-Fetch-Site`; at least one of them must
///   be there.
final class PageAccess: Sendable {
  /// How many links may wait to be used, and how many browsers may be let in; the oldest leave first.
  static let limit = 16

  private struct Secrets {
    var tokens: [String] = []
    var sessions: [String] = []
  }

  /// The cookie's name, another one for each server: cookies don't tell ports apart.
  let cookie = "beta-settings-\(PageAccess.makeSecret().prefix(8))"
  private let secrets = Mutex(Secrets())

  /// A new token for one link.
  func makeToken() -> String {
    let token = Self.makeSecret()
    secrets.withLock { $0.tokens = $0.tokens.suffix(Self.limit - 1) + [token] }
    return token
  }

  /// Gives the value of `Set-Cookie` for a token that was not used before, else `nil`.
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

  /// Whether the request comes from a browser that was let in.
  func admits(_ request: HTTPServerRequest) -> Bool {
    let values = request.headerFields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap {
      pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " } }
      return parts.count == 2 && parts[0] == cookie ? parts[1] : nil
    }
    let sessions = secrets.withLock { $0.sessions }
    return values.contains { value in sessions.contains { Self.isEqual($0, value) } }
  }

  /// Whether the request names this machine's loopback, by itself.
  static func isForLoopback(_ request: HTTPServerRequest) -> Bool {
    let authority = request.authority.lowercased()
    return ["127.0.0.1", "localhost", "[::1]"].contains { host in
      guard authority.hasPrefix(host) else { return false }
      let port = authority.dropFirst(host.count)
      return port.isEmpty || port.first == ":" && UInt16(port.dropFirst()) != nil
    }
  }

  /// Whether the request was made by a page of this very origin.
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

  /// Compares in a time that does not tell how much is right.
  private static func isEqual(_ left: String, _ right: String) -> Bool {
    let (left, right) = (Array(left.utf8), Array(right.utf8))
    guard left.count == right.count else { return false }
    return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
