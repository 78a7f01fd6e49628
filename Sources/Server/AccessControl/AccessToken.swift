package import Foundation

/// The properties of a token. The secret itself is known only to the token's holder.
package struct AccessToken: Sendable, Hashable, Codable, Identifiable {
  /// The id of the token in lists, logs, and records of the snapshots that it attached.
  package let id: String
  /// The name of the token, for people.
  package let name: String?
  /// The calls that the token allows.
  package let scopes: Set<Scope>
  /// The reports and applications to which the token is limited.
  package let limits: CallerLimits
  /// The token's rate limit; `nil` for the server's default.
  package let rate: RateLimit?
  /// The token's upload quota; `nil` for the server's default.
  package let quota: UploadQuota?
  /// When the token was created.
  package let createdAt: Date
  /// When the token expires.
  package let expiresAt: Date?
  /// When the token was revoked.
  package internal(set) var revokedAt: Date?
  /// What the token is a link for; `nil` for a token that is no link.
  package internal(set) var link: AttachLink?

  /// Creates a description of a token.
  package init(
    id: String, name: String? = nil, scopes: Set<Scope>, limits: CallerLimits = CallerLimits(),
    rate: RateLimit? = nil, quota: UploadQuota? = nil, createdAt: Date, expiresAt: Date? = nil,
    link: AttachLink? = nil
  ) {
    self.link = link
    self.id = id
    self.name = name
    self.scopes = scopes
    self.limits = limits
    self.rate = rate
    self.quota = quota
    self.createdAt = createdAt
    self.expiresAt = expiresAt
  }

  /// The state of a token at a point in time.
  package enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// The token is accepted.
    case valid
    /// The token has expired.
    case expired
    /// The token was revoked.
    case revoked
  }

  /// Returns the token's state at `now`.
  package func state(at now: Date) -> State {
    if revokedAt != nil { return .revoked }
    if let expiresAt, expiresAt <= now { return .expired }
    return .valid
  }
}
