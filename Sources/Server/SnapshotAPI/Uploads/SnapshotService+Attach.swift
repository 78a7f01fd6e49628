import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
package import SnapshotService
package import SnapshotStore

/// The steps that all uploads share, whether they use a plain request, a form, tus or the IETF draft: an upload is
/// admitted before its bytes arrive, and published once it is complete.
extension SnapshotService {
  /// Receives a bundle in a single request, and publishes it.
  /// - Parameter check: checks and changes the metadata that was sent with the bundle, before it is published. If it
  ///   throws, nothing is stored.
  package func receive(
    _ attachment: Attachment, _ call: APIRequest, limits: ServiceLimits,
    check: @Sendable (inout Attachment) throws -> Void = { _ in }
  ) async throws -> Publication {
    let intake = try UploadIntake(
      call.request, limits: limits, meter: call.caller.meter, converter: converter)
    var attachment = attachment
    attachment.expected = intake.expected
    do {
      let admitted = try await admit(
        attachment, bytes: intake.leastLength, if: Preconditions(call.request.headerFields), of: call.caller)
      return try await attach(
        admitted, limit: limits.bundleBytes, expecting: intake.leastLength, of: call.caller
      ) { reading in
        var received = try await intake.receive(admitted, by: reading)
        try check(&received)
        return received
      }
    } catch let error as UploadError {
      throw UploadFailure(error)
    }
  }

  /// Admits an upload. If it is certain to be refused in the end, it is refused here, before any byte arrives.
  ///
  /// Throws ``UploadError/forbidden``, a ``StoreError`` if the UUID is taken, or an ``HTTPProblem`` if a precondition
  /// fails.
  /// - Parameters:
  ///   - bytes: the length of the bundle, or the least that it has; `nil` if it is not known.
  ///   - preconditions: the preconditions of the request that creates the upload.
  /// - Returns: `attachment` with the caller's rights. If it has no UUID, the store chooses one when it publishes: the
  ///   manifest's is not known yet.
  func admit(
    _ attachment: Attachment, bytes: Int64?, if preconditions: Preconditions, of caller: Caller
  ) async throws -> Attachment {
    var admitted = try caller.authorize(attachment)
    try caller.link?.requireRoom(for: bytes, as: attachment.id)
    guard let id = attachment.id else { return admitted }
    if preconditions.isCreateOnly { admitted.createOnly = true }
    let existing = try await caller.existing(under: admitted) { () throws(StoreError) in
      try await recordIfPresent(id)
    }
    let verdict = preconditions.verdict(.put, on: existing.map(SnapshotRoutes.validators))
    // If the UUID is taken, `If-None-Match: *` is answered with an error of its own.
    guard verdict == .proceed || admitted.createOnly && existing != nil else {
      throw HTTPProblem.preconditionFailed()
    }
    if let existing { try admitted.requireRepeat(of: existing, sha256: attachment.expected) }
    return admitted
  }

  /// Receives a bundle that arrives in a single request. If that fails, nothing of the upload is kept.
  ///
  /// When `receive` returns or throws, the upload is committed or discarded. This includes cancellation.
  /// - Parameters:
  ///   - attachment: the attachment as it was admitted.
  ///   - limit: the most bytes that the bundle may have.
  ///   - length: the least number of bytes that the bundle has, if known.
  ///   - receive: reads the bytes, and returns the attachment with the metadata that arrived with them.
  func attach(
    _ attachment: Attachment, limit: Int64, expecting length: Int64?, of caller: Caller,
    _ receive: (BodyReading) async throws -> Attachment
  ) async throws -> Publication {
    let terms = UploadTerms(.whole(attachment), owner: caller.account, dialect: "plain")
    do {
      let upload = try await store.beginTransientUpload(terms, limit: limit, expecting: length)
      do {
        let reading = BodyReading(into: upload, limits: store.uploadLimits)
        let received = try await receive(reading)
        return try await publish(received, bytes: reading.count, of: caller) { attachment in
          let publication = try await upload.commit(attachment)
          let isNew = if case .created = publication { true } else { false }
          return Committed(publication, publication.record, stored: isNew ? publication.record.id : nil)
        }
      } catch {
        await upload.discard()
        throw error
      }
    } catch let error as UploadError {
      throw error.asPlain
    }
  }

  /// Publishes a complete upload, announces it, and adds it to the catalogue. The caller's rights are checked again: its
  /// token may have been revoked while the bytes arrived.
  /// - Parameters:
  ///   - bytes: the length of the bundle.
  ///   - commit: publishes the upload in the store.
  func publish<Ended>(
    _ attachment: Attachment, bytes: Int64, of caller: Caller,
    commit: (Attachment) async throws -> Committed<Ended>
  ) async throws -> Ended {
    try await caller.requireValid()
    let attachment = try caller.authorize(attachment)
    do {
      let committed =
        if let link = caller.link {
          try await link.counting(bytes, as: attachment.id) {
            try await commit(attachment)
          } stored: {
            $0.stored
          } storedNothing: {
            ($0 as? StoreError)?.leavesNothing ?? false
          }
        } else {
          try await commit(attachment)
        }
      // An existing record is announced and indexed again, because the request that published it may have been
      // interrupted before that.
      if let record = committed.record { try await enter(record) }
      return committed.ended
    } catch let error as StoreError {
      throw caller.concealing(error, attachment)
    }
  }
}

/// What a store did with a complete upload.
struct Committed<Ended> {
  let ended: Ended
  /// The record to index, if there is one.
  let record: SnapshotRecord?
  /// The snapshot that was stored; `nil` if the upload was refused, or if the same bundle was there before.
  let stored: SnapshotID?

  init(_ ended: Ended, _ record: SnapshotRecord?, stored: SnapshotID?) {
    (self.ended, self.record, self.stored) = (ended, record, stored)
  }
}

extension StoreError {
  /// Whether it is certain that nothing was stored after this error.
  fileprivate var leavesNothing: Bool {
    switch self {
    case .unavailable, .system, .invalid(.system), .damaged: false
    default: true
    }
  }
}

extension UploadError {
  /// The error to throw for a transient upload. Nothing of the upload is kept, so only the cause matters.
  fileprivate var asPlain: any Error {
    switch self {
    case .store(let error): error
    case .body(let error): error
    case .tooLarge(let limit): HTTPProblem.tooLarge(limit: limit)
    default: self
    }
  }
}
