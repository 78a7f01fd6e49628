import Foundation
import Logging
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// Publishes uploads: checks the bundle, writes its bytes under a key of their own, and then takes its UUID with one
/// conditional write of its record. Until then, nothing of the upload is visible; from then on, all of it is.
final class S3Publisher: Sendable {
  private let client: S3Client
  private let states: SnapshotStates
  private let validator: UploadValidator
  private let verification: LateVerification
  private let logger: Logger
  /// Checks bundles before their uploads are answered.
  private let checks: CheckQueue

  init(
    client: S3Client, states: SnapshotStates, validator: UploadValidator, verification: LateVerification,
    checks: CheckQueue, logger: Logger
  ) {
    self.client = client
    self.states = states
    self.validator = validator
    self.verification = verification
    self.checks = checks
    self.logger = logger
  }

  /// Called before a UUID is taken, with the record that takes it. If it throws, the UUID is not taken.
  typealias Preparation = (SnapshotRecord) async throws(StoreError) -> Void

  /// Publishes an upload, and removes its file then. If this throws, the file remains.
  /// - Parameters:
  ///   - staged: the upload.
  ///   - attachment: the report, UUID and metadata under which the bundle is published.
  ///   - isAdmitted: whether the UUID of the attachment was looked up when the upload began.
  ///   - former: the UUID that an earlier publication of the same upload prepared to take. If the same bytes have it, the
  ///     earlier publication has succeeded.
  ///   - prepare: called before a UUID is taken.
  func publish(
    _ staged: StagedUpload, as attachment: Attachment, isAdmitted: Bool = false,
    after former: SnapshotID? = nil, preparing prepare: Preparation = { _ in }
  ) async throws(StoreError) -> Publication {
    let publication = try await publish(
      try await staged.whole(), as: attachment, isAdmitted, after: former, prepare)
    if case .created(let record) = publication, record.verified == .pending {
      verification.add(record, in: staged)
    } else {
      staged.remove()
    }
    return publication
  }

  private func publish(
    _ upload: StagedUpload.Whole, as attachment: Attachment, _ isAdmitted: Bool, after former: SnapshotID?,
    _ prepare: Preparation
  ) async throws(StoreError) -> Publication {
    var record = try await admit(upload, as: attachment)
    if attachment.id == nil, let former, former != record.id { record = record.renamed(former) }
    // The bytes of a bundle that is sent in one request are rarely written in vain.
    let isFree = isAdmitted && attachment.id != nil && upload.size < client.configuration.multipartBytes
    var present = isFree ? nil : try await states.read(record.id)?.state
    while true {
      do {
        if let present {
          if record.id == former, let published = present.record(repeating: record) {
            return .created(published)
          }
          return try await join(present, with: upload, as: record, attachment)
        }
        try await prepare(record)
        let attempt = SnapshotID()
        record.attempt = attempt
        switch try await create(record, attempt, of: upload) {
        case .created: return .created(record)
        case .taken(let state): present = state
        }
      } catch {
        // The manifest's UUID is taken.
        record = try attachment.renamed(record, after: error)
        present = nil
      }
    }
  }

  /// Checks an upload as deeply as is required before publication, and makes its record.
  private func admit(
    _ upload: StagedUpload.Whole, as attachment: Attachment
  ) async throws(StoreError) -> SnapshotRecord {
    try validator.requireDigest(upload.sha256, of: attachment)
    let (summary, depth) = try await check(upload) { [validator] weight in
      validator.depth(for: attachment, weight: weight)
    }
    return try validator.record(
      of: summary, depth, size: upload.size, sha256: upload.sha256, as: attachment)
  }

  private func check(
    _ upload: StagedUpload.Whole,
    _ depth: @escaping @Sendable (_ weight: Int64) -> SnapshotBundle.Depth = { _ in .full }
  ) async throws(StoreError) -> CheckJob.Outcome {
    do {
      return try await checks.check(upload.file, size: upload.size, by: validator.validate, depth: depth)
    } catch {
      throw StoreError(error)
    }
  }

  /// Publishes an upload whose UUID is taken: repeats or repairs the bundle that has it, or throws.
  private func join(
    _ state: StoredState, with upload: StagedUpload.Whole, as record: SnapshotRecord, _ attachment: Attachment
  ) async throws(StoreError) -> Publication {
    guard case .published(let existing, _) = state.content else { throw .deleted }
    try attachment.requireRepeat(of: existing, sha256: record.sha256)
    guard existing.verified == .damaged else { return .alreadyThere(existing) }
    // The bytes could be the ones that were found damaged.
    if record.verified != .intact { _ = try await check(upload) }
    return .alreadyThere(try await repair(existing.id, with: upload))
  }

  private func create(
    _ record: SnapshotRecord, _ attempt: SnapshotID, of upload: StagedUpload.Whole
  ) async throws(StoreError) -> SnapshotStates.Creation {
    try await write(upload, record.id, attempt)
    // If this throws, the record possibly names the bytes, so they remain; otherwise the sweep removes them.
    let creation = try await states.create(record.id, .published(record, by: attempt))
    if case .taken = creation { await remove(record.id, attempt) }
    return creation
  }

  /// Replaces damaged bytes with those that were uploaded again. The record remains.
  private func repair(_ id: SnapshotID, with upload: StagedUpload.Whole) async throws(StoreError)
    -> SnapshotRecord
  {
    let attempt = SnapshotID()
    try await write(upload, id, attempt)
    var repaired: StoredState.Content?
    let (former, damaged) = try await states.change(id) { (record, _) throws(StoreError) in
      repaired = nil
      guard record.verified == .damaged else { return .keep }
      let content = StoredState.Content.published(record.changed(to: .intact), by: attempt)
      repaired = content
      return .write(content)
    }
    // Another upload may have repaired the bundle meanwhile.
    await remove(id, repaired == nil ? attempt : damaged)
    return repaired?.record ?? former
  }

  private func write(
    _ upload: StagedUpload.Whole, _ id: SnapshotID, _ attempt: SnapshotID
  ) async throws(StoreError) {
    do {
      try await client.upload(
        upload.file, to: ObjectKeys.bytes(id, attempt: attempt), size: upload.size,
        digest: upload.sha256.bytes, on: ServerQueues.shared.writers.next)
    } catch {
      await remove(id, attempt)
      throw StoreError(error)
    }
  }

  /// Removes bytes that no record names. If that fails, the sweep does it.
  private func remove(_ id: SnapshotID, _ attempt: SnapshotID) async {
    do {
      try await client.delete(ObjectKeys.bytes(id, attempt: attempt))
    } catch {
      logger.warning("Unused bytes can't be removed", metadata: ["id": "\(id)", "error": "\(error)"])
    }
  }
}

extension StoredState {
  /// The record, if it is one of the same bytes for the same report.
  fileprivate func record(repeating other: SnapshotRecord) -> SnapshotRecord? {
    guard case .published(let record, _) = content, record.report == other.report,
      record.sha256 == other.sha256
    else { return nil }
    return record
  }
}
