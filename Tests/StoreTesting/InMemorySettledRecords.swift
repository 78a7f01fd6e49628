package import SnapshotFormat
package import SnapshotStore

/// The settled records of a catalogue and notes in memory.
package struct InMemorySettledRecords: SettledRecords {
  private let catalog: InMemoryCatalog
  private let notes: InMemoryChangeNotes

  /// The records of `catalog` that `notes` say nothing about.
  package init(_ catalog: InMemoryCatalog, notes: InMemoryChangeNotes) {
    (self.catalog, self.notes) = (catalog, notes)
  }

  package func settledRecord(_ id: SnapshotID) async throws(CatalogError) -> SnapshotRecord? {
    guard notes.isAvailable else { throw .unavailable("for the test") }
    guard !notes.all.contains(where: { $0.snapshot == id && !$0.isCreation }),
      let record = catalog.record(id), record.attempt != nil
    else { return nil }
    return record.settled
  }
}
