import Foundation
import SnapshotFormat

/// A bundle that is to be attached to a report.
struct OutgoingBundle: Sendable {
  /// The zip.
  var file: URL
  /// The digest of its bytes.
  var digest: ContentDigest
  var report: ReportID
  /// The snapshot's name; `nil` where the server is to choose it.
  var id: SnapshotID?
  /// When it is to go by itself.
  var end: SnapshotEnd?
  /// Where to keep what another process needs to go on with the upload.
  var state: URL?

  /// What `record`, a server's answer to this bundle, says that is not so; `nil` where all of it is.
  func contradiction(of record: SnapshotRecord) -> String? {
    if record.sha256 != digest || id != nil && record.id != id {
      return "it speaks of another bundle than the one that was sent"
    }
    if record.report != report {
      return "it says that the bundle is attached to ‘\(record.report)’ instead of ‘\(report)’"
    }
    return nil
  }
}

/// Told what becomes of an upload, on any thread.
struct UploadListener: Sendable {
  var progress: SnapshotAPIClient.ProgressHandler?
  /// Told how many bytes the server has for good, as often as it says so.
  var kept: (@Sendable (Int64) -> Void)?
  /// Called when an upload begins again, and why.
  var restarted: (@Sendable (UploadRestart) -> Void)?
}
