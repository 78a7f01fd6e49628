package import SnapshotFormat
package import SnapshotStore
import StoreTesting
package import SystemIO

/// A catalogue whose writes fail, or which does not answer, while a test says so.
package final class FailingCatalog: Catalog {
  /// Whether writes fail.
  package let isFailing = Lock(false)
  /// Whether reads fail.
  package let isUnavailable = Lock(false)
  private let catalog = InMemoryCatalog()
  private let duringList = Lock<(@Sendable (SnapshotShard) async -> Void)?>(nil)

  /// Creates an empty catalogue that works.
  package init() {}

  /// Lets `work` happen before the ids of a shard are listed.
  package func beforeLists(_ work: (@Sendable (SnapshotShard) async -> Void)?) {
    duringList.withLock { $0 = work }
  }

  private func check() throws(CatalogError) {
    if isFailing.value { throw .failed("as it was told") }
  }

  private func requireAnswer() throws(CatalogError) {
    if isUnavailable.value { throw .unavailable("as it was told") }
  }

  package func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    try check()
    try await catalog.insert(records)
  }

  package func remove(_ id: SnapshotID) async throws(CatalogError) {
    try check()
    try await catalog.remove(id)
  }

  package func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try requireAnswer()
    return try await catalog.page(query, request)
  }

  package func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try requireAnswer()
    return try await catalog.total(query)
  }

  package func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try requireAnswer()
    return try await catalog.activity(query, days: days)
  }

  package func state() async throws(CatalogError) -> CatalogState {
    try requireAnswer()
    return try await catalog.state()
  }
  package func complete(generation: Int) async throws(CatalogError) {
    try await catalog.complete(generation: generation)
  }
  package func clear() async throws(CatalogError) { try await catalog.clear() }
  package func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    await duringList.withLock(\.self)?(shard)
    return try await catalog.ids(in: shard)
  }
}
