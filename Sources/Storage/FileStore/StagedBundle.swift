import Dispatch
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The names of a bundle and its record before they are published.
struct StagedBundle: Sendable {
  let bundle: String
  let record: String

  /// Removes both files, as far as they are there. Needs no descriptor: the upload may have failed for want of one.
  func remove() throws(SystemError) {
    for path in [record, bundle] { try Folder.removeIfPresent(path) }
  }
}

/// An upload that has all of its bytes, written and hashed, and waits for its publication.
struct WholeUpload: Sendable {
  let names: StagedBundle
  let file: File
  let size: Int64
  let sha256: ContentDigest
  /// The room that the bytes take.
  let arrival: QuotaTracker.Arrival
  /// Writes the upload's files.
  let queue: DispatchQueue
  /// The flusher's epoch before the first byte that is not flushed yet.
  let epoch: Int
  /// Of an upload with a state file: what that file has to say before the bundle is published. It is flushed together
  /// with the bundle and its record.
  var announcement: (upload: Resumable, session: UploadSession)?
}
