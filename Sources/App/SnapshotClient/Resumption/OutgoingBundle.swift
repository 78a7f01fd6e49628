import Foundation
import SnapshotFormat

/// A bundle to be attached to a report.
struct OutgoingBundle: Sendable {
  /// The zip file.
  var file: URL
  var digest: OutgoingDigest
  var report: ReportID
  /// The snapshot's UUID; `nil` if the server chooses it.
  var id: SnapshotID?
  /// When the snapshot expires.
  var end: SnapshotEnd?
  /// The file that stores the state with which another process can resume the upload.
  var state: URL?
  /// The piece that an earlier process has let the system send, which answers the first request if it belongs to the
  /// upload in `state`.
  var underWay: BackgroundPiece?

  /// Describes how `record`, the server's response to this bundle with `digest`, contradicts it; `nil` if it does not.
  func contradiction(of record: SnapshotRecord, _ digest: ContentDigest) -> String? {
    if record.sha256 != digest || id != nil && record.id != id {
      return "it describes another bundle than the one that was sent"
    }
    if record.report != report {
      return "according to it, the bundle is attached to ‘\(record.report)’ instead of ‘\(report)’"
    }
    return nil
  }
}

/// The digest of the zip file that is uploaded.
enum OutgoingDigest: Sendable {
  case known(ContentDigest)
  /// It is computed while the file is sent. The server gets it with the last bytes.
  case computing(GrowingDigest)

  /// The digest, if it is known before the file is sent.
  var known: ContentDigest? { if case .known(let digest) = self { digest } else { nil } }
}

/// Callbacks for the progress of an upload, called on any thread.
struct UploadListener: Sendable {
  var progress: SnapshotAPIClient.ProgressHandler?
  /// Called with the number of bytes that the server has durably stored, whenever it reports it.
  var kept: (@Sendable (Int64) -> Void)?
  /// Called with the reason when an upload is restarted.
  var restarted: (@Sendable (UploadRestart) -> Void)?
}
