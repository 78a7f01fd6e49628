public import SnapshotFormat
public import SnapshotStore

/// What the server does with snapshots: attach, fetch, list, delete. It knows of no request.
///
/// The store is the truth and the catalogue its index: a bundle is published first and indexed then, and deleted
/// first and taken out of the index then. Safe to use from any task.
public struct SnapshotService: Sendable {
  let store: any BundleStore
  let catalog: any Catalog

  /// Serves what `store` keeps, listed by `catalog`.
  public init(store: any BundleStore, catalog: any Catalog) {
    self.store = store
    self.catalog = catalog
  }

  /// Brings the catalogue up to date with the store; to be awaited before the first request is answered.
  public func index() async throws {
    for record in try await store.allRecords() { try await catalog.insert(record) }
  }

  /// Takes a bundle in: `receive` appends its bytes to the upload and says what it is to be attached to.
  ///
  /// However `receive` ends, the upload is committed or discarded, by cancellation too.
  /// - Parameter length: how many bytes the bundle has at least, as far as that is known.
  public func attach(
    expecting length: Int64? = nil, _ receive: (any BundleUpload) async throws -> Attachment
  ) async throws -> Publication {
    let upload = try await store.beginUpload(expecting: length)
    let publication: Publication
    do {
      let attachment = try await receive(upload)
      publication = try await upload.commit(attachment)
    } catch {
      await upload.discard()
      throw error
    }
    // One that was there already is indexed again: the upload that brought it may have ended before that.
    try await catalog.insert(publication.record)
    return publication
  }

  /// The record of a snapshot.
  public func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.record(id)
  }

  /// The record of a snapshot, `nil` where there never was one.
  public func recordIfPresent(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord? {
    do {
      return try await store.record(id)
    } catch {
      if case .notFound = error { return nil }
      throw error
    }
  }

  /// A bundle, open for reading.
  public func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await store.open(id) }

  /// One page of what is attached to `report`, or to any where it is `nil`, newest first.
  public func records(of report: ReportID?, page: PageRequest) async throws -> Page {
    try await catalog.records(of: report, page: page)
  }

  /// Deletes a snapshot for good.
  public func delete(_ id: SnapshotID) async throws {
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
