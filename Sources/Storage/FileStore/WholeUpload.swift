import SnapshotFormat
import SnapshotStore
import SystemIO

/// The names of a bundle and its record before they are published.
struct StagedBundle: Sendable {
  let bundle: String
  let record: String

  /// Removes both files if they exist. Needs no file descriptor, since the upload may have failed for lack of one.
  func remove() throws(SystemError) {
    for path in [record, bundle] { try Folder.removeIfPresent(path) }
  }
}

/// An upload whose bytes are all written and hashed, and which is ready to be published.
struct WholeUpload: Sendable {
  let names: StagedBundle
  let file: File
  let size: Int64
  let sha256: ContentDigest
  /// The space reserved for the bytes.
  let arrival: QuotaTracker.Arrival
  /// The flusher's epoch before the first byte that is not flushed yet.
  let epoch: Int
  /// The upload with a state file, if it has one. That file has to name digest and UUID before the bundle is published;
  /// it is flushed together with the bundle and its record.
  var resumable: Resumable?
}
