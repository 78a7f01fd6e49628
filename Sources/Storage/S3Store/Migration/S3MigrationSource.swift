import Foundation
import S3Client
package import SnapshotFormat
package import SnapshotStore

/// An object store as the source of a migration. Servers can use it at the same time. Nothing is written to it.
package struct S3MigrationSource: MigrationSource {
  let store: MigratedStore

  /// Reads from an object store without checking it.
  init(_ store: MigratedStore) { self.store = store }

  /// Opens an object store for reading. Throws if it can't be read, has no snapshot, or is itself an incomplete copy.
  package static func open(_ store: MigratedStore) async throws(TransferError) -> S3MigrationSource {
    let records = try await store.access { client async throws(S3Error) in
      try await client.list(prefix: ObjectKeys.allRecords, limit: 1)
    }
    guard !records.objects.isEmpty else {
      throw .unusable("There are no snapshots at \(store.name): correct the address.")
    }
    let isCopy = try await store.access { client async throws(S3Error) in
      try await MigrationMark.exists(in: client)
    }
    guard !isCopy else {
      throw .unusable(
        "\(store.name) is the incomplete copy of another storage: complete it with --finish first.")
    }
    return S3MigrationSource(store)
  }

  /// The place of the store.
  package var identity: String {
    get async throws(TransferError) { "\(store.name) at \(store.client.configuration.endpoint)" }
  }

  package func list(_ shard: SnapshotShard) async throws(TransferError) -> [SnapshotID: SnapshotPresence] {
    try await store.access { client async throws(S3Error) in
      var found: [SnapshotID: SnapshotPresence] = [:]
      try await client.forEachPage(prefix: ObjectKeys.records(in: shard)) { objects throws(S3Error) in
        for object in objects {
          guard let id = ObjectKeys.id(ofRecord: object.key) else { continue }
          found[id] = object.size > StoredState.tombstoneLength ? .published : .deleted
        }
      }
      return found
    }
  }

  package func state(of id: SnapshotID) async throws(TransferError) -> SnapshotState? {
    let object = try await store.access { client async throws(S3Error) in try await client.read(id) }
    guard let object else { return nil }
    switch object.state?.content {
    case .published(var record, _):
      // The copy has a name of its own.
      record.attempt = nil
      return .published(record)
    case .deleted: return .deleted
    case nil: return .unreadable
    }
  }

  package func bundle(of id: SnapshotID) async throws(TransferError) -> LocalBundle? {
    let bundle = LocalBundle("\(store.scratch)/\(SnapshotID()).download", isTemporary: true)
    return try await store.access { client async throws(S3Error) -> LocalBundle? in
      guard case .published(_, let attempt)? = try await client.read(id)?.state?.content else { return nil }
      do throws(S3Error) {
        _ = try await client.download(
          ObjectKeys.bytes(id, attempt: attempt), to: URL(filePath: bundle.path))
        return bundle
      } catch {
        if error.isNotFound { return nil }
        throw error
      }
    }
  }
}
