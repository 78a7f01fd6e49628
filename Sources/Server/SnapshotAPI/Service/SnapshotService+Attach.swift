import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotFormat
import SnapshotStore

/// What every upload goes through, whether it comes as a plain request, a form, by tus or by the IETF's draft: it is
/// admitted before its bytes come, and published when it has all of them.
extension SnapshotService {
  /// Lets an upload begin. What is bound to be refused in the end is refused here, before any byte comes.
  ///
  /// Throws ``UploadError/forbidden``, a ``StoreError`` for a UUID that is taken, or the problem of a condition that does
  /// not hold.
  /// - Parameter preconditions: those of the request that opens the upload.
  /// - Returns: `attachment` with the caller's rights, and with a new UUID where it has none.
  func admit(
    _ attachment: Attachment, if preconditions: Preconditions, of caller: Caller
  ) async throws -> Attachment {
    var admitted = try caller.authorize(attachment)
    guard let id = attachment.id else {
      admitted.id = SnapshotID()
      return admitted
    }
    if preconditions.isCreateOnly { admitted.createOnly = true }
    let existing = try await caller.existing(under: admitted) { () throws(StoreError) in
      try await recordIfPresent(id)
    }
    let verdict = preconditions.verdict(.put, on: existing.map(SnapshotRoutes.validators))
    // `If-None-Match: *` has an answer of its own where the UUID is taken.
    guard verdict == .proceed || admitted.createOnly && existing != nil else {
      throw HTTPProblem.preconditionFailed()
    }
    if let existing { try admitted.requireRepeat(of: existing, sha256: attachment.expected) }
    return admitted
  }

  /// Takes a bundle in that comes in one request, as an upload of which nothing is kept where it fails.
  ///
  /// However `receive` ends, the upload is committed or discarded, by cancellation too.
  /// - Parameters:
  ///   - length: how many bytes the bundle has at least, as far as that is known.
  ///   - receive: appends the bytes, and returns what came along with them.
  func attach(
    expecting length: Int64?, of caller: Caller,
    _ receive: (any BundleUpload) async throws -> Attachment
  ) async throws -> Publication {
    let upload = try await store.beginUpload(expecting: length)
    do {
      return try await publish(try await receive(upload), of: caller) { attachment in
        let publication = try await upload.commit(attachment)
        return (publication, publication.record)
      }
    } catch {
      await upload.discard()
      throw error
    }
  }

  /// Publishes an upload that has all of its bytes, and adds it to the catalogue. The caller's rights are those of now:
  /// its token may have ended while the bytes came.
  /// - Parameter commit: has the store publish the upload, and returns the record, if there is one to be indexed.
  func publish<Ended>(
    _ attachment: Attachment, of caller: Caller,
    commit: (Attachment) async throws -> (ended: Ended, record: SnapshotRecord?)
  ) async throws -> Ended {
    try await caller.requireValid()
    let attachment = try caller.authorize(attachment)
    do {
      let (ended, record) = try await commit(attachment)
      // One that was there already is indexed again: the upload that brought it may have ended before that.
      if let record { try await catalog.insert(record) }
      return ended
    } catch let error as StoreError {
      throw caller.concealing(error, attachment)
    }
  }
}
