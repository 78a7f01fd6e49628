import Crypto
import Foundation
import Synchronization

/// The sessions of signed-in users. The browser's cookie contains a session's secret, 256 random bits; the server
/// stores only its SHA-256. Sessions are in memory, so a restart ends all of them.
final class SessionTable: Sendable {
  private struct Session: Sendable {
    let token: String
    let began: Duration
    var lastUse: Duration
  }

  private let limits: SessionLimits
  private let clock: AccessClock
  private let sessions = Mutex<[SHA256.Digest: Session]>([:])

  init(_ limits: SessionLimits = SessionLimits(), clock: AccessClock) {
    self.limits = limits
    self.clock = clock
  }

  /// The number of active sessions.
  var count: Int { sessions.withLock { $0.values.count { !hasEnded($0) } } }

  /// Starts a session with the token of this id and returns its secret.
  func begin(_ token: String) -> String {
    let secret = RandomSecret.make()
    let now = clock.elapsed()
    sessions.withLock { sessions in
      makeRoom(in: &sessions, for: token)
      sessions[Self.key(secret)] = Session(token: token, began: now, lastUse: now)
    }
    return secret
  }

  /// Returns the id of the token of the session with `secret`, and counts as use of the session. Returns `nil` if the
  /// session does not exist or has ended.
  func token(of secret: String) -> String? {
    let key = Self.key(secret)
    return sessions.withLock { sessions in
      guard let session = sessions[key] else { return nil }
      guard !hasEnded(session) else {
        sessions[key] = nil
        return nil
      }
      sessions[key]?.lastUse = clock.elapsed()
      return session.token
    }
  }

  /// Ends a session. Has no effect if it does not exist.
  func end(_ secret: String) { sessions.withLock { $0[Self.key(secret)] = nil } }

  private func hasEnded(_ session: Session) -> Bool {
    let now = clock.elapsed()
    return now - session.lastUse >= limits.idle || now - session.began >= limits.longest
  }

  /// Removes the least recently used session of a token with too many sessions, and then of all sessions.
  private func makeRoom(in sessions: inout [SHA256.Digest: Session], for token: String) {
    let own = sessions.filter { $0.value.token == token }
    if own.count >= limits.sessionsPerToken { Self.removeOldest(of: own, in: &sessions) }
    guard sessions.count >= limits.sessions else { return }
    sessions = sessions.filter { !hasEnded($0.value) }
    if sessions.count >= limits.sessions { Self.removeOldest(of: sessions, in: &sessions) }
  }

  private static func removeOldest(
    of candidates: [SHA256.Digest: Session], in sessions: inout [SHA256.Digest: Session]
  ) {
    if let oldest = candidates.min(by: { $0.value.lastUse < $1.value.lastUse }) { sessions[oldest.key] = nil }
  }

  private static func key(_ secret: String) -> SHA256.Digest { SHA256.hash(data: Data(secret.utf8)) }
}

/// The limits for the duration and number of sessions.
package struct SessionLimits: Sendable, Hashable {
  /// How long an unused session remains valid.
  package var idle = Duration.seconds(12 * 3600)
  /// The maximum duration of a session.
  package var longest = Duration.seconds(7 * 24 * 3600)
  /// The maximum number of sessions. Beyond: the least recently used one ends.
  package var sessions = 10_000
  /// The maximum number of sessions of one token. Beyond: its least recently used one ends.
  package var sessionsPerToken = 100

  /// Creates limits with the default values.
  package init() {}
}

/// The tokens of forms that change something. They prove that a form is from a page that this server created for this
/// browser (protection against cross-site request forgery). A token is an HMAC-SHA256 of the browser's cookie. The key
/// changes with every restart.
///
/// Pages of other sites can neither read nor compute the token. Tokens are not stored, so visitors need no memory.
struct FormTokens: Sendable {
  private let key = SymmetricKey(size: .bits256)

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
