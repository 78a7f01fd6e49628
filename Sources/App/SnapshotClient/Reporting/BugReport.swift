public import SnapshotFormat

/// A bug report as the user describes it, to which a ``BugReporter`` attaches the recordings.
///
/// Note and fields become a part of the bundle. They are not redacted. `SnapshotFormat.Manifest.Limits` limits their
/// size: a note has at most 32 KiB.
public struct BugReport: Sendable, Hashable {
  /// The report's name in the tracker.
  public var report: ReportID
  /// What the user wrote, as plain text; `nil` if nothing.
  public var note: String?
  /// Further descriptions by name, such as `severity`.
  public var fields: [String: String]

  /// Describes a bug report.
  public init(report: ReportID, note: String? = nil, fields: [String: String] = [:]) {
    self.report = report
    self.note = note
    self.fields = fields
  }
}
