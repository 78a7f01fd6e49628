import Crypto
import Foundation
import SnapshotFormat
import Synchronization
import SystemIO

/// One bundle below `uploads/`, from its first byte until it is published or given up.
///
/// Blocks: used on the queue of its upload.
final class Staging: Sendable {
  private struct Progress {
    var hash = SHA256()
    var size: Int64 = 0
  }

  let folder: String
  var bundle: String { folder + "/bundle.zip" }
  var record: String { folder + "/record.json" }
  private let file: File
  private let progress = Mutex(Progress())

  /// Makes the folder and the empty file.
  init(in uploads: String) throws(SystemError) {
    folder = "\(uploads)/\(SnapshotID())"
    try Folder.create(folder)
    do {
      file = try File(folder + "/bundle.zip", .create(mode: 0o600))
    } catch {
      // The first failure is the one to tell; an empty folder is removed at the next start.
      do { try Folder.remove(folder) } catch {}
      throw error
    }
  }

  /// Writes `bytes` behind what is there, and hashes them.
  func append(_ bytes: IOBuffer) throws(SystemError) {
    try progress.withLock { progress throws(SystemError) in
      try unsafe bytes.withUnsafeBytes { buffer throws(SystemError) in
        try unsafe file.write(buffer, at: progress.size)
        unsafe progress.hash.update(bufferPointer: buffer)
      }
      progress.size += Int64(bytes.count)
    }
  }

  /// The length and the digest of what has arrived.
  var arrived: (size: Int64, sha256: ContentDigest) {
    progress.withLock { ($0.size, ContentDigest($0.hash.finalize())) }
  }

  /// Writes the record beside the bundle; nothing writes to either from here on.
  /// - Returns: what makes both files last.
  func complete(with record: [UInt8], _ seams: Seams) throws(SystemError) -> Flusher.Flush {
    try seams.before(.writeRecord)
    let recordFile = try File(self.record, .create(mode: 0o600))
    try recordFile.write(record, at: 0)
    try file.setMode(0o440)
    return { [file] () throws(SystemError) in
      try file.synchronize()
      try recordFile.synchronize()
    }
  }

  /// Removes whatever is left. Takes no descriptor: where there is none left, that is what ended the upload.
  func remove() throws(SystemError) {
    for path in [record, bundle, folder] { try Folder.removeIfPresent(path) }
  }
}
