import Logging
public import SnapshotFormat
public import SnapshotStore
import SystemIO

extension FileBundleStore {
  /// Gives a staged and flushed bundle its final name, unless the UUID is taken.
  func publish(
    _ staging: Staging, as record: SnapshotRecord, createOnly: Bool
  ) async throws(StoreError) -> Publication {
    try await committer.perform(in: shelf.folder(of: record.id)) { [self] () throws(StoreError) in
      let settle: @Sendable () -> Void = { self.attempt("remove what was staged", staging.remove) }
      do throws(StoreError) {
        let existing = try shelf.record(record.id)
        let publication = try Admission.reconcile(record, with: existing, createOnly: createOnly)
        return Committer.Change(outcome: publication, settle: settle)
      } catch .notFound {
        do throws(SystemError) { try place(staging, under: record.id) } catch { throw StoreError(error) }
        return Committer.Change(outcome: .created(record), settle: settle) {
          self.attempt("take back a publication") {
            try Folder.removeIfPresent(self.shelf.path(.bundle, of: record.id))
            try Folder.removeIfPresent(self.shelf.path(.record, of: record.id))
          }
          self.shelf.records.forget(record.id)
        }
      }
    }
  }

  /// Moves record and bundle to their final names, or neither.
  private func place(_ staging: Staging, under id: SnapshotID) throws(SystemError) {
    let record = shelf.path(.record, of: id)
    try seams.before(.publishRecord)
    // Only a publication that could not be taken back leaves a record without a bundle.
    try Folder.removeIfPresent(record)
    try Folder.publish(staging.record, as: record)
    do {
      try seams.before(.publishBundle)
      try Folder.publish(staging.bundle, as: shelf.path(.bundle, of: id))
    } catch {
      attempt("take back a record") { try Folder.removeIfPresent(record) }
      throw error
    }
  }

  /// Removes a bundle and its record for good, leaving an empty file as the tombstone.
  public func delete(_ id: SnapshotID) async throws(StoreError) {
    try await readers.next.perform { [shelf] () throws(StoreError) in try shelf.requirePublished(id) }
    try await committer.perform(in: shelf.folder(of: id)) { [self] () throws(StoreError) in
      try shelf.requirePublished(id)
      let tombstone = shelf.path(.tombstone, of: id)
      do throws(SystemError) {
        try seams.before(.bury)
        _ = try File(tombstone, .create(mode: 0o600))
      } catch {
        throw StoreError(error)
      }
      shelf.records.forget(id)
      return Committer.Change(outcome: ()) {
        // The tombstone lasts: whatever fails here is made up for at the next start.
        self.attempt("remove a deleted bundle") {
          try self.seams.before(.removeBundle)
          try Folder.removeIfPresent(self.shelf.path(.bundle, of: id))
          try self.seams.before(.removeRecord)
          try Folder.removeIfPresent(self.shelf.path(.record, of: id))
        }
      } undo: {
        self.attempt("take back a deletion") {
          try Folder.removeIfPresent(tombstone)
        }
      }
    }
  }

  /// Replaces what a record says of the checksums of its bundle.
  public func setVerification(
    _ verification: SnapshotRecord.Verification, of id: SnapshotID
  ) async throws(StoreError) {
    let staged = "\(shelf.uploads)/\(SnapshotID()).json"
    let epoch = flusher.epoch
    do throws(StoreError) {
      let file = try await readers.next.perform { [shelf] () throws(StoreError) in
        var record = try shelf.record(id)
        record.verified = verification
        do throws(SystemError) {
          let file = try File(staged, .create(mode: 0o600))
          try file.write(record.encoded(), at: 0)
          return file
        } catch {
          throw StoreError(error)
        }
      }
      do throws(SystemError) {
        try await flusher.flush([.file(file)], since: epoch)
      } catch {
        throw StoreError(error)
      }
      try await committer.perform(in: shelf.folder(of: id)) { [self] () throws(StoreError) in
        try shelf.requirePublished(id)
        do throws(SystemError) {
          try seams.before(.replaceRecord)
          try Folder.replace(shelf.path(.record, of: id), with: staged)
        } catch {
          throw StoreError(error)
        }
        shelf.records.forget(id)
        return Committer.Change(outcome: ())
      }
    } catch {
      await readers.next.perform { [self] in
        attempt("remove a staged record") { try Folder.removeIfPresent(staged) }
      }
      throw error
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
