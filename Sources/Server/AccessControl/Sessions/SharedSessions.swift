import Crypto
import Foundation

/// Identifies a session: the SHA-256 of its secret.
package struct SessionKey: Sendable, Hashable {
  /// The 32 bytes of the digest.
  package let bytes: [UInt8]

  /// Wraps a digest.
  package init(bytes: [UInt8]) { self.bytes = bytes }

  init(of secret: String) { bytes = Array(SHA256.hash(data: Data(secret.utf8))) }
}

/// A session, as another server began it.
package struct SharedSession: Sendable, Hashable {
  /// The id of the token with which it began.
  package let token: String
  /// The time since it began.
  package let age: Duration
  /// The time since its last use.
  package let idle: Duration

  /// Creates a session from its parts.
  package init(token: String, age: Duration = .zero, idle: Duration = .zero) {
    (self.token, self.age, self.idle) = (token, age, idle)
  }
}

/// The table of sessions that several servers share. Times are measured with one clock for all servers. All methods
/// throw if the table does not answer.
package protocol SharedSessions: Sendable {
  /// Adds a session that begins now, and removes those that exceed `limits`.
  func insert(_ key: SessionKey, token: String, limits: SessionLimits) async throws
  /// Returns a session that has not ended.
  func find(_ key: SessionKey, limits: SessionLimits) async throws -> SharedSession?
  /// States that a session is in use. Has no effect if it does not exist.
  func use(_ key: SessionKey) async throws
  /// Ends a session, and reports it to all servers. Has no effect if it does not exist.
  func remove(_ key: SessionKey) async throws
  /// Returns which of these sessions exist.
  func existing(_ keys: [SessionKey]) async throws -> Set<SessionKey>
  /// The sessions that are removed from now on; `nil` stands for an unknown number of them. Ends when its reader does.
  func removals() -> AsyncStream<SessionKey?>
}
