import SnapshotStore
import SystemIO

/// The resumable uploads of a store, by id. Thread-safe.
final class ResumableTable: Sendable {
  private let uploads = Lock<[UploadID: Resumable]>([:])

  /// Adds uploads that the last run left.
  func restore(_ found: [Resumable]) {
    uploads.withLock { uploads in
      for upload in found { uploads[upload.id] = upload }
    }
  }

  /// The sessions of all uploads whose files exist.
  var sessions: [UploadSession] {
    uploads.withLock { uploads in uploads.values.filter(\.isThere).map(\.session) }
  }

  /// The upload with this id; throws ``UploadError/unknown``.
  subscript(id: UploadID) -> Resumable {
    get throws(UploadError) {
      guard let upload = uploads.withLock({ $0[id] }) else { throw .unknown }
      return upload
    }
  }

  /// Adds an upload; throws ``UploadError/tooManyOpen(limit:)`` if the limits have no room for it.
  /// - Returns: ended uploads to remove, because there are more than the limits keep.
  func add(_ upload: Resumable, _ limits: UploadLimits) throws(UploadError) -> [UploadID] {
    try uploads.withLock { uploads throws(UploadError) in
      let sessions = uploads.values.map(\.session)
      try limits.requireRoom(for: upload.session.terms, among: sessions)
      uploads[upload.id] = upload
      return limits.forgotten(among: sessions)
    }
  }

  /// Removes an upload.
  func remove(_ id: UploadID) { uploads.withLock { $0[id] = nil } }
}
