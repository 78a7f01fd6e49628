import Foundation
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// A folder as the target of a migration. It has the layout of a storage folder, and until it is complete two names
/// more: `backup.json`, which names the origin, and `incomplete/` for files that are still being copied.
package final class FolderTarget: MigrationTarget {
  package let contents: any MigratedSnapshots
  private let folder: BackupFolder
  private let lock: File
  private let queue = ServerQueues.shared.background.next
  private let staged: Lock<StagedFiles>

  /// Creates and locks the folder, or continues an earlier migration from the same origin.
  package static func open(_ path: String, origin: String) throws(TransferError) -> FolderTarget {
    let folder = BackupFolder(path)
    do {
      try Folder.createDurably(path)
      let lock = try File(path)
      guard try lock.tryLock() else { throw TransferError.inUse(path) }
      if let marker = try folder.readMarker() {
        guard let former = marker.origin else { throw TransferError.occupied(path) }
        guard former == origin else { throw TransferError.otherOrigin(path) }
      } else {
        guard try Folder.entries(path).isEmpty else { throw TransferError.occupied(path) }
        try lock.setMode(0o700)
        var marker = BackupFolder.Marker()
        marker.origin = origin
        try folder.write(marker)
      }
      try TransferError.requireNothingMisplaced(path)
      try folder.prepare(isIndexed: false)
      return FolderTarget(
        contents: try FolderSource(unfinished: path), folder, lock, try StagedFiles(in: folder.incomplete))
    } catch let error as SystemError where error.isDamage {
      throw .unknownFormat(path)
    } catch {
      throw TransferError(error, operation: "prepare", path: path)
    }
  }

  private init(
    contents: FolderSource, _ folder: BackupFolder, _ lock: File, _ staged: sending StagedFiles
  ) {
    self.contents = contents
    self.folder = folder
    self.lock = lock
    self.staged = Lock(staged)
  }

  deinit {
    // A descriptor that a child process has inherited would keep the lock. If this fails, the end of the process releases
    // it.
    do throws(SystemError) { try lock.unlock() } catch {}
  }

  package func publish(
    _ record: SnapshotRecord, _ bundle: LocalBundle
  ) async throws(TransferError) -> Bool {
    try await write { folder, staged throws(SystemError) in
      let copy = try staged.copy(FileSection(File(bundle.path)), mode: 0o440)
      guard record.verified == .damaged || copy.size == record.size && copy.sha256 == record.sha256 else {
        try staged.discard(copy)
        return false
      }
      try staged.makeFolder(folder.layout.folder(of: record.id))
      let kind: StorageLayout.Kind = record.verified == .damaged ? .damaged : .bundle
      try staged.add(copy, as: folder.layout.path(kind, of: record.id))
      try folder.layout.add(record, to: staged)
      for other in StorageLayout.Kind.allCases where other != kind && other != .record {
        staged.remove(folder.layout.path(other, of: record.id))
      }
      try staged.commitIfMany()
      return true
    }
  }

  package func replaceRecord(with record: SnapshotRecord) async throws(TransferError) {
    try await write { folder, staged throws(SystemError) in
      try folder.layout.add(record, to: staged)
      try staged.commitIfMany()
    }
  }

  package func delete(_ id: SnapshotID) async throws(TransferError) {
    try await write { folder, staged throws(SystemError) in
      try staged.makeFolder(folder.layout.folder(of: id))
      try staged.add(try staged.copy([], mode: 0o600), as: folder.layout.path(.tombstone, of: id))
      for kind in StorageLayout.Kind.allCases where kind != .tombstone {
        staged.remove(folder.layout.path(kind, of: id))
      }
      try staged.commitIfMany()
    }
  }

  package func flush() async throws(TransferError) {
    try await write { _, staged throws(SystemError) in try staged.commit() }
  }

  package func complete() async throws(TransferError) {
    try await write { [lock] folder, staged throws(SystemError) in
      try staged.commit()
      try Folder.synchronize(folder.layout.bundles)
      try folder.removeIncomplete()
      try Folder.remove(folder.marker)
      try Folder.synchronize(folder.root)
      try lock.unlock()
    }
  }

  private func write<Value: Sendable>(
    _ body: @escaping @Sendable (BackupFolder, StagedFiles) throws(SystemError) -> Value
  ) async throws(TransferError) -> Value {
    do {
      return try await queue.perform { [self] () throws(SystemError) in
        try staged.withLock { staged throws(SystemError) in try body(folder, staged) }
      }
    } catch {
      throw .system(error)
    }
  }
}

extension StorageLayout {
  /// Adds the file of a record. That a bundle is set aside is in the name of the bundle's file alone.
  fileprivate func add(_ record: SnapshotRecord, to staged: StagedFiles) throws(SystemError) {
    let stored = record.verified == .damaged ? record.marked(.pending) : record
    try staged.add(
      try staged.copy(try RecordFile.encode(stored), mode: 0o600), as: path(.record, of: record.id))
  }
}
