package import Foundation

/// What a token may be used for, and by which name it goes; the token itself is known to its holder alone.
package struct AccessToken: Sendable, Hashable, Codable, Identifiable {
  /// Names the token where it is spoken of: in lists, in logs, in the records of what it attached.
  package let id: String
  /// What people call it.
  package let name: String?
  /// What it may be used for.
  package let scopes: Set<Scope>
  /// What it is limited to.
  package let limits: CallerLimits
  /// How many requests it may make; `nil` leaves that to the server.
  package let rate: RateLimit?
  /// How many bytes may be uploaded with it; `nil` leaves that to the server.
  package let quota: UploadQuota?
  /// When it was made.
  package let createdAt: Date
  /// From when on it is refused.
  package let expiresAt: Date?
  /// When it was revoked.
  package internal(set) var revokedAt: Date?

  /// Describes a token.
  package init(
    id: String, name: String? = nil, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(),
    rate: RateLimit? = nil, quota: UploadQuota? = nil, createdAt: Date, expiresAt: Date? = nil
  ) {
    self.id = id
    self.name = name
    self.scopes = scopes
    self.limits = limits
    self.rate = rate
    self.quota = quota
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }

  /// What can be said of a token at some moment.
  package enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// It is taken.
    case valid
    /// It was, until it expired.
    case expired
    /// It was, until somebody revoked it.
    case revoked
  }

  /// Whether it is taken at `now`.
  package func state(at now: Date) -> State {
    if revokedAt != nil { return .revoked }
    if let expiresAt, expiresAt <= now { return .expired }
    return .valid
  }
}
