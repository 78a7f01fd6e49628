import Dispatch
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Changes published bundles: changes their records, sets them aside and deletes them.
final class BundleChanges: Sendable {
  private let folder: StorageFolder
  private let committer: Committer
  private let readers: QueueSet
  private let remover: DispatchQueue

  /// - Parameters:
  ///   - readers: read records, and write their replacements.
  ///   - remover: removes the files of deleted bundles. Removing a large file takes time, and commits must not wait for
  ///     it.
  init(_ folder: StorageFolder, committer: Committer, readers: QueueSet, remover: DispatchQueue) {
    self.folder = folder
    self.committer = committer
    self.readers = readers
    self.remover = remover
  }

  private var layout: StorageLayout { folder.layout }
  private var faults: FaultInjection { folder.faults }

  /// Removes a bundle and its record permanently. An empty file remains as the tombstone. Needs neither space nor an
  /// inode, so that it also succeeds on a full disk.
  func delete(_ id: SnapshotID) async throws(StoreError) {
    _ = try await delete(id) { () throws(StoreError) in true }
  }

  /// Removes a bundle and its record permanently if the record satisfies `condition`.
  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    try await delete(id) { [layout] () throws(StoreError) in condition(try layout.storedRecord(id)) }
  }

  private func delete(
    _ id: SnapshotID, ifSo isWanted: @escaping @Sendable () throws(StoreError) -> Bool
  ) async throws(StoreError) -> Bool {
    try await readers.next.perform { [layout] () throws(StoreError) in try layout.requirePublished(id) }
    let isDeleted = try await committer.perform(in: layout.folder(of: id)) { [self] () throws(StoreError) in
      try layout.requirePublished(id)
      guard try isWanted() else { return Committer.Change(outcome: false) }
      let isLost = try layout.isLost(id)
      let revert = try StoreError.disk { () throws(SystemError) in
        if isLost, let record = try layout.intactRecord(id)?.record {
          folder.recordLoss(of: id, counted: record.size)
        }
        return try makeTombstone(of: id)
      }
      layout.forget(id)
      return Committer.Change(
        outcome: true, settle: folder.beginRemoval,
        undo: { self.folder.attempt("revert a deletion", revert) })
    }
    guard isDeleted else { return false }
    // The tombstone is durable: if a removal fails here, the next start retries it.
    await remover.perform { [self] in
      folder.attempt("remove a deleted bundle") {
        try faults.before(.removeBundle)
        for kind in [StorageLayout.Kind.bundle, .damaged] { try folder.removeBundle(kind, of: id) }
        try faults.before(.removeRecord)
        try layout.emptyTombstone(of: id)
        folder.recordRemoval(in: layout.folder(of: id))
      }
      folder.endLoss(of: id)
      folder.endRemoval()
    }
    return true
  }

  /// Renames the record of a bundle to its tombstone. Returns what reverts that.
  private func makeTombstone(of id: SnapshotID) throws(SystemError)
    -> @Sendable () throws(SystemError) -> Void
  {
    let (record, tombstone) = (layout.path(.record, of: id), layout.path(.tombstone, of: id))
    try faults.before(.writeTombstone)
    do throws(SystemError) {
      try Folder.publish(record, as: tombstone)
      return { () throws(SystemError) in try Folder.publish(tombstone, as: record) }
    } catch  where error.isNotFound {
      // A bundle whose record is lost can be deleted, too.
      _ = try File(tombstone, .create(mode: 0o600))
      return { () throws(SystemError) in try Folder.removeIfPresent(tombstone) }
    }
  }

  /// Takes a bundle out of use by renaming its file. The name alone marks it as set aside, so this is one atomic step.
  /// - Parameter isLost: whether it was out of use because its file was gone. If it has one now, it was repaired, and stays
  ///   in use.
  func setAside(_ id: SnapshotID, isLost: Bool = false) async throws(StoreError) -> SnapshotRecord {
    let (bundle, damaged) = (layout.path(.bundle, of: id), layout.path(.damaged, of: id))
    return try await committer.perform(in: layout.folder(of: id)) { [self] () throws(StoreError) in
      let record = try layout.storedRecord(id)
      let isOutOfUse = try layout.isOutOfUse(id)
      guard !isOutOfUse, !isLost else { return Committer.Change(outcome: try layout.asServed(record)) }
      try StoreError.disk { () throws(SystemError) in
        try faults.before(.setAside)
        try Folder.publish(bundle, as: damaged)
      }
      layout.forget(id)
      folder.logger.error(
        "Set aside a bundle that is damaged", metadata: ["id": "\(id)", "path": "\(damaged)"])
      var served = record
      served.verified = .damaged
      return Committer.Change(
        outcome: served,
        undo: {
          self.folder.attempt("revert setting a bundle aside") { try Folder.publish(damaged, as: bundle) }
        })
    }
  }

  /// Changes a record: writes and flushes the new one beside the old one, and then replaces the old one.
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    while true {
      let staged = "\(layout.uploads)/\(SnapshotID()).json"
      let outcome: Result<SnapshotRecord?, StoreError>
      do {
        outcome = .success(try await replaceRecord(of: id, by: change, staged: staged))
      } catch {
        outcome = .failure(error)
      }
      if case .success(let record?) = outcome { return record }
      await readers.next.perform { [self] in
        folder.attempt("remove a staged record") { try Folder.removeIfPresent(staged) }
      }
      _ = try outcome.get()
    }
  }

  /// Applies a change to the current record.
  /// - Returns: `nil`, with nothing changed, if another change was made in the meantime.
  private func replaceRecord(
    of id: SnapshotID, by change: RecordChange, staged: String
  ) async throws(StoreError) -> SnapshotRecord? {
    let epoch = folder.flusher.epoch
    let (base, changed, file) = try await readers.next.perform { [self] () throws(StoreError) in
      let base = try layout.storedRecord(id)
      var changed = base
      try change.apply(to: &changed)
      guard changed != base else { return (base, changed, File?.none) }
      return try StoreError.disk { () throws(SystemError) in
        try faults.before(.stageRecord)
        let file = try File(staged, .create(mode: 0o600))
        try file.write(RecordFile.encode(changed), at: 0)
        try faults.before(.flushRecord)
        return (base, changed, file)
      }
    }
    if let file {
      do {
        try await folder.flusher.flush([.file(file)], since: epoch)
      } catch {
        throw StoreError(error)
      }
    }
    // If the record stays the same, the folder is flushed nevertheless: another caller may just have made the same
    // change without having flushed it.
    return try await committer.perform(in: layout.folder(of: id)) { [self] () throws(StoreError) in
      guard try layout.storedRecord(id) == base else { return Committer.Change(outcome: nil) }
      let served = try layout.asServed(changed)
      if file != nil {
        try StoreError.disk { () throws(SystemError) in
          try faults.before(.replaceRecord)
          try Folder.replace(layout.path(.record, of: id), with: staged)
        }
        layout.forget(id)
      }
      return Committer.Change(outcome: served)
    }
  }
}
