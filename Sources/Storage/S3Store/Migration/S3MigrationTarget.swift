import Foundation
import S3Client
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// An object store as the target of a migration. Servers refuse to use it until it is complete: see ``MigrationMark``.
package struct S3MigrationTarget: MigrationTarget {
  private let store: MigratedStore
  private let mark: MigrationMark
  private let states: SnapshotStates

  package var contents: any MigratedSnapshots { S3MigrationSource(store) }

  /// Proves that the store honours the conditions of writes, and begins a run. Throws if the store contains anything but
  /// the copy of an earlier run from the same origin.
  package static func open(
    _ store: MigratedStore, origin: String
  ) async throws(TransferError) -> S3MigrationTarget {
    let (mark, writer) = try await MigrationMark.begin(store, origin: origin)
    return S3MigrationTarget(
      store: store, mark: mark,
      states: SnapshotStates(client: store.client, writer: writer, journal: nil))
  }

  package func publish(
    _ record: SnapshotRecord, _ bundle: LocalBundle
  ) async throws(TransferError) -> Bool {
    let file: (size: Int64, sha256: ContentDigest)
    do { file = try await bundle.measure() } catch { throw .system(error) }
    guard record.verified == .damaged || file == (record.size, record.sha256) else { return false }
    let attempt = SnapshotID()
    try await store.access { client async throws(S3Error) in
      try await client.upload(
        URL(filePath: bundle.path), to: ObjectKeys.bytes(record.id, attempt: attempt), size: file.size,
        digest: file.sha256.bytes, on: ServerQueues.shared.writers.next)
    }
    try await replace(record.id, with: .published(record, by: attempt))
    return true
  }

  package func replaceRecord(with record: SnapshotRecord) async throws(TransferError) {
    _ = try await change { () async throws(StoreError) in
      try await states.change(record.id) { _, attempt in .write(.published(record, by: attempt)) }
    }
  }

  package func delete(_ id: SnapshotID) async throws(TransferError) { try await replace(id, with: .deleted) }

  package func flush() async throws(TransferError) { try await mark.requireCurrent() }

  package func complete() async throws(TransferError) {
    try await mark.requireCurrent()
    // The database of its servers can have the index of an earlier store.
    try await store.access { client async throws(S3Error) in
      try await S3ChangeMarks(client: client).createForMigration()
    }
    try await mark.remove()
  }

  /// Replaces the state of a UUID, and removes the bytes that are not named any more. If that fails, a sweep does it.
  private func replace(
    _ id: SnapshotID, with content: StoredState.Content
  ) async throws(TransferError) {
    let former = try await change { () async throws(StoreError) in
      try await states.replace(id, with: content)
    }
    guard case .published(_, let attempt)? = former?.content else { return }
    try await store.access { client async throws(S3Error) in
      try await client.delete(ObjectKeys.bytes(id, attempt: attempt))
    }
  }

  private func change<Value>(
    _ body: () async throws(StoreError) -> Value
  ) async throws(TransferError) -> Value {
    do { return try await body() } catch {
      throw TransferError(error, at: store.client.configuration)
    }
  }
}
