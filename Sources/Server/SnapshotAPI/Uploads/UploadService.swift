package import AccessControl
import Foundation
package import HTTPEngine
package import HTTPSemantics
import HTTPTypes
package import Logging
import Observability
package import SnapshotFormat
package import SnapshotService
package import SnapshotStore
import SystemIO

/// Resumable uploads, independent of their protocol: the implementations of tus and of the IETF draft call it. It
/// handles neither header fields nor status codes.
///
/// An upload belongs to the token or the user that created it; other callers get ``UploadError/unknown``. The requests to an upload
/// take turns: a newer request ends the body of the older one, which throws ``UploadError/superseded``, and begins once
/// the bytes of the older one are stored. Every offset in a status is durable. Thread-safe.
package struct UploadService: Sendable {
  private let snapshots: SnapshotService
  private let store: any UploadStore
  private let access: AccessPolicy
  let turns = UploadTurns()
  private let clock: DeletionClock
  private let logger: Logger

  /// Creates the service.
  /// - Parameters:
  ///   - snapshots: the service of the published bundles, whose store must be the one that `store` publishes to.
  ///   - store: the store of the uploads.
  ///   - access: checks whether the owner of an upload may still publish it if no request completes the upload.
  ///   - clock: the time by which uploads expire. While it is doubted, none does.
  package init(
    _ snapshots: SnapshotService, store: any UploadStore, access: AccessPolicy = .open,
    clock: DeletionClock = DeletionClock(), logger: Logger
  ) {
    self.snapshots = snapshots
    self.store = store
    self.access = access
    self.clock = clock
    self.logger = logger
  }

  /// The limits of uploads, which are reported to clients.
  package var limits: UploadLimits { store.uploadLimits }

  /// Creates an upload without bytes, and returns once it is durable. An upload that is joined from parts is published
  /// or refused immediately, as its status shows. An upload of length 0 is completed by the first
  /// ``append(_:_:body:of:onProgress:)`` with an empty body.
  ///
  /// This sets the owner and address in `terms`, and in its attachment the token, its limits and, if it has none, a
  /// UUID.
  ///
  /// Throws ``UploadError/forbidden``, ``UploadError/tooLarge(limit:)``,
  /// ``UploadError/inconsistentLength(known:stated:)`` for a negative length, ``UploadError/tooManyOpen(limit:)``,
  /// ``UploadError/termsTooLong(limit:)``, ``UploadError/partCount(limit:)``, ``UploadError/unusablePart(_:)``,
  /// ``UploadError/body(_:)`` for a quota or a failed precondition, or ``UploadError/store(_:)``, also if the UUID is
  /// taken.
  /// - Parameter preconditions: the preconditions of the request.
  package func create(
    _ terms: UploadTerms, if preconditions: Preconditions = Preconditions([:]), of caller: Caller
  ) async throws(UploadError) -> UploadStatus {
    var terms = terms
    terms.owner = caller.account
    terms.address = caller.countedAddress
    if let attachment = terms.attachment {
      do {
        terms.attachment = try await snapshots.admit(
          attachment, bytes: terms.length, if: preconditions, of: caller)
      } catch {
        throw UploadError(error)
      }
    }
    if !terms.isJoined { try admit(terms.length, of: caller) }
    let session = try await store.createUpload(terms)
    guard session.isDue else { return status(of: session, for: caller) }
    return status(
      of: try await turns.take(session.id) { _ throws(UploadError) in
        try await publish(session, of: caller)
      }, for: caller)
  }

  /// Ends the request that is appending to the upload, if any, and returns the status. An upload that is complete but
  /// was not published, because of a crash or for lack of space, is published now if possible.
  ///
  /// Throws ``UploadError/unknown``, ``UploadError/gone`` or ``UploadError/store(_:)``.
  package func status(_ id: UploadID, of caller: Caller) async throws(UploadError) -> UploadStatus {
    _ = try await find(id, of: caller)
    return try await turns.take(id) { _ throws(UploadError) in
      let session = try await find(id, of: caller)
      guard session.isDue else {
        // This response also tells the client that the snapshot is published.
        if snapshots.announcer != nil { try await index(session) }
        return status(of: session, for: caller)
      }
      do {
        return status(of: try await publish(session, of: caller), for: caller)
      } catch {
        logger.warning(
          "An upload can't be published yet", metadata: ["upload": "\(id.abbreviation)", "error": "\(error)"])
        return status(of: session, for: caller)
      }
    }
  }

  /// Ends the request that is appending to the upload, if any, and then appends `body`. If the body breaks off, the
  /// received bytes count, unless the request states a digest or sends more bytes than allowed. If this completes the
  /// upload, it is published or refused; the status reports a refusal, no error is thrown.
  ///
  /// A request with an empty body at the end of a complete upload returns its outcome again. If a request states
  /// whether it completes the upload, and sends more than the upload's length, the upload is removed.
  ///
  /// Bytes are counted against the caller's quotas as they arrive.
  /// - Parameter onProgress: called from time to time with an offset that is durable.
  package func append(
    _ id: UploadID, _ request: AppendRequest, body: HTTPRequestBody, of caller: Caller,
    onProgress: (@Sendable (Int64) async -> Void)? = nil
  ) async throws(UploadError) -> UploadStatus {
    _ = try await find(id, of: caller)
    return try await turns.take(id) { turn throws(UploadError) in
      let known = try await find(id, of: caller)
      try admit(body.declaredLength, of: caller)
      try requireRoom(for: body.declaredLength, after: known, of: caller)
      do throws(UploadError) {
        let session = try await read(body, request, into: id, of: caller, turn, onProgress)
        try await index(session)
        return status(of: session.isDue ? try await publish(session, of: caller) : session, for: caller)
      } catch {
        switch error {
        case .body where turn.isOver: throw .superseded
        // A client that states the end of an upload and then sends more bytes is faulty, so the stored bytes are
        // unreliable too.
        case .exceeded where request.completes != nil: try await store.removeUpload(id)
        default: break
        }
        throw error
      }
    }
  }

  /// The publication behind a status whose outcome is ``UploadOutcome/published(_:isNew:)``, for the response.
  package func publication(_ id: SnapshotID, isNew: Bool) async throws(StoreError) -> Publication {
    let record = try await snapshots.record(id)
    return isNew ? .created(record) : .alreadyThere(record)
  }

  /// Ends the request that is appending to the upload, if any, and removes the upload. A published bundle remains.
  package func terminate(_ id: UploadID, of caller: Caller) async throws(UploadError) {
    _ = try await find(id, of: caller)
    try await turns.take(id) { _ throws(UploadError) in
      _ = try await find(id, of: caller)
      try await store.removeUpload(id)
    }
  }

  // MARK: The parts of it

  /// The session of an upload that belongs to the caller and has not expired.
  private func find(_ id: UploadID, of caller: Caller) async throws(UploadError) -> UploadSession {
    let session = try await store.uploadSession(id)
    guard session.terms.owner == caller.account else { throw .unknown }
    if let now = await expiryTime(), session.isExpired(at: now, limits) { throw .gone }
    return session
  }

  /// The time by which uploads expire; `nil` while none does, because the clock is doubted.
  private func expiryTime() async -> Date? {
    let reading = await clock.read()
    return reading.doubt == nil ? reading.time : nil
  }

  private func read(
    _ body: HTTPRequestBody, _ request: AppendRequest, into id: UploadID, of caller: Caller,
    _ turn: UploadTurn,
    _ onProgress: (@Sendable (Int64) async -> Void)?
  ) async throws(UploadError) -> UploadSession {
    let appending = try await store.beginAppending(request, bytes: body.declaredLength, to: id)
    let reading = BodyReading(
      into: appending, check: request.digest.map(ContentCheck.init), limits: limits, onProgress: onProgress)
    let counted = caller.meter.counting(body)
    return try await turn.reading { await reading.run(counted) }.get()
  }

  private func status(of session: UploadSession, for caller: Caller) -> UploadStatus {
    UploadStatus(
      id: session.id, offset: session.offset, length: session.length, isComplete: session.isWhole,
      expiresAt: session.expiresAt(limits), outcome: Self.outcome(of: session, for: caller),
      terms: session.terms)
  }

  /// How an upload ended, without details that its owner has no right to see.
  private static func outcome(of session: UploadSession, for caller: Caller) -> UploadOutcome? {
    guard case .refused(let refusal) = session.outcome, refusal.reason == .deleted,
      let attachment = session.terms.attachment,
      let told = UploadRefusal(caller.concealing(.deleted, attachment))
    else { return session.outcome }
    return .refused(told)
  }

  private func admit(_ length: Int64?, of caller: Caller) throws(UploadError) {
    do { try caller.meter.admit(length) } catch { throw .body(error) }
  }

  /// Throws if the link of the caller does not allow so many bytes after those of the upload.
  private func requireRoom(
    for length: Int64?, after session: UploadSession, of caller: Caller
  ) throws(UploadError) {
    guard let link = caller.link, session.outcome == nil else { return }
    let (end, overflow) = session.offset.addingReportingOverflow(length ?? 0)
    do {
      try link.requireRoom(for: overflow ? .max : end, as: session.attachment?.id)
    } catch {
      throw .body(error)
    }
  }

  /// Publishes a complete upload under its attachment, or refuses it. A part is returned unchanged.
  private func publish(_ session: UploadSession, of caller: Caller) async throws(UploadError) -> UploadSession
  {
    guard let attachment = session.attachment else { return session }
    // The publication continues if the request is cancelled: otherwise the next request would have to begin it again.
    let work = Task { () async -> Result<UploadSession, UploadError> in
      do {
        return .success(
          try await snapshots.publish(attachment, bytes: session.offset, of: caller) { attachment in
            let ended = try await store.commitUpload(session.id, as: attachment)
            var stored: SnapshotID?
            if case .published(let id, isNew: true) = ended.outcome { stored = id }
            return Committed(ended, try await record(of: ended), stored: stored)
          })
      } catch {
        return .failure(UploadError(error))
      }
    }
    do {
      return try await work.value.get()
    } catch {
      // The link will not allow the bundle later either.
      if case .body(let problem as HTTPProblem) = error,
        [.linkUsedUp, .linkBytesExceeded].contains(ProblemKind(problem))
      {
        try await store.removeUpload(session.id)
      }
      throw error
    }
  }

  /// The caller that publishes an upload if no request does: its owner, with the rights from when it was created.
  private func owner(of session: UploadSession) async throws(UploadError) -> Caller {
    let terms = session.terms
    var owner = Caller(
      Caller.Credential(account: terms.owner), scopes: [.attach],
      limits: CallerLimits(applications: terms.attachment?.applications),
      address: ClientAddress(peer: terms.address ?? ""))
    // Nothing is known of users between requests: those who have sent a whole upload were allowed to.
    if let token = owner.token {
      do { owner.link = try await access.linkUse(ofToken: token) } catch { throw .body(error) }
      owner.requireValid = { [access] () throws(HTTPProblem) in try await access.requireValid(token) }
    }
    return owner
  }

  /// Announces a published upload and adds it to the catalogue again, because the request that published it may have been
  /// interrupted before that.
  private func index(_ session: UploadSession) async throws(UploadError) {
    do {
      if let record = try await record(of: session) { try await snapshots.enter(record) }
    } catch {
      throw UploadError(error)
    }
  }

  /// The record of a published upload; `nil` if it is not published, or if the indexer will read the record later.
  private func record(of session: UploadSession) async throws(StoreError) -> SnapshotRecord? {
    guard case .published(let id, _) = session.outcome else { return nil }
    do {
      return try await snapshots.record(id)
    } catch {
      // The upload is published even if its record can't be read at the moment; but it can't be announced.
      guard let indexer = snapshots.indexer, snapshots.announcer == nil else { throw error }
      indexer.reportMissedChange(of: [id], error)
      return nil
    }
  }

  // MARK: Maintenance

  /// Publishes complete uploads whose publication was prevented by a crash.
  package func publishDue() async {
    for session in await store.uploadSessions() where session.isDue {
      do {
        try await turns.take(session.id) { _ throws(UploadError) in
          let session = try await store.uploadSession(session.id)
          if session.isDue { _ = try await publish(session, of: try await owner(of: session)) }
        }
      } catch {
        log("An upload that is complete can't be published", session.id, error)
      }
    }
  }

  /// Removes expired uploads, unless the clock is doubted.
  /// - Returns: the number of removed uploads.
  @discardableResult
  package func removeExpired() async -> Int {
    guard let now = await expiryTime() else { return 0 }
    var count = 0
    for session in await store.uploadSessions() where session.isExpired(at: now, limits) {
      if Task.isCancelled { break }
      do {
        // The bytes of a request with a digest do not count before its end, so the upload can be in use although its
        // offset is 0.
        if session.offset == 0, turns.count(session.id) > 0, !session.isOverdue(at: now, limits) {
          continue
        }
        try await turns.take(session.id) { _ throws(UploadError) in
          guard try await store.uploadSession(session.id).isExpired(at: now, limits) else { return }
          try await store.removeUpload(session.id)
          count += 1
        }
      } catch {
        log("An upload that has expired can't be removed", session.id, error)
      }
    }
    if count > 0 { logger.info("Removed uploads that had expired", metadata: ["count": "\(count)"]) }
    return count
  }

  /// Publishes due uploads once, and then removes expired ones at every `interval`, until the task is cancelled.
  /// - Parameter sleep: waits for the duration; throws if the task is cancelled.
  package func run(
    every interval: Duration,
    sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  ) async {
    await publishDue()
    while !Task.isCancelled {
      await removeExpired()
      do { try await sleep(interval) } catch { return }
    }
  }

  private func log(_ what: String, _ id: UploadID, _ error: UploadError) {
    if case .unknown = error { return }
    logger.error("\(what)", metadata: ["upload": "\(id.abbreviation)", "error": "\(error)"])
  }
}

extension UploadError {
  /// Wraps an error that ``SnapshotService`` threw.
  fileprivate init(_ error: any Error) {
    switch error {
    case let error as UploadError: self = error
    case let error as StoreError: self = .store(error)
    case let error as HTTPProblem: self = .body(error)
    default: self = .other(error)
    }
  }
}
