import Foundation
public import SnapshotFormat

/// The rules by which snapshots expire. Without limits, only snapshots with an expiration date of their own expire.
///
/// A pinned snapshot never expires. A snapshot's own date can only shorten the time that the rules keep it.
public struct RetentionRules: Sendable, Hashable {
  /// The maximum that is kept. `nil` is no limit.
  public struct Limits: Sendable, Hashable {
    /// The maximum time since the snapshot was received.
    public var age: TimeSpan?
    /// The maximum number of unpinned snapshots of a report. The newest are kept.
    public var countPerReport: Int?
    /// The maximum total size of the bundles in bytes, including those of pinned snapshots. The oldest snapshots expire
    /// first.
    public var totalBytes: Int64?

    /// Creates limits.
    public init(age: TimeSpan? = nil, countPerReport: Int? = nil, totalBytes: Int64? = nil) {
      self.age = age
      self.countPerReport = countPerReport
      self.totalBytes = totalBytes
    }
  }

  /// The limits for all applications without limits of their own.
  public var limits: Limits
  /// The limits of single applications, by identifier. They replace ``limits`` for the application's snapshots, except
  /// that ``Limits/totalBytes`` in ``limits`` applies to all snapshots together.
  public var applications: [String: Limits]

  /// Creates rules.
  public init(_ limits: Limits = Limits(), applications: [String: Limits] = [:]) {
    self.limits = limits
    self.applications = applications
  }

  /// When a snapshot expires by its expiration date or its age; `nil` if it is pinned, or has neither limit.
  func end(of snapshot: RetentionSummary) -> Date? {
    guard !snapshot.isPinned else { return nil }
    let age = (applications[snapshot.application] ?? limits).age
    let end = age.map { snapshot.receivedAt.addingTimeInterval(Double($0.seconds)) }
    return [snapshot.expiresAt, end].compactMap(\.self).min()
  }
}
