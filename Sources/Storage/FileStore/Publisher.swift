import Dispatch
import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The commit protocol, shared by transient and resumable uploads.
final class Publisher: Sendable {
  private let folder: StorageFolder
  private let committer: Committer
  private let changes: BundleChanges
  private let verification: LateVerification
  private let validator: UploadValidator
  private let recovery: Recovery
  /// Checks bundles before their uploads are answered.
  private let checks: CheckQueue

  init(
    _ folder: StorageFolder, committer: Committer, changes: BundleChanges, verification: LateVerification,
    validator: UploadValidator, recovery: Recovery, checks: CheckQueue
  ) {
    self.folder = folder
    self.committer = committer
    self.changes = changes
    self.verification = verification
    self.validator = validator
    self.recovery = recovery
    self.checks = checks
  }

  private var layout: StorageLayout { folder.layout }
  private var faults: FaultInjection { folder.faults }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) { try committer.requireOpen() }

  /// Checks an upload, writes its record beside it, flushes both, and moves them to their final names. If it throws,
  /// the caller removes the staged files.
  /// - Parameters:
  ///   - upload: the upload, to which no more is written.
  ///   - attachment: the report, UUID and metadata under which the bundle is published.
  ///   - queue: the queue that wrote the upload, which now writes its record.
  func publish(
    _ upload: WholeUpload, as attachment: Attachment, on queue: DispatchQueue
  ) async throws(StoreError) -> Publication {
    if let id = attachment.id { try await recovery.require(id) }
    var record = try await admit(upload, as: attachment, on: queue)
    while true {
      try await recovery.require(record.id)
      let staged = try await queue.perform { [record] () throws(StoreError) in
        try self.stage(record, of: upload, as: attachment)
      }
      try await folder.flush(staged.files, since: upload.epoch, .flushFiles)
      if let session = staged.session { upload.resumable?.adopt(session) }
      // The record can have another UUID than before.
      try await recovery.require(staged.record.id)
      do {
        let (publication, isRepair) = try await place(upload, as: staged.record, attachment)
        switch publication {
        case .created(let created):
          if created.verified == .pending { verification.add(created.id) }
          return publication
        case .alreadyThere(let existing):
          return isRepair ? await repaired(existing) : publication
        }
      } catch {
        // Another upload took the manifest's UUID after this one was staged.
        record = try attachment.renamed(staged.record, after: error)
        await queue.perform { [folder] in
          folder.attempt("remove a staged record") { try Folder.removeIfPresent(upload.names.record) }
        }
      }
    }
  }

  /// Checks an upload as deeply as is required before publication, and makes its record.
  ///
  /// Bytes uploaded again for a bundle that is out of use are always checked in full: they could be the ones found
  /// damaged.
  private func admit(
    _ upload: WholeUpload, as attachment: Attachment, on queue: DispatchQueue
  ) async throws(StoreError) -> SnapshotRecord {
    try validator.requireDigest(upload.sha256, of: attachment)
    var (summary, depth) = try await check(upload) { [validator] weight in
      validator.depth(for: attachment, weight: weight)
    }
    if depth == .structure, let id = attachment.id,
      try await queue.perform({ [layout] () throws(StoreError) in try layout.isOutOfUse(id) })
    {
      (summary, depth) = try await check(upload) { _ in .full }
    }
    return try validator.record(
      of: summary, depth, size: upload.size, sha256: upload.sha256, as: attachment)
  }

  private func check(
    _ upload: WholeUpload, _ depth: @escaping @Sendable (_ weight: Int64) -> SnapshotBundle.Depth
  ) async throws(StoreError) -> CheckJob.Outcome {
    do {
      return try await checks.check(
        URL(filePath: upload.names.bundle), size: upload.size, by: validator.validate, depth: depth)
    } catch {
      throw StoreError(error)
    }
  }

  /// An upload with its record beside it.
  private struct Staged: Sendable {
    var record: SnapshotRecord
    /// The files that have to be flushed before the publication.
    var files: [Flusher.Target]
    /// The session in the state file, if there is one.
    var session: UploadSession?
  }

  /// Writes the record beside the bundle, which is not written to from here on. Blocks.
  private func stage(
    _ record: SnapshotRecord, of upload: WholeUpload, as attachment: Attachment
  ) throws(StoreError) -> Staged {
    var record = record
    if attachment.id == nil, record.manifestID == nil, try layout.isTaken(record.id) {
      record = record.renamed()
    }
    return try StoreError.disk { () throws(SystemError) in try stage(record, of: upload) }
  }

  private func stage(_ record: SnapshotRecord, of upload: WholeUpload) throws(SystemError) -> Staged {
    try faults.before(.writeRecord)
    let recordFile = try File(upload.names.record, .create(mode: 0o600))
    try recordFile.write(RecordFile.encode(record), at: 0)
    try upload.file.setMode(0o440)
    guard let resumable = upload.resumable else {
      return Staged(record: record, files: [.file(upload.file), .file(recordFile)])
    }
    var session = resumable.session
    session.beginPublishing(upload.sha256, as: record.id)
    let state = try resumable.write(session)
    return Staged(
      record: record, files: [.file(upload.file), .file(recordFile), .file(state)], session: session)
  }

  /// The result of an upload whose bytes replaced damaged or lost ones.
  private func repaired(_ existing: SnapshotRecord) async -> Publication {
    guard existing.verified != .intact else { return .alreadyThere(existing) }
    do {
      return .alreadyThere(try await changes.change(RecordChange(verified: .intact), of: existing.id))
    } catch {
      // The bytes are in place durably, so the next check will find them intact.
      folder.logger.warning(
        "The repair of a bundle can't be recorded", metadata: ["id": "\(existing.id)", "error": "\(error)"])
      verification.add(existing.id)
      return .alreadyThere(existing)
    }
  }

  /// Moves a flushed upload to its final names, unless the UUID is taken.
  /// - Returns: the result of the upload, and whether its bytes replaced damaged or lost ones.
  private func place(
    _ upload: WholeUpload, as record: SnapshotRecord, _ attachment: Attachment
  ) async throws(StoreError) -> (Publication, isRepair: Bool) {
    try await committer.perform(in: layout.folder(of: record.id)) { [self] () throws(StoreError) in
      do throws(StoreError) {
        let existing = try layout.storedRecord(record.id)
        try attachment.requireRepeat(of: existing, sha256: record.sha256)
        guard try layout.isOutOfUse(record.id) else {
          return Committer.Change(outcome: (.alreadyThere(existing), false)) {
            upload.arrival.release()
            self.removeStaged(upload)
          }
        }
        // The bundle went out of use after these bytes had been checked. The next attempt will check them in full.
        guard record.verified == .intact else { throw StoreError.damaged }
        return try repair(existing, with: upload)
      } catch .notFound {
        try StoreError.disk { () throws(SystemError) in try move(upload.names, to: record.id) }
        return Committer.Change(outcome: (.created(record), false)) {
          upload.arrival.keep()
          if record.verified == .pending { self.verification.addUnverified(record.id) }
        } undo: {
          self.folder.attempt("revert a publication") { try self.revert(upload.names, of: record.id) }
          self.layout.forget(record.id)
        }
      }
    }
  }

  /// Replaces damaged or lost bytes with those that were uploaded again. The record remains.
  private func repair(
    _ existing: SnapshotRecord, with upload: WholeUpload
  ) throws(StoreError) -> Committer.Change<(Publication, isRepair: Bool)> {
    let (id, bundle) = (existing.id, layout.path(.bundle, of: existing.id))
    if try layout.isLost(id) { folder.recordLoss(of: id, counted: existing.size) }
    do {
      try faults.before(.publishBundle)
      try Folder.publish(upload.names.bundle, as: bundle)
    } catch {
      throw StoreError(error)
    }
    return Committer.Change(outcome: (.alreadyThere(existing), true)) {
      upload.arrival.keep()
      self.folder.endLoss(of: id)
      self.removeStaged(upload)
      self.folder.attempt("remove a damaged bundle") { try self.folder.removeBundle(.damaged, of: id) }
    } undo: {
      self.folder.attempt("revert a repair") { try Folder.publish(bundle, as: upload.names.bundle) }
      self.layout.forget(id)
    }
  }

  /// Moves both the record and the bundle to their final names, or neither. The record gets its name last, so that it
  /// states for ever that the bundle was published.
  private func move(_ staged: StagedBundle, to id: SnapshotID) throws(SystemError) {
    let (unpublished, bundle) = (layout.path(.unpublished, of: id), layout.path(.bundle, of: id))
    try faults.before(.announceRecord)
    // Only a publication that could not be reverted has left one.
    try Folder.replace(unpublished, with: staged.record)
    do throws(SystemError) {
      try faults.before(.publishBundle)
      try Folder.publish(staged.bundle, as: bundle)
      do throws(SystemError) {
        try faults.before(.publishRecord)
        try Folder.publish(unpublished, as: layout.path(.record, of: id))
      } catch {
        folder.attempt("revert the publication of a bundle") {
          try Folder.publish(bundle, as: staged.bundle)
        }
        throw error
      }
    } catch {
      folder.attempt("revert the publication of a record") { try Folder.removeIfPresent(unpublished) }
      throw error
    }
  }

  /// Reverts ``move(_:to:)`` step by step. The record is removed.
  private func revert(_ staged: StagedBundle, of id: SnapshotID) throws(SystemError) {
    let unpublished = layout.path(.unpublished, of: id)
    try Folder.replace(unpublished, with: layout.path(.record, of: id))
    try Folder.publish(layout.path(.bundle, of: id), as: staged.bundle)
    try Folder.removeIfPresent(unpublished)
  }

  private func removeStaged(_ upload: WholeUpload) {
    folder.attempt("remove staged files", upload.names.remove)
  }
}
