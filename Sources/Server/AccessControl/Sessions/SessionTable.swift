import SystemIO

/// The sessions that this server knows, in memory: all of them, or those of a shared table that were used here.
final class SessionTable: Sendable {
  private struct Session: Sendable {
    let token: String
    let began: Duration
    var lastUse: Duration
    /// The last use that was reported to the shared table.
    var reported: Duration
  }

  private let limits: SessionLimits
  private let clock: AccessClock
  private let sessions = Lock<[SessionKey: Session]>([:])

  init(_ limits: SessionLimits = SessionLimits(), clock: AccessClock) {
    self.limits = limits
    self.clock = clock
  }

  /// The number of active sessions.
  var count: Int { sessions.withLock { $0.values.count { !hasEnded($0) } } }

  /// Adds a session with the token of this id.
  func add(_ key: SessionKey, _ session: SharedSession) {
    let now = clock.elapsed()
    sessions.withLock { sessions in
      makeRoom(in: &sessions, for: session.token)
      sessions[key] = Session(
        token: session.token, began: now - session.age, lastUse: now - session.idle, reported: now)
    }
  }

  /// Returns the id of the token of a session, and counts as use of the session. Returns `nil` if the session does not
  /// exist or has ended.
  func token(of key: SessionKey) -> String? {
    sessions.withLock { sessions in
      guard let session = sessions[key] else { return nil }
      guard !hasEnded(session) else {
        sessions[key] = nil
        return nil
      }
      sessions[key]?.lastUse = clock.elapsed()
      return session.token
    }
  }

  /// Removes a session. Has no effect if it does not exist.
  func remove(_ key: SessionKey) { sessions.withLock { $0[key] = nil } }

  /// The keys of all sessions.
  var keys: [SessionKey] { sessions.withLock { Array($0.keys) } }

  /// Whether the last use of a session has to be reported to the shared table. Returns `true` once for each `interval`.
  func startsReport(of key: SessionKey, every interval: Duration) -> Bool {
    let now = clock.elapsed()
    return sessions.withLock { sessions in
      guard let session = sessions[key], now - session.reported >= interval else { return false }
      sessions[key]?.reported = now
      return true
    }
  }

  private func hasEnded(_ session: Session) -> Bool {
    let now = clock.elapsed()
    return now - session.lastUse >= limits.idle || now - session.began >= limits.longest
  }

  /// Removes the least recently used session of a token with too many sessions, and then of all sessions.
  private func makeRoom(in sessions: inout [SessionKey: Session], for token: String) {
    let own = sessions.filter { $0.value.token == token }
    if own.count >= limits.sessionsPerToken { Self.removeOldest(of: own, in: &sessions) }
    guard sessions.count >= limits.sessions else { return }
    sessions = sessions.filter { !hasEnded($0.value) }
    if sessions.count >= limits.sessions { Self.removeOldest(of: sessions, in: &sessions) }
  }

  private static func removeOldest(
    of candidates: [SessionKey: Session], in sessions: inout [SessionKey: Session]
  ) {
    if let oldest = candidates.min(by: { $0.value.lastUse < $1.value.lastUse }) { sessions[oldest.key] = nil }
  }
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
