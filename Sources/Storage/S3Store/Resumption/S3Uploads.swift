import Foundation
import Logging
import S3Client
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The resumable uploads of an ``S3BundleStore``, which any server that shares the store can continue.
///
/// Everything that must survive is in the rows and in the object store; every call reads it again. A server changes an
/// upload only with its lease. The rows refuse every change by a server that has lost its lease, and no
/// server reads what it writes to the object store: each part has a number that is used once, and a bundle's bytes have a key of their own
/// for each attempt to publish them.
final class S3Uploads: Sendable {
  private let rows: any UploadRows
  private let leases: UploadLeases
  private let objects: UploadObjects
  private let publisher: S3Publisher
  private let folder: StagingFolder
  private let limits: UploadLimits
  private let logger: Logger
  private let now: @Sendable () -> Date
  private let copies = UploadCopies()

  init(
    _ rows: any UploadRows, leases: UploadLeases, objects: UploadObjects, publisher: S3Publisher,
    folder: StagingFolder, limits: UploadLimits, now: @escaping @Sendable () -> Date, logger: Logger
  ) {
    self.rows = rows
    self.leases = leases
    self.objects = objects
    self.publisher = publisher
    self.folder = folder
    self.limits = limits
    self.now = now
    self.logger = logger
  }

  /// Removes the local copies.
  func close() { copies.removeAll() }

  /// The session of an upload.
  func session(of id: UploadID) async throws(UploadError) -> UploadSession {
    let session = try await UploadError.storing { () async throws(StoreError) in try await rows.session(id) }
    guard let session else { throw .unknown }
    return session
  }

  /// The sessions of all uploads; none if they can't be read.
  var sessions: [UploadSession] {
    get async {
      do { return try await rows.rows().map(\.session) } catch {
        logger.error("The uploads can't be listed", metadata: ["error": "\(error)"])
        return []
      }
    }
  }

  // MARK: Creation

  /// Creates an upload.
  func create(_ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    try terms.requireFit(limits)
    if case .joined(_, let ids) = terms.kind { return try await join(ids, terms) }
    let session = try UploadSession(terms, limits: limits, at: now())
    try await rows.create(UploadRow(session), limits: limits)
    return session
  }

  /// Creates an upload with the bytes of `ids`.
  private func join(_ ids: [UploadID], _ terms: UploadTerms) async throws(UploadError) -> UploadSession {
    guard ids.count <= limits.parts else { throw .partCount(limit: limits.parts) }
    var parts: [UploadRow] = []
    for id in ids {
      guard
        let part = try await UploadError.storing({ () async throws(StoreError) in try await rows.row(id) })
      else { throw .unusablePart(id) }
      parts.append(part)
    }
    let session = try UploadSession(terms, joining: parts.map(\.session), limits: limits, at: now())
    try await UploadError.storing { () async throws(StoreError) in
      try await folder.requireSpace(for: session.offset)
    }
    let staged = folder.newUpload()
    do throws(UploadError) {
      let row = try await UploadError.storing { () async throws(StoreError) in
        try await joined(parts, session, in: staged)
      }
      do throws(UploadError) { try await rows.create(row, limits: limits) } catch {
        if case .tooManyOpen = error { await objects.remove(row.object) }
        throw error
      }
    } catch {
      staged.remove()
      throw error
    }
    copies.keep(staged, of: session.id)
    return session
  }

  /// Copies the bytes of `parts`, in their order.
  private func joined(
    _ parts: [UploadRow], _ session: UploadSession, in staged: StagedUpload
  ) async throws(StoreError) -> UploadRow {
    for part in parts {
      let bytes = folder.newUpload()
      defer { bytes.remove() }
      // Only a holder of the lease changes a row, so the places of unrecorded parts are not stored here.
      try await objects.read(part, into: bytes) { _ in }
      try await staged.append(contentsOf: bytes)
    }
    var row = UploadRow(session)
    let whole = try await staged.whole()
    if whole.size < objects.partBytes {
      row.tail = try await staged.bytes(in: 0..<whole.size)
    } else {
      try await objects.write(whole, to: &row.object)
    }
    return row
  }

  // MARK: Appending

  /// Begins a request that appends to an upload.
  func beginAppending(
    _ request: AppendRequest, bytes: Int64?, to id: UploadID
  ) async throws(UploadError) -> any UploadAppending {
    let held = try await leases.take(id)
    do {
      var session = held.row.session
      let append = try session.admit(request, bytes: bytes, limits: limits)
      if session.isWhole {
        await leases.end(held.lease)
        return OutcomeRequest(append, to: session)
      }
      let (staged, base) = try await stage(held.row, expecting: bytes)
      return S3Appending(
        append, session, held, leases: leases, objects: objects, staged: staged, base: base, copies: copies,
        now: now)
    } catch {
      await leases.end(held.lease)
      throw error
    }
  }

