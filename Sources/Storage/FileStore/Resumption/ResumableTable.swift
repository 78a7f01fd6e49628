import SnapshotStore
import Synchronization

/// The uploads of a store that may be resumed, by name.
final class ResumableTable: Sendable {
  private let uploads: Mutex<[UploadID: Resumable]>

  init(_ uploads: [Resumable]) {
    self.uploads = Mutex(Dictionary(uploads.map { ($0.id, $0) }) { first, _ in first })
  }

  /// All of them.
  var sessions: [UploadSession] {
    uploads.withLock { uploads in uploads.values.filter(\.isThere).map(\.session) }
  }

  /// One of them.
  subscript(id: UploadID) -> Resumable {
    get throws(UploadError) {
      guard let upload = uploads.withLock({ $0[id] }) else { throw .unknown }
      return upload
    }
  }

  /// Adds one if the limits have room for it.
  /// - Returns: those that are to be forgotten for it.
  func add(_ upload: Resumable, _ limits: UploadLimits) throws(UploadError) -> [UploadID] {
    try uploads.withLock { uploads throws(UploadError) in
      let sessions = uploads.values.map(\.session)
      try limits.requireRoom(for: upload.session.terms, among: sessions)
      uploads[upload.id] = upload
      return limits.forgotten(among: sessions)
    }
  }

  /// Takes one out.
  func remove(_ id: UploadID) { uploads.withLock { $0[id] = nil } }
}
