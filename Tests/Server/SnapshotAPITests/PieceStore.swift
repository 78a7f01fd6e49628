import SnapshotFormat
import SnapshotStore
import SystemIO

/// A store that keeps the pieces it receives unchanged, and publishes nothing.
final class PieceStore: BundleStore, UploadStore, TransientUpload {
  private let state = Lock<[IOBuffer]>([])

  var pieces: [IOBuffer] { state.withLock { $0 } }

  func write(_ bytes: IOBuffer) async throws(UploadError) { state.withLock { $0.append(bytes) } }
  func checkpoint() async throws(UploadError) -> Int64 { 0 }
  func end(_ ending: UploadEnding) async throws(UploadError) -> UploadSession { throw .store(.notFound) }
  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication { throw .outOfSpace }

  var uploadLimits: UploadLimits { UploadLimits() }
  func beginTransientUpload(
    _ terms: UploadTerms, limit: Int64, expecting length: Int64?
  ) async throws(UploadError) -> any TransientUpload { self }
  func createUpload(_ terms: UploadTerms) async throws(UploadError) -> UploadSession { throw .unknown }
  func uploadSession(_ id: UploadID) async throws(UploadError) -> UploadSession { throw .unknown }
  func uploadSessions() async -> [UploadSession] { [] }
  func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending { throw .unknown }
  func commitUpload(
    _ id: UploadID, as attachment: Attachment
  ) async throws(UploadError) -> UploadSession { throw .unknown }
  func removeUpload(_ id: UploadID) async throws(UploadError) { throw .unknown }
  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord { throw .notFound }
  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { throw .notFound }
  func delete(_ id: SnapshotID) async throws(StoreError) { throw .notFound }
  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool { throw .notFound }
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    throw .notFound
  }
  func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord { throw .notFound }
  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] { [] }
  func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] { [] }
}
