package import SnapshotFormat

/// `/reports/{report}`: what is attached to a report.
package struct ReportPage: Sendable {
  /// The report.
  package var report: ReportID
  /// Its snapshots, newest first.
  package var list: SnapshotList

  /// A page.
  package init(report: ReportID, list: SnapshotList) {
    self.report = report
    self.list = list
  }
}
