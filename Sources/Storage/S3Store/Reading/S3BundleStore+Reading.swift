import Logging
import S3Client
package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// Records and bundles, as the object store and the cache have them.
extension S3BundleStore {
  /// The record of a bundle.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await states.published(id).record
  }

  /// Opens a bundle for reading. Its bytes are read into a local file, unless they are in the cache.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try await open(id) { _ in true }
  }

  /// Opens a bundle for reading if its record is visible. The record is read once.
  package func open(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> StoredBundle {
    try await openKept(try await find(id, if: isVisible))
  }

  /// Opens a bundle for reading, with its bytes as the object store has them now.
  package func openAnew(_ id: SnapshotID) async throws(StoreError) -> StoredBundle {
    try await open(try await states.published(id)) { key async throws(StoreError) in
      try await self.cache.download(key)
    }
  }

  /// A bundle to be sent. A large one that is not in the cache is sent while it arrives. Its record has no identifiers,
  /// comments and revision if it is settled: see ``/SnapshotStore/SettledRecords``.
  package func contents(
    _ id: SnapshotID, if isVisible: @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> BundleContents {
    let found = try await findToSend(id, if: isVisible)
    let key = ObjectKeys.bytes(id, attempt: found.attempt)
    guard found.record.verified != .damaged, found.record.size > S3StoreLimits.awaitedBundleBytes else {
      let bundle = try await openKept(found)
      return BundleContents(record: bundle.record, bytes: .file(bundle.file))
    }
    if let file = cache.keptFile(key) { return BundleContents(record: found.record, bytes: .file(file)) }
    return BundleContents(
      record: found.record,
      bytes: .arriving { [cache, states] range in
        let pieces = cache.pieces(range, of: key, size: found.record.size)
        return {
          do throws(StoreError) {
            return try await pieces.next()
          } catch {
            // The bytes may be missing because the bundle was deleted in the meantime.
            if case .damaged = error { _ = try await states.published(id) }
            throw error
          }
        }
      })
  }

  /// A URL with which anybody can read a bundle from the object store until `lifetime` has passed. Throws the errors of
  /// ``open(_:)``, except that missing bytes are not noticed.
  package func url(of id: SnapshotID, lifetime: Duration) async throws(StoreError) -> String {
    let found = try await findToSend(id) { _ in true }
    guard found.record.verified != .damaged else { throw .damaged }
    do {
      return try await client.presignedURL(
        ObjectKeys.bytes(id, attempt: found.attempt), lifetime: Int(lifetime / .seconds(1)),
        fields: [
          "response-content-type": "application/zip",
          "response-content-disposition": "attachment; filename=\"\(id).zip\"",
        ])
    } catch {
      throw StoreError(error)
    }
  }

  /// Like ``find(_:if:)``, but with a settled record if there is one.
  private func findToSend(
    _ id: SnapshotID, if isVisible: (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> (record: SnapshotRecord, attempt: SnapshotID) {
    if let settled = await settled(id), isVisible(settled.record) { return settled }
    return try await find(id, if: isVisible)
  }

  /// The record that the database has, if the snapshot was not deleted. What is damaged may have been repaired.
  private func settled(_ id: SnapshotID) async -> (record: SnapshotRecord, attempt: SnapshotID)? {
    guard let records = configuration.settledRecords, journal?.isUnindexed(id) == false else { return nil }
    do {
      guard let record = try await records.settledRecord(id), let attempt = record.attempt,
        record.verified != .damaged
      else { return nil }
      return (record, attempt)
    } catch {
      logger.debug("A record is read from the object store instead", metadata: ["error": "\(error)"])
      return nil
    }
  }

  private func find(
    _ id: SnapshotID, if isVisible: (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> (record: SnapshotRecord, attempt: SnapshotID) {
    let found = try await states.published(id)
    guard isVisible(found.record) else { throw .notFound }
    return found
  }

  private func openKept(
    _ found: (record: SnapshotRecord, attempt: SnapshotID)
  ) async throws(StoreError) -> StoredBundle {
    let bundle = try await open(found) { key async throws(StoreError) in try await self.cache.file(key) }
    let size = try StoreError.disk { () throws(SystemError) in try bundle.file.size }
    guard size == bundle.record.size else { throw .damaged }
    return bundle
  }

  private func open(
    _ found: (record: SnapshotRecord, attempt: SnapshotID),
    _ read: (_ key: String) async throws(StoreError) -> File?
  ) async throws(StoreError) -> StoredBundle {
    let id = found.record.id
    var (record, attempt) = found
    var missing: SnapshotID?
    // If the same bytes are missing again, the record was not changed or deleted in the meantime.
    while record.verified != .damaged, attempt != missing {
      if let file = try await read(ObjectKeys.bytes(id, attempt: attempt)) {
        return StoredBundle(record: record, file: file)
      }
      missing = attempt
      (record, attempt) = try await states.published(id)
    }
    throw .damaged
  }
}
