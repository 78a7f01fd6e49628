import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The commit protocol, the same for an upload in one request and for one that was resumed.
extension FileBundleStore {
  /// Checks an upload, writes its record beside it, flushes both, and gives them their final names. Where it throws, the
  /// caller removes what is staged.
  func publish(_ upload: WholeUpload, as attachment: Attachment) async throws(StoreError) -> Publication {
    let record = try await admit(upload, as: attachment)
    let files = try await upload.queue.perform { [self] () throws(StoreError) in
      do throws(SystemError) { return try stage(record, of: upload) } catch { throw StoreError(error) }
    }
    try await flush(files, since: upload.epoch, .flushFiles)
    if let (resumable, session) = upload.announcement { resumable.adopt(session) }
    let (publication, isRepair) = try await place(upload, as: record, attachment)
    switch publication {
    case .created(let created):
      if created.verified == .pending { verifyLater(created.id) }
      return publication
    case .alreadyThere(let existing):
      return isRepair ? await repaired(existing) : publication
    }
  }

  /// Checks what arrived, as far as it must be before it may be published, and makes its record.
  ///
  /// Bytes that come again for a bundle that was set aside are checked whole: they may be those that were found damaged.
  private func admit(
    _ upload: WholeUpload, as attachment: Attachment
  ) async throws(StoreError) -> SnapshotRecord {
    let validator = configuration.validator
    try validator.requireDigest(upload.sha256, of: attachment)
    var depth = validator.depth(for: attachment, size: upload.size)
    var summary = try await check(upload, depth)
    if depth == .structure, try await isSetAside(attachment.id ?? summary.manifest.id) {
      depth = .full
      summary = try await check(upload, depth)
    }
    return try validator.record(
      of: summary, depth, size: upload.size, sha256: upload.sha256, as: attachment)
  }

  private func check(
    _ upload: WholeUpload, _ depth: SnapshotBundle.Depth
  ) async throws(StoreError) -> BundleSummary {
    do throws(BundleError) {
      return try await checks.check(
        URL(filePath: upload.names.bundle), size: upload.size, depth, by: configuration.validator.validate)
    } catch {
      throw StoreError(error)
    }
  }

  private func isSetAside(_ id: SnapshotID) async throws(StoreError) -> Bool {
    try await readers.next.perform { [layout] () throws(StoreError) in try layout.isSetAside(id) }
  }

  /// Writes the record beside the bundle, to which nothing is written from here on. Blocks.
  /// - Returns: what has to be flushed before the publication.
  private func stage(
    _ record: SnapshotRecord, of upload: WholeUpload
  ) throws(SystemError) -> [Flusher.Target] {
    try faults.before(.writeRecord)
    let recordFile = try File(upload.names.record, .create(mode: 0o600))
    try recordFile.write(RecordFile.encode(record), at: 0)
    try upload.file.setMode(0o440)
    guard let (resumable, session) = upload.announcement else {
      return [.file(upload.file), .file(recordFile)]
    }
    let state = try resumable.write(session, to: layout.path(.state, of: resumable.id), faults)
    return [.file(upload.file), .file(recordFile), .file(state)]
  }

  /// The answer to an upload whose bytes took the place of damaged ones.
  private func repaired(_ existing: SnapshotRecord) async -> Publication {
    guard existing.verified != .intact else { return .alreadyThere(existing) }
    do throws(StoreError) {
      return .alreadyThere(try await change(RecordChange(verified: .intact), of: existing.id))
    } catch {
      // The bytes are in place for good: the next check finds them intact.
      logger.warning(
        "A repair can't be written down", metadata: ["id": "\(existing.id)", "error": "\(error)"])
      verifyLater(existing.id)
      return .alreadyThere(existing)
    }
  }

  /// Gives a flushed upload its final names, unless the UUID is taken.
  /// - Returns: what the upload is answered, and whether its bytes took the place of damaged ones.
  private func place(
    _ upload: WholeUpload, as record: SnapshotRecord, _ attachment: Attachment
  ) async throws(StoreError) -> (Publication, isRepair: Bool) {
    try await committer.perform(in: layout.folder(of: record.id)) { [self] () throws(StoreError) in
      do throws(StoreError) {
        let existing = try layout.storedRecord(record.id)
        try attachment.requireRepeat(of: existing, sha256: record.sha256)
        guard try layout.isSetAside(record.id) else {
          return Committer.Change(outcome: (.alreadyThere(existing), false)) { self.removeStaged(upload) }
        }
        // It was set aside after these bytes were checked: the next try checks them whole.
        guard record.verified == .intact else { throw StoreError.damaged }
        return try repair(existing, with: upload)
      } catch .notFound {
        do throws(SystemError) { try move(upload.names, to: record.id) } catch { throw StoreError(error) }
        return Committer.Change(outcome: (.created(record), false)) {
          upload.arrival.keep()
        } undo: {
          self.attempt("take back a publication") {
            try Folder.publish(self.layout.path(.bundle, of: record.id), as: upload.names.bundle)
            try Folder.removeIfPresent(self.layout.path(.record, of: record.id))
          }
          self.layout.forget(record.id)
        }
      }
    }
  }

  /// Puts the bytes that came again in the place of those that were damaged; the record stays.
  private func repair(
    _ existing: SnapshotRecord, with upload: WholeUpload
  ) throws(StoreError) -> Committer.Change<(Publication, isRepair: Bool)> {
    let (id, bundle) = (existing.id, layout.path(.bundle, of: existing.id))
    do throws(SystemError) {
      try faults.before(.publishBundle)
      try Folder.publish(upload.names.bundle, as: bundle)
    } catch {
      throw StoreError(error)
    }
    return Committer.Change(outcome: (.alreadyThere(existing), true)) {
      upload.arrival.keep()
      self.removeStaged(upload)
      self.attempt("remove a damaged bundle") { try self.removeBundle(.damaged, of: id) }
    } undo: {
      self.attempt("take back a repair") { try Folder.publish(bundle, as: upload.names.bundle) }
      self.layout.forget(id)
    }
  }

  /// Moves record and bundle to their final names, or neither.
  private func move(_ staged: StagedBundle, to id: SnapshotID) throws(SystemError) {
    let record = layout.path(.record, of: id)
    try faults.before(.publishRecord)
    do throws(SystemError) {
      try Folder.publish(staged.record, as: record)
    } catch  where error.isAlreadyThere {
      // Only a publication that could not be taken back leaves a record without a bundle.
      try Folder.replace(record, with: staged.record)
    }
    do {
      try faults.before(.publishBundle)
      try Folder.publish(staged.bundle, as: layout.path(.bundle, of: id))
    } catch {
      attempt("take back a record") { try Folder.removeIfPresent(record) }
      throw error
    }
  }

  private func removeStaged(_ upload: WholeUpload) {
    attempt("remove what was staged", upload.names.remove)
  }
}
