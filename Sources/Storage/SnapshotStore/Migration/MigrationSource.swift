package import SnapshotFormat
package import SystemIO

/// A store on either side of a migration, as it is read. Reading never changes it.
///
/// Servers can use the store at the same time: what is read is a state that each snapshot has had.
package protocol MigratedSnapshots: Sendable {
  /// The UUIDs in one shard that have a snapshot or had one, without those of snapshots that are being published.
  func list(_ shard: SnapshotShard) async throws(TransferError) -> [SnapshotID: SnapshotPresence]
  /// What the store has under a UUID; `nil` if nothing.
  func state(of id: SnapshotID) async throws(TransferError) -> SnapshotState?
  /// The bytes of a bundle, also if it is damaged; `nil` if there are none.
  func bundle(of id: SnapshotID) async throws(TransferError) -> LocalBundle?
}

/// A store whose snapshots are copied to another one.
package protocol MigrationSource: MigratedSnapshots {
  /// Identifies the store, so that the copies of two stores are not mixed. It stays the same between runs.
  var identity: String { get async throws(TransferError) }
}

/// A store that receives the snapshots of another one. No server uses it before the migration is complete.
///
/// At any moment it contains only snapshots that are complete: bytes are written before the record that names them. All
/// methods can be called concurrently for different UUIDs, except for ``flush()`` and ``complete()``.
package protocol MigrationTarget: Sendable {
  /// What the store contains.
  var contents: any MigratedSnapshots { get }
  /// Adds a bundle, and replaces what the UUID has.
  /// - Returns: whether the bytes have the size and the digest of the record. If not, nothing is changed. The bytes of a
  ///   bundle whose record is marked as damaged are added in any case.
  func publish(_ record: SnapshotRecord, _ bundle: LocalBundle) async throws(TransferError) -> Bool
  /// Replaces the record of a bundle that this store has.
  func replaceRecord(with record: SnapshotRecord) async throws(TransferError)
  /// Removes what the UUID has, and makes it taken for ever.
  func delete(_ id: SnapshotID) async throws(TransferError)
  /// Returns when all changes are durable. Throws ``TransferError/superseded(_:)`` if another run copies to this store.
  func flush() async throws(TransferError)
  /// Lets servers use the store. It can't be used as a target afterwards.
  func complete() async throws(TransferError)
}

/// What a store has under a UUID, judged by the names of its files or objects.
package enum SnapshotPresence: Sendable, Hashable {
  /// A bundle.
  case published
  /// The tombstone of a deleted snapshot.
  case deleted
}

/// What a store has under a UUID.
package enum SnapshotState: Sendable, Hashable {
  /// A bundle. It is out of use if its record is marked as damaged.
  case published(SnapshotRecord)
  /// The tombstone of a deleted snapshot.
  case deleted
  /// A bundle whose record can't be read.
  case unreadable
  /// The record of a published bundle whose bytes are gone.
  case lost

  /// The record of a bundle; `nil` if there is none.
  package var record: SnapshotRecord? {
    if case .published(let record) = self { record } else { nil }
  }
}

/// The bytes of a bundle in a local file. A temporary file is removed with the last reference.
package final class LocalBundle: Sendable {
  /// The path of the file, which does not change.
  package let path: String
  private let isTemporary: Bool

  /// - Parameter isTemporary: whether the file is a copy for this purpose.
  package init(_ path: String, isTemporary: Bool) {
    self.path = path
    self.isTemporary = isTemporary
  }

  deinit {
    guard isTemporary else { return }
    // What remains is in a temporary folder.
    do throws(SystemError) { try Folder.removeIfPresent(path) } catch {}
  }

  /// The size and the digest of the file. Reads all of it.
  package func measure() async throws(SystemError) -> (size: Int64, sha256: ContentDigest) {
    try await ServerQueues.shared.readers.next.perform { [path] () throws(SystemError) in
      let file = try File(path)
      return (try file.size, try ContentDigest.of(contentsOf: file))
    }
  }
}
