import Crypto
import Foundation
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
    var hash = SHA256()
    var size: Int64 = 0
    /// What the system was last told to write out; before it, everything is written out.
    var writing: Range<Int64> = 0..<0
  }

  /// How much is written before the system is told to bring it to the disk, for which the range after it waits. So at
  /// most two ranges of an upload are not on the disk: a flush, be it of a small upload or of the whole volume, waits for
  /// little of the large ones. 2 MiB take the disk some milliseconds, and are enough for its full speed.
  private static let writeOutSize: Int64 = 2 << 20

  let names: StagedBundle
  private let flusher: Flusher
  private let epoch: Int
  private let progress = Mutex(Progress())

  /// - Parameter flusher: makes it last in the end.
  init(in uploads: String, flusher: Flusher) {
    self.flusher = flusher
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
        try unsafe file.write(buffer, at: progress.size)
        unsafe progress.hash.update(bufferPointer: buffer)
      }
      progress.size += Int64(bytes.count)
      let unwritten = progress.writing.upperBound..<progress.size
      if unwritten.count >= Self.writeOutSize {
        file.beginWriting(unwritten)
        try file.waitForWriting(progress.writing)
        progress.writing = unwritten
      }
    }
  }

  /// The length and the digest of what has arrived.
  var arrived: (size: Int64, sha256: ContentDigest) {
    progress.withLock { ($0.size, ContentDigest($0.hash.finalize())) }
  }

  /// The bundle's file, which is made now where not a byte has come.
  @discardableResult
  func beginFile() throws(SystemError) -> File {
    try progress.withLock { progress throws(SystemError) -> File in try file(&progress) }
  }

  /// Writes the record beside the bundle, to which nothing is written from here on.
  /// - Returns: what ``synchronize(_:)`` takes.
  func complete(with record: [UInt8], _ faults: FaultInjection) throws(SystemError) -> [Flusher.Target] {
    try faults.before(.writeRecord)
    let recordFile = try File(names.record, .create(mode: 0o600))
    try recordFile.write(record, at: 0)
    let file = try beginFile()
    try file.setMode(0o440)
    try faults.before(.flushFiles)
    return [.file(file), .file(recordFile)]
  }

  /// Returns when both files would survive a power cut. Does not block.
  func synchronize(_ files: [Flusher.Target]) async throws(SystemError) {
    try await flusher.flush(files, since: epoch)
  }
}
