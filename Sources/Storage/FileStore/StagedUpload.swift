import Dispatch
import SnapshotFormat
import Synchronization
import SystemIO

/// One bundle in `uploads/`, from its first byte until it is published or given up.
///
/// Its files lie there without a folder of their own: an inode that is made and removed again with every upload costs
/// more than all of the rest, since file systems are slow to use one again that was just removed.
///
/// Blocks, where nothing else is said: used by its upload alone, one call after the other.
final class StagedUpload: Sendable {
  private struct Progress {
    /// Made when it is first wanted: an upload that breaks off before leaves the file system alone.
    var file: File?
    /// The digest of all bytes so far; its count is their length.
    var digest = PrefixDigest()
    /// What the system was last told to write out; before it, everything is written out.
    var writing: Range<Int64> = 0..<0
  }

  /// How much is written before the system is told to bring it to the disk, for which the range after it waits. So at
  /// most two ranges of an upload are not on the disk: a flush, be it of a small upload or of the whole volume, waits for
  /// little of the large ones. 2 MiB take the disk some milliseconds, and are enough for its full speed.
  private static let writeOutSize: Int64 = 2 << 20

  let names: StagedBundle
  private let epoch: Int
  private let progress = Mutex(Progress())

  /// - Parameter flusher: flushes the files before the publication.
  init(in uploads: String, flusher: Flusher) {
    epoch = flusher.epoch
    let name = "\(uploads)/\(SnapshotID())"
    names = StagedBundle(bundle: name + ".zip", record: name + ".json")
  }

  /// The bundle's file, which is made now where there is none.
  private func file(_ progress: inout Progress) throws(SystemError) -> File {
    if let file = progress.file { return file }
    let file = try File(names.bundle, .create(mode: 0o600))
    progress.file = file
    return file
  }

  /// Writes `bytes` behind what is there, and hashes them.
  func append(_ bytes: IOBuffer) throws(SystemError) {
    try progress.withLock { progress throws(SystemError) in
      let file = try file(&progress)
      try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
        try unsafe file.write(buffer, at: progress.digest.count)
      }
      try progress.digest.take(bytes, at: progress.digest.count, of: file)
      let unwritten = progress.writing.upperBound..<progress.digest.count
      if unwritten.count >= Self.writeOutSize {
        file.beginWriting(unwritten)
        try file.waitForWriting(progress.writing)
        progress.writing = unwritten
      }
    }
  }

  /// The upload once all of its bytes are appended. One without a byte gets its file here.
  func whole(_ arrival: QuotaTracker.Arrival, on queue: DispatchQueue) throws(SystemError) -> WholeUpload {
    try progress.withLock { progress throws(SystemError) in
      WholeUpload(
        names: names, file: try file(&progress), size: progress.digest.count, sha256: progress.digest.value,
        arrival: arrival, queue: queue, epoch: epoch)
    }
  }
}
