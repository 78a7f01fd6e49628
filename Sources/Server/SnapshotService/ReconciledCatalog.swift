import SnapshotFormat
import SnapshotStore

/// A catalogue for changes that the store has already made durable. An error of the index must not make them fail, so
/// it is reported to the indexer, which repairs the catalogue later. What it contains is reported to the journal.
struct ReconciledCatalog: Catalog {
  let catalog: any Catalog
  /// The same catalogue for changes, which fail sooner.
  let changes: any Catalog
  let indexer: CatalogIndexer
  let journal: ChangeJournal?

  func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    let written = journal?.written(records) ?? []
    do {
      try await changes.insert(records)
      journal?.settle(written)
    } catch {
      indexer.reportMissedChange(of: records.map(\.id), error)
    }
  }

  func remove(_ id: SnapshotID) async throws(CatalogError) {
    let written = journal?.written(id) ?? []
    do {
      try await changes.remove(id)
      journal?.settle(written)
    } catch {
      indexer.reportMissedRemoval(of: id, error)
    }
  }

  func refresh(_ record: SnapshotRecord, from store: any BundleStore) async throws {
    let written = journal?.written(record.id) ?? []
    do {
      try await changes.refresh(record, from: store)
      journal?.settle(written)
    } catch let error as CatalogError {
      indexer.reportMissedChange(of: [record.id], error)
    }
  }

  /// Returns a page without the snapshots that the catalogue could not remove, so that it can have fewer records.
  func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    var page = try await catalog.page(query, request)
    let removed = indexer.unlisted
    if !removed.isEmpty { page.records.removeAll { removed.contains($0.id) } }
    return page
  }

  func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await catalog.total(query)
  }

  func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await catalog.activity(query, days: days)
  }

  func state() async throws(CatalogError) -> CatalogState { try await changes.state() }

  func complete(generation: Int) async throws(CatalogError) {
    try await catalog.complete(generation: generation)
  }

  func clear() async throws(CatalogError) { try await catalog.clear() }

  func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    try await catalog.ids(in: shard)
  }
}
