import Observability
package import SnapshotFormat
package import SnapshotStore

/// What the server does with snapshots: attach, fetch, list, delete. It knows of no request.
///
/// The store is the truth and the catalogue its index: a bundle is published first and indexed then, and deleted
/// first and taken out of the index then. What the store has made durable is answered as done even where the catalogue
/// fails; its indexer makes up for that. Safe to use from any task.
package struct SnapshotService: Sendable {
  let store: any BundleStore
  let catalog: any Catalog
  /// What keeps the catalogue true to the store; `nil` where it is so from the start.
  let indexer: CatalogIndexer?

  /// Serves what `store` keeps, listed by `catalog`, which `indexer` looks after.
  package init(store: any BundleStore, catalog: any Catalog, indexer: CatalogIndexer? = nil) {
    self.store = store
    self.catalog = indexer?.reconciled ?? catalog
    self.indexer = indexer
  }

  /// The record of a snapshot.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.record(id)
  }

  /// The record of a snapshot, `nil` where there never was one.
  package func recordIfPresent(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord? {
    do {
      return try await store.record(id)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  /// A bundle, open for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await store.open(id) }

  /// One page of the records that `query` finds, newest first.
  package func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await catalog.page(query, request)
  }

  /// How many records `query` finds.
  package func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await catalog.total(query)
  }

  /// How much arrived on each of `days`, of the records that `query` finds.
  package func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await catalog.activity(query, days: days)
  }

  /// How far the catalogue is; `nil` where nothing has to look after it.
  func indexingProgress() async throws(CatalogError) -> CatalogIndexer.Progress? {
    guard let indexer, indexer.progress == .ready else { return indexer?.progress }
    // It may have been lost since it was looked after.
    return try await catalog.state().extent == .nothing ? .indexing(share: 0, records: 0) : .ready
  }

  /// Deletes a snapshot for good.
  package func delete(_ id: SnapshotID) async throws {
    do {
      try await store.delete(id)
    } catch StoreError.deleted {
      // The call that deleted it may have ended before it reached the catalogue.
      try await catalog.remove(id)
      throw StoreError.deleted
    }
    try await catalog.remove(id)
  }
}
