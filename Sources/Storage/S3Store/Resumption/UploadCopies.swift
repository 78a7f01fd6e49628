import SnapshotStore
import SystemIO

/// Local copies of uploads whose bytes all arrived at this server, so that they are not read from the object store when
/// the upload is continued or completed here. Thread-safe.
///
/// A copy holds durable bytes only, which never change, so it remains right if other servers append: it then lacks their
/// bytes. Copies that were used least recently are dropped, which removes their files.
final class UploadCopies: Sendable {
  private let copies = Lock(LRUCache<UploadID, StagedUpload>(limit: S3StoreLimits.keptUploadBytes))

  /// Removes the copy of an upload, and returns it, unless its file was deleted.
  func take(_ id: UploadID) async -> StagedUpload? {
    let copy = copies.withLock { copies in
      defer { copies.remove(id) }
      return copies.value(of: id)
    }
    guard let copy, await copy.isThere() else { return nil }
    return copy
  }

  /// Keeps a copy of an upload, unless no more bytes can be written to it.
  func keep(_ staged: StagedUpload, of id: UploadID) {
    guard staged.failure == nil else { return staged.remove() }
    // Each copy takes a descriptor, too.
    let cost = max(Int(clamping: staged.size), S3StoreLimits.cachedBundleBytes)
    copies.withLock { $0.keep(staged, under: id, cost: cost) }
  }

  /// Removes all copies.
  func removeAll() {
    copies.withLock { $0 = LRUCache(limit: S3StoreLimits.keptUploadBytes) }
  }
}
