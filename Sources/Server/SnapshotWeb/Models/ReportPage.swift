package import SnapshotFormat

/// The page `/reports/{report}`: the snapshots of a report as a timeline, and a form that uploads one.
package struct ReportPage: Sendable {
  /// The maximum number of snapshots on the page.
  package static let pageLength = 25

  /// The form that uploads a bundle to the report.
  package struct Upload: Sendable, Hashable {
    /// Whether a script can upload in several requests, so that an upload can be resumed.
    package var isResumable: Bool

    /// Creates a form.
    package init(isResumable: Bool) { self.isResumable = isResumable }
  }

  /// The report.
  package var report: ReportID
  /// Its snapshots, newest first. At most ``pageLength`` are shown.
  package var list: SnapshotList
  /// The snapshot before the oldest one of the list, which is on the next page.
  package var before: SnapshotRecord?
  /// The form, if the visitor may upload.
  package var upload: Upload?

  /// Creates a page.
  package init(
    report: ReportID, list: SnapshotList, before: SnapshotRecord? = nil, upload: Upload? = nil
  ) {
    self.report = report
    self.list = list
    self.before = before
    self.upload = upload
  }
}
