package import SnapshotFormat
package import SnapshotStore

extension Caller {
  /// What `find` finds, where it is `visible`; else there is no such snapshot, for all that the caller can tell.
  package func lookUp<Found>(
    _ find: () async throws(StoreError) -> Found, visible: (Found) -> Bool
  ) async throws(StoreError) -> Found {
    let found: Found
    do {
      found = try await find()
    } catch {
      if case .deleted = error, !mayKnowDeleted { throw .notFound }
      throw error
    }
    guard visible(found) else { throw .notFound }
    return found
  }

  /// `attachment` with the caller's rights as they are now; throws ``UploadError/forbidden`` where it may not attach.
  package func authorize(_ attachment: Attachment) throws(UploadError) -> Attachment {
    guard mayAttach(to: attachment.report) else { throw .forbidden }
    var attachment = attachment
    attachment.attachedBy = token
    attachment.applications = limits.applications
    return attachment
  }

  /// What is already under the UUID of an attachment; `nil` for nothing.
  ///
  /// A caller that may not know of it is told that the UUID is taken, in the same words whether it is or was deleted, and
  /// whatever conditions the request states.
  package func existing(
    under attachment: Attachment, _ find: () async throws(StoreError) -> SnapshotRecord?
  ) async throws(StoreError) -> SnapshotRecord? {
    let found: SnapshotRecord?
    do {
      found = try await find()
    } catch {
      throw concealing(error, attachment)
    }
    guard let found else { return nil }
    let isOwn = found.report == attachment.report && limits.include(found)
    guard isOwn || maySeeStatus(of: found) else { throw attachment.taken }
    return found
  }

  /// The error that the caller is told in place of `error`: none may learn from attaching that a snapshot was deleted who
  /// is told by reading that it never was there.
  package func concealing(_ error: StoreError, _ attachment: Attachment) -> StoreError {
    guard case .deleted = error, !mayKnowDeleted else { return error }
    return attachment.taken
  }

  /// As much of `record` as the caller may see: who may only know how a snapshot fares is told nothing that came
  /// beside the bundle.
  package func view(of record: SnapshotRecord) -> SnapshotRecord {
    guard !mayRead(record) else { return record }
    var record = record
    record.metadata = [:]
    if record.attachedBy != token { record.attachedBy = nil }
    return record
  }
}

extension Page {
  /// The page without what is not `visible`; the next one begins where it did.
  package func filtered(_ visible: (SnapshotRecord) -> Bool) -> Page {
    Page(records: records.filter(visible), next: next)
  }
}
