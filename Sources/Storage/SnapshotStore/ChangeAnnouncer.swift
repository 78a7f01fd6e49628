package import Foundation
package import SnapshotFormat

/// Tells others of changes of snapshots.
///
/// A change is announced after the store has made it durable, and before whoever made it gets a response. A call that
/// returns has made the announcement durable too. So every change that was acknowledged is announced, also if the process
/// ends at any moment. Announcing a change again has no effect.
///
/// The calls throw ``StoreError/unavailable(_:)`` if the announcement can't be made durable. Then the change must not be
/// acknowledged, so that the client repeats its request.
package protocol ChangeAnnouncer: Sendable {
  /// Announces a snapshot that was attached. Called again when a client repeats an upload.
  func attached(_ record: SnapshotRecord) async throws(StoreError)
  /// Announces the comment at `index` of the record's comments.
  func commented(_ record: SnapshotRecord, at index: Int) async throws(StoreError)
  /// Prepares the announcement of a deletion, which is to happen now. If ``deleted(_:)`` does not follow because the
  /// process ends or the deletion fails, the store decides later whether the snapshot was deleted.
  /// - Parameter record: the record; `nil` if it can't be read.
  func willDelete(_ id: SnapshotID, _ record: SnapshotRecord?) async throws(StoreError)
  /// Whether ``expiring(_:at:)`` has an effect.
  var announcesExpirations: Bool { get }
  /// Announces a snapshot that will expire at `end`. Called again after a restart, and if it has another end.
  func expiring(_ record: SnapshotRecord, at end: Date) async throws(StoreError)
  /// Announces a deletion that was prepared; has no effect if none was.
  func deleted(_ id: SnapshotID) async throws(StoreError)
}

extension ChangeAnnouncer {
  /// Prepares the announcement of the deletion of a snapshot in `store`. Does nothing if there is no such snapshot.
  package func prepareDeletion(of id: SnapshotID, in store: any BundleStore) async throws(StoreError) {
    let record: SnapshotRecord?
    do {
      record = try await store.record(id)
    } catch {
      switch error {
      case .deleted, .notFound: return
      case .damaged: record = nil
      default: throw error
      }
    }
    try await willDelete(id, record)
  }
}
