public import Foundation

/// A bug report as the user describes it, and what goes along with it: the description of a snapshot before it is made.
///
/// Note and fields become a part of the bundle. The app's redaction rules apply to them. ``Manifest/Limits`` limits
/// their size: a note has at most 32 KiB.
public struct BugReport: Sendable, Hashable {
  /// The recordings of which a snapshot is made.
  public enum Run: Sendable, Hashable {
    /// Those of the app as it runs now.
    case current
    /// Those of the run before, as they were when it ended.
    case previous
  }

  /// The UUID of the snapshot. It can be shown before the snapshot exists.
  public var id: SnapshotID
  /// The report's name in the tracker.
  public var report: ReportID
  /// What the user wrote, as plain text; `nil` if nothing.
  public var note: String?
  /// Further descriptions by name, such as `severity`.
  public var fields: [String: String]
  /// Which recordings go along.
  public var run: Run
  /// Files that only this report has, such as a screenshot, by their names. They are redacted like all attachments. A
  /// recorded attachment with the same name is left out.
  public var attachments: [String: Data] = [:]
  /// What the user does not want to send: identifiers of recordings, and names of attachments after `attachments/`.
  public var excluded: Set<String> = []

  /// Describes a bug report. Each has a new UUID.
  public init(
    report: ReportID, note: String? = nil, fields: [String: String] = [:], run: Run = .current
  ) {
    id = SnapshotID()
    self.report = report
    self.note = note
    self.fields = fields
    self.run = run
  }
}
