import Foundation
import S3Client
import SnapshotFormat
import SnapshotStore

/// The marks that changes were made without an intent, as empty objects: see ``/SnapshotStore/ChangeJournal``.
struct S3ChangeMarks: ChangeMarks {
  let client: S3Client

  func create() async throws(StoreError) -> String {
    let key = "\(ObjectKeys.marks)\(SnapshotID())"
    try await StoreError.accessing { () async throws(S3Error) in try await put(key) }
    return key
  }

  /// Marks a store that was filled without its servers. The mark is overdue at once.
  func createForMigration() async throws(S3Error) { try await put(ObjectKeys.migrated) }

  private func put(_ key: String) async throws(S3Error) { _ = try await client.put(key, S3Body(Data())) }

  func remove(_ name: String) async throws(StoreError) {
    try await StoreError.accessing { () async throws(S3Error) in try await client.delete(name) }
  }

  func overdue(_ age: Duration) async throws(StoreError) -> [String] {
    let limit = Date() - age / .seconds(1)
    return try await StoreError.accessing { () async throws(S3Error) in
      var names: [String] = []
      try await client.forEachPage(prefix: ObjectKeys.marks) { objects in
        names += objects.filter { $0.modifiedAt < limit || $0.key == ObjectKeys.migrated }.map(\.key)
      }
      return names
    }
  }
}
