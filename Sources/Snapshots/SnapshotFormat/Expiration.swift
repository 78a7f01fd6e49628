public import Foundation

/// A snapshot that goes, and why: one line of what a store lets go by itself.
public struct Expiration: Codable, Hashable, Sendable, Identifiable {
  /// The rules there are.
  public enum Rule: String, Codable, Hashable, Sendable, CaseIterable {
    /// The end that was set for this snapshot has come.
    case expires
    /// It is older than snapshots get.
    case age
    /// Its report has as many newer ones as are kept.
    case countPerReport
    /// All together take more room than they may.
    case totalBytes
  }

  /// The snapshot.
  public let id: SnapshotID
  /// When the server had all of it.
  public let receivedAt: Date
  /// The bundle's length in bytes.
  public let size: Int64
  /// The rule by which it goes.
  public let rule: Rule
  /// The rule in a sentence, with its limit.
  public let reason: String

  /// Says that a snapshot goes.
  public init(id: SnapshotID, receivedAt: Date, size: Int64, rule: Rule, reason: String) {
    self.id = id
    self.receivedAt = receivedAt
    self.size = size
    self.rule = rule
    self.reason = reason
  }
}
