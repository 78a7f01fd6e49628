import SnapshotFormat
import SnapshotStore

extension Caller {
  /// What `find` finds, where it is `visible`; else there is no such snapshot, for all that the caller can tell.
  func lookUp<Found>(
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

  /// As much of `record` as the caller may see: who may only know how a snapshot fares is told nothing that came
  /// beside the bundle.
  func view(of record: SnapshotRecord) -> SnapshotRecord {
    guard !mayRead(record) else { return record }
    var record = record
    record.metadata = [:]
    if record.attachedBy != token { record.attachedBy = nil }
    return record
  }
}
