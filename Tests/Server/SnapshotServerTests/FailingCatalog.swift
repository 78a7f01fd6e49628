import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO

/// A catalogue whose writes fail, or which does not answer, while a test says so.
final class FailingCatalog: Catalog {
  let isFailing = Lock(false)
  let isUnavailable = Lock(false)
  private let catalog = InMemoryCatalog()
  private let duringList = Lock<(@Sendable (SnapshotShard) async -> Void)?>(nil)

  /// Lets `work` happen before the ids of a shard are listed.
  func beforeLists(_ work: (@Sendable (SnapshotShard) async -> Void)?) { duringList.withLock { $0 = work } }

  private func check() throws(CatalogError) {
    if isFailing.value { throw .failed("as it was told") }
  }

  private func requireAnswer() throws(CatalogError) {
    if isUnavailable.value { throw .unavailable("as it was told") }
  }

  func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    try check()
    try await catalog.insert(records)
  }

  func remove(_ id: SnapshotID) async throws(CatalogError) {
    try check()
    try await catalog.remove(id)
  }

  func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    try requireAnswer()
    return try await catalog.page(query, request)
  }

  func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    try requireAnswer()
    return try await catalog.total(query)
  }

  func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    try requireAnswer()
    return try await catalog.activity(query, days: days)
  }

  func state() async throws(CatalogError) -> CatalogState {
    try requireAnswer()
    return try await catalog.state()
  }
  func complete(generation: Int) async throws(CatalogError) {
    try await catalog.complete(generation: generation)
  }
  func clear() async throws(CatalogError) { try await catalog.clear() }
  func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    await duringList.withLock(\.self)?(shard)
    return try await catalog.ids(in: shard)
  }
}
