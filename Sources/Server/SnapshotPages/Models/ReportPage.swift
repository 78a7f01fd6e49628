public import SnapshotFormat

/// `/reports/{report}`: what is attached to a report.
public struct ReportPage: Sendable {
  /// The report.
  public var report: ReportID
  /// Its snapshots, newest first.
  public var list: SnapshotList

  /// A page.
  public init(report: ReportID, list: SnapshotList) {
    self.report = report
    self.list = list
  }
}
