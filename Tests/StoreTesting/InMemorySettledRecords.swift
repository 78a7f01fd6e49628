package import SnapshotFormat
package import SnapshotStore

/// The settled records of a catalogue and intents in memory.
package struct InMemorySettledRecords: SettledRecords {
  private let catalog: InMemoryCatalog
  private let intents: InMemoryChangeIntents

  /// The records of `catalog` that `intents` say nothing about.
  package init(_ catalog: InMemoryCatalog, intents: InMemoryChangeIntents) {
    (self.catalog, self.intents) = (catalog, intents)
  }

  package func settledRecord(_ id: SnapshotID) async throws(CatalogError) -> SnapshotRecord? {
    guard intents.isAvailable else { throw .unavailable("for the test") }
    guard !intents.all.contains(where: { $0.snapshot == id && !$0.isCreation }),
      let record = catalog.record(id), record.attempt != nil
    else { return nil }
    return record.settled
  }
}
