package import SnapshotFormat
package import SnapshotStore

extension SnapshotService {
  /// Changes what may change of a record, and returns it as it is then.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws -> SnapshotRecord {
    let record = try await store.change(change, of: id)
    try await catalog.refresh(record, from: store)
    return record
  }
}
