public import SnapshotFormat
import Synchronization

/// A catalogue in memory, filled from a store's records at every start.
public final class InMemoryCatalog: Catalog {
  fileprivate struct State {
    var records: [SnapshotID: SnapshotRecord] = [:]
    /// The places of each report's records, and under `nil` those of all, oldest first: what arrives goes to the end.
    var places: [ReportID?: [Cursor]] = [:]
    var removed: Set<SnapshotID> = []
  }

  private let state = Mutex(State())

  /// An empty catalogue.
  public init() {}

  /// Adds a record, or replaces the one with the same id.
  public func insert(_ record: SnapshotRecord) async {
    state.withLock { state in
      guard !state.removed.contains(record.id) else { return }
      if let existing = state.records[record.id] {
        if record.verified == .pending, existing.verified != .pending { return }
        state.forget(existing)
      }
      state.records[record.id] = record
      let place = Cursor(after: record)
      for list in [record.report, nil] {
        var places = state.places.removeValue(forKey: list) ?? []
        places.insert(place, at: places.firstIndex(notBefore: place))
        state.places[list] = places
      }
    }
  }

  /// Removes a record for good, if it is there.
  public func remove(_ id: SnapshotID) async {
    state.withLock { state in
      state.removed.insert(id)
      if let record = state.records[id] { state.forget(record) }
    }
  }

  /// One page of the records of `report`, or of all where it is `nil`, newest first.
  public func records(of report: ReportID?, page: PageRequest) async -> Page {
    state.withLock { state in
      guard let places = state.places[report] else { return Page(records: [], next: nil) }
      let limit = min(max(page.limit, 1), PageRequest.maximumLimit)
      let end = page.cursor.map { places.firstIndex(notBefore: $0) } ?? places.count
      let start = max(end - limit, 0)
      let records = places[start..<end].reversed().compactMap { state.records[$0.id] }
      return Page(records: records, next: start > 0 ? places[start] : nil)
    }
  }
}

extension InMemoryCatalog.State {
  /// Takes `record` out of both tables.
  fileprivate mutating func forget(_ record: SnapshotRecord) {
    records[record.id] = nil
    for list in [record.report, nil] {
      guard var places = places.removeValue(forKey: list) else { continue }
      let index = places.firstIndex(notBefore: Cursor(after: record))
      if index < places.count, places[index].id == record.id { places.remove(at: index) }
      if !places.isEmpty { self.places[list] = places }
    }
  }
}

extension [Cursor] {
  /// The first index whose element is not less than `place`, in an ascending array: binary search.
  fileprivate func firstIndex(notBefore place: Cursor) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = low + (high - low) / 2
      if self[middle] < place { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
