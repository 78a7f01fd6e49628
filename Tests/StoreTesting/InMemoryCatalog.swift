package import SnapshotFormat
package import SnapshotStore
import SystemIO

/// A catalogue in memory, for tests. It follows every rule, but loses its records when the process ends.
package final class InMemoryCatalog: Catalog {
  fileprivate struct Entry {
    var record: SnapshotRecord
    var terms: Set<String>
    var version: VersionKey
  }

  fileprivate struct State {
    var entries: [SnapshotID: Entry] = [:]
    /// The positions of the records with each term, and with the key `nil` those of all records, oldest first: new
    /// records are usually appended.
    var places: [String?: [Cursor]] = [:]
    var removed: Set<SnapshotID> = []
    var isComplete = false
    var generation = 0
  }

  private let entries = Lock(State())

  /// Creates an empty catalogue.
  package init() {}

  /// Adds records, or replaces those with the same ids.
  package func insert(_ records: [SnapshotRecord]) async throws(CatalogError) {
    entries.withLock { state in for record in records { state.insert(record) } }
  }

  /// Removes a record permanently, if it exists.
  package func remove(_ id: SnapshotID) async throws(CatalogError) {
    entries.withLock { state in
      state.removed.insert(id)
      if let entry = state.entries[id] { state.forget(entry) }
    }
  }

  /// The record with an id, as it was inserted.
  package func record(_ id: SnapshotID) -> SnapshotRecord? { entries.withLock { $0.entries[id]?.record } }

  /// Returns one page of the records that match `query`, newest first.
  package func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page {
    do {
      return try entries.withLock { state in
        var builder = PageBuilder(request)
        try state.visit(query, olderThan: request.cursor) { record in
          builder.append(length: try record.row().count) { record.listed }
          return !builder.isFull
        }
        return builder.page
      }
    } catch {
      throw .failed("\(error)")
    }
  }

  /// Counts the records that match `query`.
  package func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal {
    entries.withLock { state in
      if query == CatalogQuery() { return CatalogTotal(count: state.entries.count) }
      var total = CatalogTotal(count: 0)
      state.visit(query, olderThan: nil) { _ in
        if total.count == CatalogTotal.maximum { total.isExact = false } else { total.count += 1 }
        return total.isExact
      }
      return total
    }
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  package func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity {
    entries.withLock { state in
      let limit = query == CatalogQuery() ? .max : CatalogActivity.maximumVisits
      var counter = ActivityCounter(CatalogActivity.limited(days), limit: limit)
      state.visit(query.until(days.upperBound), olderThan: nil) { record in
        counter.add(receivedAt: Cursor(after: record).receivedAt, size: record.size)
        return !counter.isDone
      }
      return counter.activity
    }
  }

  /// Returns the state. The extent is `nothing` until the catalogue is completed, because it is empty in every process.
  package func state() async throws(CatalogError) -> CatalogState {
    entries.withLock {
      CatalogState(extent: $0.isComplete ? .everything : .nothing, generation: $0.generation)
    }
  }

  /// Marks the catalogue as complete. Lists are also served before.
  package func complete(generation: Int) async throws(CatalogError) {
    entries.withLock { state in if state.generation == generation { state.isComplete = true } }
  }

  /// Removes all records, and starts a new generation.
  package func clear() async throws(CatalogError) {
    entries.withLock { $0 = State(generation: $0.generation + 1) }
  }

  /// Returns the ids of one shard that the catalogue contains.
  package func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID] {
    entries.withLock { $0.entries.keys.filter { SnapshotShard(of: $0) == shard } }
  }
}

extension InMemoryCatalog.State {
  fileprivate mutating func insert(_ record: SnapshotRecord) {
    guard !removed.contains(record.id) else { return }
    var record = record
    if let existing = entries[record.id] {
      if record.verified == .pending, existing.record.verified != .pending { return }
      guard record.revision ?? 0 >= existing.record.revision ?? 0 else { return }
      record.identifiers = record.identifiers ?? existing.record.identifiers
      forget(existing)
    }
    let entry = InMemoryCatalog.Entry(
      record: record, terms: Set(record.descriptionTerms.terms).union(record.identifierTerms?.terms ?? []),
      version: VersionKey(record.application.version))
    entries[record.id] = entry
    let place = Cursor(after: record)
    for list in Self.lists(of: entry) {
      var places = places.removeValue(forKey: list) ?? []
      places.insert(place, at: places.firstIndex(notBefore: place))
      self.places[list] = places
    }
  }

  /// Removes an entry from both tables.
  fileprivate mutating func forget(_ entry: InMemoryCatalog.Entry) {
    entries[entry.record.id] = nil
    for list in Self.lists(of: entry) {
      guard var places = places.removeValue(forKey: list) else { continue }
      let index = places.firstIndex(notBefore: Cursor(after: entry.record))
      if index < places.count, places[index].id == entry.record.id { places.remove(at: index) }
      if !places.isEmpty { self.places[list] = places }
    }
  }

  private static func lists(of entry: InMemoryCatalog.Entry) -> [String?] { [nil] + entry.terms.map { $0 } }

  /// Visits the records that match `query`, newest first, until `visit` returns `false`. Uses the shortest list of a
  /// term.
  fileprivate func visit(
    _ query: CatalogQuery, olderThan cursor: Cursor?, _ visit: (SnapshotRecord) throws -> Bool
  ) rethrows {
    guard !query.matchesNothing, let times = query.milliseconds else { return }
    let conditions = query.conditions
    let lists = conditions.compactMap(\.onlyTerm).map { places[$0] ?? [] }
    let shortest = lists.min { $0.count < $1.count } ?? places[nil] ?? []
    var index = cursor.map { shortest.firstIndex(notBefore: $0) } ?? shortest.count
    while index > 0 {
      index -= 1
      let place = shortest[index]
      guard place.receivedAt >= times.lowerBound else { return }
      guard place.receivedAt <= times.upperBound, let entry = entries[place.id],
        conditions.allSatisfy({ $0.isMet(by: entry.terms) }), query.versions?.contains(entry.version) ?? true,
        query.scope?.allows(report: entry.record.report, application: entry.record.application.identifier)
          ?? true
      else { continue }
      guard try visit(entry.record) else { return }
    }
  }
}

extension SearchCondition {
  /// The term that every record has that meets the condition, if there is one.
  fileprivate var onlyTerm: String? {
    guard alternatives.count == 1, alternatives[0].count == 1, !alternatives[0][0].isPrefix else {
      return nil
    }
    return alternatives[0][0].text
  }
}

extension [Cursor] {
  /// Returns the first index whose element is not less than `place`, in an ascending array (binary search).
  fileprivate func firstIndex(notBefore place: Cursor) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
