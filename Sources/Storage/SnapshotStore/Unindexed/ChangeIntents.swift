package import SnapshotFormat

/// One change of a bundle or its record, which its catalogue possibly lacks.
package struct ChangeIntent: Sendable, Hashable {
  /// Identifies the change.
  package let number: SnapshotID
  /// The snapshot that is changed.
  package let snapshot: SnapshotID
  /// Whether the change creates the snapshot: see ``SettledRecords``.
  package let isCreation: Bool

  /// Creates a change from its parts.
  package init(_ number: SnapshotID, of snapshot: SnapshotID, isCreation: Bool = false) {
    (self.number, self.snapshot, self.isCreation) = (number, snapshot, isCreation)
  }
}

/// The intents of changes that the catalogue of a shared store possibly lacks. They are lost together with the catalogue,
/// and never without it.
///
/// Every method is one atomic and durable change. If it throws, it is unknown whether the change was made. Ages are
/// measured with one clock for all servers. All methods throw ``CatalogError/unavailable(_:)`` if the database does not
/// answer.
package protocol ChangeIntents: Sendable {
  /// Adds intents, or makes them new again if they exist, and removes others.
  func write(_ added: [ChangeIntent], removing ended: [ChangeIntent]) async throws(CatalogError)
  /// Returns the oldest intents that are older than `age`, at most `limit`.
  func overdue(_ age: Duration, limit: Int) async throws(CatalogError) -> [ChangeIntent]
  /// Removes those of `intents` that are still older than `age`.
  func remove(_ intents: [ChangeIntent], olderThan age: Duration) async throws(CatalogError)
}

/// The marks in a shared store itself, each of which says that changes were made without ``ChangeIntents``.
package protocol ChangeMarks: Sendable {
  /// Makes a new mark durable, and returns its name, which is never used again.
  func create() async throws(StoreError) -> String
  /// Removes a mark. Has no effect if it does not exist.
  func remove(_ name: String) async throws(StoreError)
  /// Returns the marks that are older than `age`.
  func overdue(_ age: Duration) async throws(StoreError) -> [String]
}

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
