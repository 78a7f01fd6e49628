package import SnapshotFormat

/// The records of a catalogue with which bundles can be sent without asking the store whether they are still there.
///
/// A record is settled if the catalogue has it, and ``ChangeIntents`` has no intent of its snapshot except that of its
/// creation. A server writes an intent before it deletes a snapshot, see ``ChangeJournal/prepare(_:needsIntent:)``, and
/// removes the intent after the record was removed from the catalogue. So a snapshot with a settled record is not deleted,
/// unless the deletion is not answered yet.
package protocol SettledRecords: Sendable {
  /// The record of a snapshot without its identifiers, comments and revision, but with
  /// ``/SnapshotFormat/SnapshotRecord/attempt``; `nil` if it is not settled, which says nothing about the store.
  ///
  /// Other changes than a deletion are possibly missing in the record, while the database did not answer the server that
  /// made them.
  func settledRecord(_ id: SnapshotID) async throws(CatalogError) -> SnapshotRecord?
}
