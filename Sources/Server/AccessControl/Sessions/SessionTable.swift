import Crypto
import Foundation
import Synchronization

/// Who has signed in, on the server's side only: of a session's secret, 256 random bits in the browser's cookie, its
/// SHA-256 is known here. In memory; a restart ends all sessions.
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

  /// How many sessions there are, those aside that ended unnoticed.
  var count: Int { sessions.withLock { $0.values.count { !hasEnded($0) } } }

  /// Begins a session of the token of this id, and gives its secret.
  func begin(_ token: String) -> String {
    let secret = RandomSecret.make()
    let now = clock.elapsed()
    sessions.withLock { sessions in
      makeRoom(in: &sessions, for: token)
      sessions[Self.key(secret)] = Session(token: token, began: now, lastUse: now)
    }
    return secret
  }

  /// The id of the token of the session that `secret` belongs to, which is used by this; `nil` where there is none any
  /// more.
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

  /// Ends a session; harmless where there is none.
  func end(_ secret: String) { sessions.withLock { $0[Self.key(secret)] = nil } }

  private func hasEnded(_ session: Session) -> Bool {
    let now = clock.elapsed()
    return now - session.lastUse >= limits.idle || now - session.began >= limits.longest
  }

  /// Of a token with too many sessions the one goes that was not used for longest, and so of all.
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

/// How long who has signed in stays so, and how many there may be.
package struct SessionLimits: Sendable, Hashable {
  /// How long a session lasts that is not used.
  package var idle = Duration.seconds(12 * 3600)
  /// How long any session lasts.
  package var longest = Duration.seconds(7 * 24 * 3600)
  /// The most sessions; of more those end that were not used for longest.
  package var sessions = 10_000
  /// The most sessions of one token, likewise.
  package var sessionsPerToken = 100

  /// The limits above.
  package init() {}
}