  /// A local file for more bytes of an upload, and the offset of its first byte.
  private func stage(
    _ row: UploadRow, expecting bytes: Int64?
  ) async throws(UploadError) -> (StagedUpload, base: Int64) {
    try await UploadError.storing { () async throws(StoreError) in
      if let bytes { try await folder.requireSpace(for: bytes) }
      if let copy = await copies.take(row.session.id), copy.size == row.session.offset { return (copy, 0) }
      let staged = folder.newUpload()
      if !row.tail.isEmpty { try await staged.append(IOBuffer(row.tail)) }
      return (staged, row.object.length)
    }
  }

  // MARK: The end

  /// Publishes a whole upload, or refuses it.
  ///
  /// The UUID is stored in the row before it is taken. So if the outcome is not stored, the next server recognizes the
  /// publication, and does not publish the upload under a second UUID.
  func commit(_ id: UploadID, as attachment: Attachment) async throws(UploadError) -> UploadSession {
    var held = try await leases.take(id)
    guard held.row.session.isDue else {
      await leases.end(held.lease)
      return held.row.session
    }
    do {
      let publication = try await leases.renewing(held.lease) { () async throws(StoreError) in
        try await publish(&held, as: attachment)
      }
      return await end(held, as: UploadOutcome(publication))
    } catch {
      guard let refusal = UploadRefusal(error) else {
        await leases.end(held.lease)
        throw .store(error)
      }
      return try await refuse(held, refusal)
    }
  }

  private func publish(
    _ held: inout UploadLeases.Held, as attachment: Attachment
  ) async throws(StoreError) -> Publication {
    let id = held.row.session.id
    let staged = await copies.take(id) ?? folder.newUpload()
    do {
      try await folder.requireSpace(for: held.row.session.offset - staged.size)
      try await objects.read(held.row, into: staged) { row throws(StoreError) in
        try await save(row, whilePublishing: &held)
      }
      return try await publisher.publish(
        staged, as: attachment, after: held.row.session.progress.snapshot
      ) { record throws(StoreError) in
        var row = held.row
        row.session.beginPublishing(record.sha256, as: record.id)
        try await save(row, whilePublishing: &held)
      }
    } catch {
      if UploadRefusal(error) == nil { copies.keep(staged, of: id) } else { staged.remove() }
      throw error
    }
  }

  private func save(
    _ row: UploadRow, whilePublishing held: inout UploadLeases.Held
  ) async throws(StoreError) {
    guard try await rows.update(row, under: held.lease, for: leases.duration) else {
      throw .unavailable("Another server publishes the upload \(row.session.id.abbreviation).")
    }
    held.row = row
  }

  /// Records that the upload is published. If this fails, the next server repeats the publication, which then finds the
  /// bundle.
  private func end(_ held: UploadLeases.Held, as outcome: UploadOutcome) async -> UploadSession {
    let row = held.row.ended(outcome, at: now())
    do {
      try await leases.save(row, under: held.lease, isLast: true)
      await objects.remove(held.row.object)
    } catch {
      logger.error("The publication of an upload can't be recorded", metadata: ["error": "\(error)"])
    }
    return row.session
  }

  /// Records that the upload was refused permanently. Its bytes are removed once that is durable.
  private func refuse(
    _ held: UploadLeases.Held, _ refusal: UploadRefusal
  ) async throws(UploadError) -> UploadSession {
    let row = held.row.ended(.refused(refusal), at: now())
    try await leases.save(row, under: held.lease, isLast: true)
    await objects.remove(held.row.object)
    return row.session
  }

  /// Removes an upload.
  func remove(_ id: UploadID) async throws(UploadError) {
    let held = try await leases.take(id)
    let isLatest = try await UploadError.storing { () async throws(StoreError) in
      try await rows.remove(under: held.lease)
    }
    guard isLatest else { throw .superseded }
    await copies.take(id)?.remove()
    await objects.remove(held.row.object)
  }
}

extension UploadRow {
  /// The row of an upload that has ended, without bytes.
  fileprivate func ended(_ outcome: UploadOutcome, at now: Date) -> UploadRow {
    var session = session
    session.end(outcome, at: now)
    return UploadRow(session, UploadObject(name: object.name))
  }
}
