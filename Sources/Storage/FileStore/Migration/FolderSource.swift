import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// A storage folder as the source of a migration. A server can use it at the same time.
package final class FolderSource: MigrationSource {
  private let layout: StorageLayout
  private let validate: UploadValidator.Validator
  private let queues = QueueSet("file-store.migration", count: SnapshotMigration.concurrentCopies)
  private let lock = Lock<StorageLock?>(nil)

  /// Throws ``/SnapshotStore/TransferError/noStorage(_:)`` if there is no storage folder at `path`, and
  /// ``/SnapshotStore/TransferError/incompleteStorage(_:)`` if it lacks parts.
  /// - Parameter validate: reads the identifiers from a bundle if its record lacks them.
  package convenience init(
    _ path: String, validate: @escaping UploadValidator.Validator = UploadValidator().recheck
  ) throws(TransferError) {
    try self.init(unfinished: path, validate: validate)
    try StorageCompleteness.requireSource(path)
  }

  /// Reads a folder that can lack parts, such as the target of a migration.
  init(
    unfinished path: String, validate: @escaping UploadValidator.Validator = UploadValidator().recheck
  ) throws(TransferError) {
    layout = StorageLayout(root: path)
    self.validate = validate
    try TransferError.requireSound(path)
    guard Folder.isFolder(layout.bundles) else { throw .noStorage(path) }
  }

  deinit {
    // A descriptor that a child process has inherited would keep the lock. If this fails, the end of the process releases
    // it.
    do throws(SystemError) { try lock.withLock { $0 }?.release() } catch {}
  }

  /// Locks the folder against servers as long as this source exists. Throws
  /// ``/SnapshotStore/TransferError/inUse(_:)`` if a server uses it.
  package func lockAgainstServers() throws(TransferError) {
    let acquired: StorageLock?
    do { acquired = try StorageLock(layout) } catch { throw .system(error) }
    guard let acquired else { throw .inUse(layout.root) }
    lock.withLock { $0 = acquired }
  }

  /// The number of resumable uploads that have not ended.
  package func countUploads() throws(TransferError) -> Int {
    do {
      guard try Folder.hasFolder(layout.uploads) else { return 0 }
      let suffix = ".\(StorageLayout.UploadPart.state.rawValue)"
      return try Folder.entries(layout.uploads).count { $0.hasSuffix(suffix) }
    } catch {
      throw .system(error)
    }
  }

  /// The digest of the key that signs links, which every server creates when it first starts.
  package var identity: String {
    get async throws(TransferError) {
      try await read { layout throws(SystemError) in
        let file = try FileSection(ifPresent: layout.root + "/keys/links")
        guard let key = try file?.read() else { return "no key" }
        return "key \(ContentDigest.of(key))"
      }
    }
  }

  package func list(_ shard: SnapshotShard) async throws(TransferError) -> [SnapshotID: SnapshotPresence] {
    try await read { layout throws(SystemError) in
      try layout.kinds(in: shard).compactMapValues { kinds in
        if kinds.contains(.tombstone) { return .deleted }
        return kinds.isBeingPublished ? nil : .published
      }
    }
  }

  package func state(of id: SnapshotID) async throws(TransferError) -> SnapshotState? {
    try await read { [validate] layout throws(SystemError) in
      // The record is read first, because the tombstone is there before the record is removed.
      let (stored, kinds) = (try layout.intactRecord(id)?.record, try layout.kinds(of: id))
      if kinds.contains(.tombstone) { return .deleted }
      guard !kinds.isEmpty, !kinds.isBeingPublished else { return nil }
      guard !kinds.isDisjoint(with: [.bundle, .damaged]) else { return .lost }
      guard var record = stored else { return .unreadable }
      if record.identifiers == nil { record.identifiers = layout.identifiers(of: id, by: validate) }
      return .published(kinds.contains(.bundle) ? record : record.marked(.damaged))
    }
  }

  package func bundle(of id: SnapshotID) async throws(TransferError) -> LocalBundle? {
    try await read { layout throws(SystemError) in
      for kind in [StorageLayout.Kind.bundle, .damaged] where try Folder.exists(layout.path(kind, of: id)) {
        return LocalBundle(layout.path(kind, of: id), isTemporary: false)
      }
      return nil
    }
  }

  private func read<Value: Sendable>(
    _ body: @escaping @Sendable (StorageLayout) throws(SystemError) -> Value
  ) async throws(TransferError) -> Value {
    do {
      return try await queues.next.perform { [layout] () throws(SystemError) in try body(layout) }
    } catch {
      throw .system(error)
    }
  }
}

extension StorageLayout {
  /// The identifiers in a bundle; `nil` if they can't be read.
  fileprivate func identifiers(of id: SnapshotID, by validate: UploadValidator.Validator) -> [String]? {
    do { return try validate(URL(filePath: path(.bundle, of: id)), .structure).summary.identifiers } catch {
      return nil
    }
  }
}
