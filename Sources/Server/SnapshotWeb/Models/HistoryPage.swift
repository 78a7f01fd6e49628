package import Observability
package import SnapshotFormat

/// The page `/snapshots/{id}/history`: who attached, read and changed a snapshot, for administrators.
package struct HistoryPage: Sendable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// The actions on it.
  package var trail: AuditTrail
  /// The names of the tokens in the actions, by their ids.
  package var tokenNames: [String: String]

  /// Creates a page.
  package init(record: SnapshotRecord, trail: AuditTrail, tokenNames: [String: String] = [:]) {
    self.record = record
    self.trail = trail
    self.tokenNames = tokenNames
  }
}
