package import AccessControl
package import Foundation
package import HTTPEngine
package import HTTPSemantics
import HTTPTypes
package import Logging
import Observability
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Uploads that go on where they stopped: what every protocol for them calls. It knows of no request's head and of no
/// status code.
///
/// An upload belongs to the token that opened it: to all others there is none. Its requests take turns: a newer one
/// first ends the body of the older, which throws ``UploadError/superseded``, and begins when what that brought counts.
/// Whatever a status says of the offset has been made to last before. Safe to use from any task.
package struct UploadService: Sendable {
  let snapshots: SnapshotService
  let store: any UploadStore
  let access: AccessPolicy
  let turns = UploadTurns()
  let now: @Sendable () -> Date
  let logger: Logger

  /// Takes uploads into `store`, which publishes them as bundles of the one that `snapshots` serves.
  /// - Parameters:
  ///   - access: knows whether the owner of an upload that no request completes may still publish it.
  ///   - now: the time of day.
  package init(
    _ snapshots: SnapshotService, store: any UploadStore, access: AccessPolicy = .open,
    now: @escaping @Sendable () -> Date = { Date() }, logger: Logger
  ) {
    self.snapshots = snapshots
    self.store = store
    self.access = access
    self.now = now
    self.logger = logger
  }

  /// How much is taken on; told to clients.
  package var limits: UploadLimits { store.uploadLimits }

  /// Opens an upload, nothing of whose body is there yet; lasts when it returns. One that is joined from parts is
  /// published or refused then, which its status tells; one of no bytes is complete with the first
  /// ``append(_:_:body:of:onProgress:)`` of nothing.
  ///
  /// The owner, the address, and in the attachment the token, its limits and, where there is none, a UUID, are filled in here.
  /// - Parameter preconditions: those of the request; where one does not hold, ``UploadError/body(_:)`` says so.
  ///
  /// Throws ``UploadError/forbidden``, ``UploadError/tooLarge(limit:)``,
  /// ``UploadError/inconsistentLength(known:stated:)`` for a negative length, ``UploadError/tooManyOpen(limit:)``,
  /// ``UploadError/termsTooLong(limit:)``, ``UploadError/partCount(limit:)``, ``UploadError/unusablePart(_:)``,
  /// ``UploadError/body(_:)`` for a quota, or ``UploadError/store(_:)``, which is also what a UUID says that is taken.
  package func create(
    _ terms: UploadTerms, if preconditions: Preconditions = Preconditions([:]), of caller: Caller
  ) async throws(UploadError) -> UploadStatus {
    var terms = terms
    terms.owner = caller.token
    terms.address = caller.countedAddress
    if let attachment = terms.attachment {
      do {
        terms.attachment = try await snapshots.admit(attachment, if: preconditions, of: caller)
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

  /// Ends whatever request still appends to the upload, then says how far it is. One that is complete and was not
  /// published, because of a crash or for want of room, is published now, if that is possible.
  ///
  /// Throws ``UploadError/unknown``, ``UploadError/gone`` or ``UploadError/store(_:)``.
  package func status(_ id: UploadID, of caller: Caller) async throws(UploadError) -> UploadStatus {
    _ = try await find(id, of: caller)
    return try await turns.take(id) { _ throws(UploadError) in
      let session = try await find(id, of: caller)
      guard session.isDue else { return status(of: session, for: caller) }
      do throws(UploadError) {
        return status(of: try await publish(session, of: caller), for: caller)
      } catch {
        logger.warning(
          "An upload can't be published yet", metadata: ["upload": "\(id.abbreviation)", "error": "\(error)"])
        return status(of: session, for: caller)
      }
    }
  }

  /// Ends whatever request still appends to the upload, then appends `body` as far as it comes: what came counts even
  /// where it breaks off, unless a digest was to be looked at, or more came than may. Where the upload is complete with
  /// it, it is published or refused, which the status tells rather than an error.
  ///
  /// An empty body at the end of a complete upload asks for its outcome once more. A request that says whether the upload
  /// is complete with it, and brings more than the upload's length, is the end of the upload.
  ///
  /// Bytes are counted against the caller's quotas as they come.
  /// - Parameter onProgress: told, in between, of offsets that last by then.
  package func append(
    _ id: UploadID, _ request: AppendRequest, body: HTTPRequestBody, of caller: Caller,
    onProgress: (@Sendable (Int64) async -> Void)? = nil
  ) async throws(UploadError) -> UploadStatus {
    _ = try await find(id, of: caller)
    return try await turns.take(id) { turn throws(UploadError) in
      _ = try await find(id, of: caller)
      try admit(body.declaredLength, of: caller)
      do throws(UploadError) {
        let session = try await read(body, request, into: id, of: caller, turn, onProgress)
        try await index(session)
        return status(of: session.isDue ? try await publish(session, of: caller) : session, for: caller)
      } catch {
        switch error {
        case .body where turn.isOver: throw .superseded
        // Who says when an upload ends, and then sends more, can't be trusted with what is there.
        case .exceeded where request.completes != nil: try await store.removeUpload(id)
        default: break
        }
        throw error
      }
    }
  }

  /// What an upload was published as: for the answer to a status whose outcome says so.
  package func publication(_ id: SnapshotID, isNew: Bool) async throws(StoreError) -> Publication {
    let record = try await snapshots.record(id)
    return isNew ? .created(record) : .alreadyThere(record)
  }

  /// Ends whatever request still appends to the upload, and forgets it; what is published stays.
  package func terminate(_ id: UploadID, of caller: Caller) async throws(UploadError) {
    _ = try await find(id, of: caller)
    try await turns.take(id) { _ throws(UploadError) in
      _ = try await find(id, of: caller)
      try await store.removeUpload(id)
    }
  }

  // MARK: The parts of it

  /// An upload of the caller's.
  private func find(_ id: UploadID, of caller: Caller) async throws(UploadError) -> UploadSession {
    let session = try await store.uploadSession(id)
    guard session.terms.owner == caller.token else { throw .unknown }
    guard !session.isExpired(at: now(), limits) else { throw .gone }
    return session
  }

  private func read(
    _ body: HTTPRequestBody, _ request: AppendRequest, into id: UploadID, of caller: Caller,
    _ turn: UploadTurn,
    _ onProgress: (@Sendable (Int64) async -> Void)?
  ) async throws(UploadError) -> UploadSession {
    let appending = try await store.beginAppending(request, bytes: body.declaredLength, to: id)
    let reading = BodyReading(
      caller.meter.counting(body), into: appending, check: request.digest.map(ContentCheck.init),
      limits: limits, onProgress: onProgress)
    return try await turn.reading { await reading.run() }.get()
  }

  private func status(of session: UploadSession, for caller: Caller) -> UploadStatus {
    UploadStatus(
      id: session.id, offset: session.offset, length: session.length, isComplete: session.isWhole,
      expiresAt: session.expiresAt(limits), outcome: Self.outcome(of: session, for: caller),
      terms: session.terms)
  }

  /// How an upload ended, as far as its owner may know it.
  private static func outcome(of session: UploadSession, for caller: Caller) -> UploadOutcome? {
    guard case .refused(let refusal) = session.outcome, refusal.reason == .deleted,
      let attachment = session.terms.attachment,
      let told = UploadRefusal(caller.concealing(.deleted, attachment))
    else { return session.outcome }
    return .refused(told)
  }

  private func admit(_ length: Int64?, of caller: Caller) throws(UploadError) {
    do throws(HTTPProblem) { try caller.meter.admit(length) } catch { throw .body(error) }
  }

  /// Publishes an upload that is complete, or refuses it, as its terms say.
  func publish(_ session: UploadSession, of caller: Caller) async throws(UploadError) -> UploadSession {
    guard let attachment = session.terms.attachment else { return session }
    // Once begun it is not given up with the request: the next one would begin it again.
    let work = Task { () async -> Result<UploadSession, UploadError> in
      do {
        return .success(
          try await snapshots.publish(attachment, of: caller) { attachment in
            let ended = try await store.commitUpload(session.id, as: attachment)
            return (ended, try await record(of: ended))
          })
      } catch {
        return .failure(UploadError(error))
      }
    }
    return try await work.value.get()
  }

  /// Who publishes an upload that no request completes: its owner, with the rights of when it was opened.
  func owner(of session: UploadSession) -> Caller {
    let (token, terms) = (session.terms.owner, session.terms)
    var owner = Caller(
      token.map(Caller.Credential.token) ?? .none, scopes: [.attach],
      limits: CallerLimits(applications: terms.attachment?.applications), address: terms.address ?? "")
    if let token {
      owner.requireValid = { [access] () throws(HTTPProblem) in try await access.requireValid(token) }
    }
    return owner
  }

  /// Adds a published upload to the catalogue again: the request that published it may have ended before that.
  private func index(_ session: UploadSession) async throws(UploadError) {
    do {
      if let record = try await record(of: session) { try await snapshots.catalog.insert(record) }
    } catch {
      throw UploadError(error)
    }
  }

  /// The record of a published upload; `nil` where it is not published, or where the indexer reads the record later.
  private func record(of session: UploadSession) async throws(StoreError) -> SnapshotRecord? {
    guard case .published(let id, _) = session.outcome else { return nil }
    do {
      return try await snapshots.record(id)
    } catch {
      // It is published, whether or not its record can be read at the moment.
      guard let indexer = snapshots.indexer else { throw error }
      indexer.noteMissedChange(of: [id], error)
      return nil
    }
  }
}

extension UploadError {
  /// What the common part of all uploads has thrown.
  fileprivate init(_ error: any Error) {
    switch error {
    case let error as UploadError: self = error
    case let error as StoreError: self = .store(error)
    case let error as HTTPProblem: self = .body(error)
    default: self = .other(error)
    }
  }
}
