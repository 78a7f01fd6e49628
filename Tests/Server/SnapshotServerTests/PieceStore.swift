import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO

/// A store that keeps the very pieces it is given, and publishes nothing.
final class PieceStore: BundleStore, BundleUpload {
  private let state = Mutex<[IOBuffer]>([])

  var pieces: [IOBuffer] { state.withLock { $0 } }

  func append(_ bytes: IOBuffer) async throws(StoreError) { state.withLock { $0.append(bytes) } }
  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication { throw .outOfSpace }
  func discard() async {}

  func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload { self }
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
