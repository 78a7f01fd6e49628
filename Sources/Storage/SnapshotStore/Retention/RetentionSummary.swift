public import Foundation
public import SnapshotFormat

/// As much of a record as rules ask for.
public struct RetentionSummary: Sendable, Hashable {
  /// The snapshot.
  public var id: SnapshotID
  /// The report that it is attached to.
  public var report: ReportID
  /// The identifier of the app that recorded.
  public var application: String
  /// When the server had all of it.
  public var receivedAt: Date
  /// The bundle's length in bytes.
  public var size: Int64
  /// Its own end, if it has one.
  public var expiresAt: Date?
  /// Whether it stays in any case.
  public var isPinned: Bool

  /// A summary by its parts.
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

  /// What `record` says.
  public init(_ record: SnapshotRecord) {
    self.init(
      id: record.id, report: record.report, application: record.application.identifier,
      receivedAt: record.receivedAt, size: record.size, expiresAt: record.expiresAt,
      isPinned: record.isPinned)
  }
}
