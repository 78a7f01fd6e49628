import Logging
package import SnapshotFormat
package import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// Removes a bundle and its record for good, leaving an empty file as the tombstone.
  package func delete(_ id: SnapshotID) async throws(StoreError) {
    _ = try await delete(id) { () throws(StoreError) in true }
  }

  /// Removes a bundle and its record for good if the record is as `condition` wants it.
  package func delete(
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
      let tombstone = layout.path(.tombstone, of: id)
      do throws(SystemError) {
        try faults.before(.writeTombstone)
        _ = try File(tombstone, .create(mode: 0o600))
      } catch {
        throw StoreError(error)
      }
      layout.forget(id)
      return Committer.Change(
        outcome: true,
        undo: { self.attempt("take back a deletion") { try Folder.removeIfPresent(tombstone) } })
    }
    guard isDeleted else { return false }
    // The tombstone lasts: whatever fails here is made up for at the next start.
    await remover.perform { [self] in
      attempt("remove a deleted bundle") {
        try faults.before(.removeBundle)
        for kind in [StorageLayout.Kind.bundle, .damaged] { try removeBundle(kind, of: id) }
        try faults.before(.removeRecord)
        try Folder.removeIfPresent(layout.path(.record, of: id))
      }
    }
    return true
  }

  /// Removes a bundle, if it is there.
  func removeBundle(_ kind: StorageLayout.Kind, of id: SnapshotID) throws(SystemError) {
    let path = layout.path(kind, of: id)
    do throws(SystemError) {
      let size = try Folder.size(of: path)
      try Folder.remove(path)
      layout.forget(id)
      quotaTracker.forget(size)
    } catch  where error.isNotFound {}
  }

  /// Takes a bundle out of use by giving it another name: one step, which says all.
  @discardableResult
  package func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    let (bundle, damaged) = (layout.path(.bundle, of: id), layout.path(.damaged, of: id))
    return try await committer.perform(in: layout.folder(of: id)) { [self] () throws(StoreError) in
      let record = try layout.storedRecord(id)
      guard try !layout.isSetAside(id) else { return Committer.Change(outcome: try layout.asServed(record)) }
      do throws(SystemError) {
        try faults.before(.setAside)
        try Folder.publish(bundle, as: damaged)
      } catch {
        throw StoreError(error)
      }
      layout.forget(id)
      logger.error("Set aside a bundle that is damaged", metadata: ["id": "\(id)", "path": "\(damaged)"])
      var served = record
      served.verified = .damaged
      return Committer.Change(
        outcome: served,
        undo: { self.attempt("put a bundle back") { try Folder.publish(damaged, as: bundle) } })
    }
  }

  /// Changes what may change of a record: the new one is written and flushed beside it, and then takes its place.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    while true {
      let staged = "\(layout.uploads)/\(SnapshotID()).json"
      let outcome: Result<SnapshotRecord?, StoreError>
      do throws(StoreError) {
        outcome = .success(try await replaceRecord(of: id, by: change, staged: staged))
      } catch {
        outcome = .failure(error)
      }
      if case .success(let record?) = outcome { return record }
      await readers.next.perform { [self] in
        attempt("remove a staged record") { try Folder.removeIfPresent(staged) }
      }
      _ = try outcome.get()
    }
  }

  /// Makes a change of the record as it is now.
  /// - Returns: `nil`, and nothing is changed, where another change came between.
  private func replaceRecord(
    of id: SnapshotID, by change: RecordChange, staged: String
  ) async throws(StoreError) -> SnapshotRecord? {
    let epoch = flusher.epoch
    let (base, changed, file) = try await readers.next.perform { [self] () throws(StoreError) in
      let base = try layout.storedRecord(id)
      var changed = base
      change.apply(to: &changed)
      guard changed != base else { return (base, changed, File?.none) }
      do throws(SystemError) {
        try faults.before(.stageRecord)
        let file = try File(staged, .create(mode: 0o600))
        try file.write(RecordFile.encode(changed), at: 0)
        try faults.before(.flushRecord)
        return (base, changed, file)
      } catch {
        throw StoreError(error)
      }
    }
    if let file {
      do throws(SystemError) {
        try await flusher.flush([.file(file)], since: epoch)
      } catch {
        throw StoreError(error)
      }
    }
    // Where nothing changes the folder is flushed all the same: who made the same change may still be at it.
    return try await committer.perform(in: layout.folder(of: id)) { [self] () throws(StoreError) in
      guard try layout.storedRecord(id) == base else { return Committer.Change(outcome: nil) }
      let served = try layout.asServed(changed)
      if file != nil {
        do throws(SystemError) {
          try faults.before(.replaceRecord)
          try Folder.replace(layout.path(.record, of: id), with: staged)
        } catch {
          throw StoreError(error)
        }
        layout.forget(id)
      }
      return Committer.Change(outcome: served)
    }
  }

  /// Clears up; what fails is logged, and made up for at the next start.
  func attempt(_ what: String, _ work: () throws -> Void) {
    do {
      try work()
    } catch {
      logger.error("Could not \(what)", metadata: ["error": "\(error)"])
    }
  }
}
