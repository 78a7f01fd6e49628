package import SnapshotFormat
package import SnapshotStore

/// A store from which clients can read bundles themselves.
package protocol BundleLinks: Sendable {
  /// Returns a URL with which anybody can read a bundle for a short time. Throws the errors of ``BundleStore/open(_:)``.
  func url(of id: SnapshotID) async throws(StoreError) -> String
}

/// The operations on snapshots: fetch, list, change and delete, and what follows the publication of an upload. They know
/// nothing of HTTP.
///
/// The store is authoritative, and the catalogue is its index. A bundle is published before it is added to the index,
/// and deleted before it is removed from it. If the store has made a change durable, the operation succeeds even if the
/// catalogue fails; the indexer repairs the catalogue later. Safe to use from any task.
package struct SnapshotService: Sendable {
  package let store: any BundleStore & UploadStore
  package let catalog: any Catalog
  /// The indexer that keeps the catalogue consistent with the store; `nil` if it always is.
  package let indexer: CatalogIndexer?
  /// Makes the addresses of bundles; `nil` if the service sends all bundles itself.
  package let links: (any BundleLinks)?
  /// Makes bundles of files in another format; `nil` accepts bundles only.
  package let converter: (any BundleConverter)?
  /// Tells others of changes; `nil` if nobody wants to know.
  package let announcer: (any ChangeAnnouncer)?

  /// Creates a service for the bundles in `store`, listed by `catalog`, which `indexer` maintains.
  /// - Parameters:
  ///   - links: makes the addresses to which downloads are redirected; `nil` sends them here.
  ///   - converter: makes bundles of files in another format that are uploaded in forms; `nil` accepts bundles only.
  ///   - announcer: tells others of changes, before the calls that made them return.
  package init(
    store: any BundleStore & UploadStore, catalog: any Catalog, indexer: CatalogIndexer? = nil,
    links: (any BundleLinks)? = nil, converter: (any BundleConverter)? = nil,
    announcer: (any ChangeAnnouncer)? = nil
  ) {
    self.links = links
    self.converter = converter
    self.announcer = announcer
    self.store = store
    self.catalog = indexer?.reconciled ?? catalog
    self.indexer = indexer
  }

  /// Returns the record of a snapshot.
  package func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.record(id)
  }

  /// Returns the record of a snapshot, or `nil` if there never was one.
  package func recordIfPresent(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord? {
    do {
      return try await store.record(id)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  /// Opens a bundle for reading.
  package func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await store.open(id) }

  /// Returns one page of the records that `query` finds, newest first.
  package func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try await catalog.page(query, request)
  }

  /// Returns the number of records that `query` finds.
  package func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try await catalog.total(query)
  }

  /// Returns the activity on each of `days`, for the records that `query` finds.
  package func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try await catalog.activity(query, days: days)
  }

  /// Returns the progress of indexing, or `nil` if there is no indexer.
  package func indexingProgress() async throws(CatalogError) -> CatalogIndexer.Progress? {
    guard let indexer, indexer.progress == .ready else { return indexer?.progress }
    // The catalogue may have been lost since the indexer checked it.
    return try await catalog.state().extent == .nothing ? .indexing(share: 0, records: 0) : .ready
  }

  /// The share of the storage that is repaired and compared with the catalogue, from 0 to 1; `nil` if nothing remains.
  package var recoveredShare: Double? {
    let repaired = 1 - Double(store.remainingRepairs) / Double(SnapshotShard.allCases.count)
    let compared = indexer?.comparison
    return compared == nil && repaired == 1 ? nil : min(compared ?? 1, repaired)
  }

  /// Changes the record, and returns the new one.
  @discardableResult
  package func change(_ change: RecordChange, of id: SnapshotID) async throws -> SnapshotRecord {
    let record = try await store.change(change, of: id)
    try await catalog.refresh(record, from: store)
    return record
  }

  /// Adds a comment to the record, and returns it as it was stored.
  package func comment(_ comment: SnapshotComment, on id: SnapshotID) async throws -> SnapshotComment {
    let record = try await change(RecordChange(comment: comment), of: id)
    let index = record.comments?.lastIndex { $0.text == comment.text && $0.token == comment.token }
    guard let index, let stored = record.comments?[index] else { return comment }
    try await announcer?.commented(record, at: index)
    return stored
  }

  /// Deletes a snapshot permanently.
  package func delete(_ id: SnapshotID) async throws {
    try await announcer?.prepareDeletion(of: id, in: store)
    do {
      try await store.delete(id)
    } catch StoreError.deleted {
      try await completeDeletion(of: id)
      throw StoreError.deleted
    }
    try await completeDeletion(of: id)
  }

  /// Announces a published snapshot, and adds it to the catalogue.
  package func enter(_ record: SnapshotRecord) async throws {
    try await announcer?.attached(record)
    try await catalog.insert(record)
  }

  /// Announces that a snapshot was deleted, and removes it from lists. The call that deleted it may have ended before it did
  /// that, or even its server.
  package func completeDeletion(of id: SnapshotID) async throws {
    try await announcer?.deleted(id)
    try await catalog.remove(id)
  }
}
