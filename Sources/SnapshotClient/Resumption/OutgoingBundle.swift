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
}

/// Told what becomes of an upload, on any thread.
struct UploadListener: Sendable {
  var progress: SnapshotAPIClient.ProgressHandler?
  /// Told how many bytes the server has for good, as often as it says so.
  var kept: (@Sendable (Int64) -> Void)?
}
