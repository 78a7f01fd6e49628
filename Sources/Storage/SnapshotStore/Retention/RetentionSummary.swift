public import Foundation
public import SnapshotFormat

/// The properties of a record that the retention rules use.
public struct RetentionSummary: Sendable, Hashable {
  /// The snapshot.
  public var id: SnapshotID
  /// The report that it is attached to.
  public var report: ReportID
  /// The identifier of the recorded application.
  public var application: String
  /// The time when the server had received the whole bundle.
  public var receivedAt: Date
  /// The bundle's length in bytes.
  public var size: Int64
  /// The snapshot's own expiration date, if any.
  public var expiresAt: Date?
  /// Whether the snapshot is pinned, so that it never expires.
  public var isPinned: Bool

  /// Creates a summary.
  public init(
    id: SnapshotID, report: ReportID, application: String, receivedAt: Date, size: Int64,
    expiresAt: Date? = nil, isPinned: Bool = false
  ) {
    self.id = id
    self.report = report
    self.application = application
    self.receivedAt = receivedAt
    self.size = size
    self.expiresAt = expiresAt
    self.isPinned = isPinned
  }

  /// Creates the summary of `record`.
  public init(_ record: SnapshotRecord) {
    self.init(
      id: record.id, report: record.report, application: record.application.identifier,
      receivedAt: record.receivedAt, size: record.size, expiresAt: record.expiresAt,
      isPinned: record.isPinned)
  }
}
