public import Foundation

/// A snapshot that a retention rule deletes, with the rule.
public struct Expiration: Codable, Hashable, Sendable, Identifiable {
  /// The retention rules.
  public enum Rule: String, Codable, Hashable, Sendable, CaseIterable {
    /// The expiry time of the snapshot has passed.
    case expires
    /// The snapshot is older than the maximum age.
    case age
    /// The report has the maximum number of newer snapshots.
    case countPerReport
    /// All snapshots together exceed the maximum total size.
    case totalBytes
  }

  /// The identifier of the snapshot.
  public let id: SnapshotID
  /// The time at which the server had received the whole bundle.
  public let receivedAt: Date
  /// The size of the bundle in bytes.
  public let size: Int64
  /// The rule that deletes the snapshot.
  public let rule: Rule
  /// A sentence that describes the rule, with its limit.
  public let reason: String

  /// Creates an expiration.
  public init(id: SnapshotID, receivedAt: Date, size: Int64, rule: Rule, reason: String) {
    self.id = id
    self.receivedAt = receivedAt
    self.size = size
    self.rule = rule
    self.reason = reason
  }
}
