public import SnapshotFormat

/// An index over the records of a store. It can always be rebuilt from them.
///
/// Every catalogue follows these rules, so that calls about one record can arrive in any order:
/// - ``remove(_:)`` is final while the catalogue is open, like a deletion from the store: inserting a removed id does
///   nothing.
/// - A record never replaces one with the same id and a higher revision.
/// - A record that is `pending` never replaces one with the same id whose verification is settled. A record without
///   ``/SnapshotFormat/SnapshotRecord/identifiers`` leaves the identifiers that are already known.
/// - Lists are newest first, by ``/SnapshotFormat/SnapshotRecord/receivedAt`` to the millisecond and then by id,
///   descending. A client that follows ``Page/next`` sees every record that exists from the first to the last page
///   exactly once, and no record that arrives meanwhile with a later time.
/// - Finding a page takes time logarithmic in the number of records and linear in the length of the page, for every
///   query and at every position.
/// - Listed records have no ``/SnapshotFormat/SnapshotRecord/identifiers``, no revision and no attempt.
/// - A catalogue that lost changes, for example in a power cut, does not report ``CatalogState/Extent/everything`` when
///   it is opened again.
public protocol Catalog: Sendable {
  /// Adds records, or replaces those with the same ids. Faster than adding them one by one.
  func insert(_ records: [SnapshotRecord]) async throws(CatalogError)
  /// Removes a record permanently, if it exists.
  func remove(_ id: SnapshotID) async throws(CatalogError)
  /// Brings the catalogue's record of a snapshot up to date with `store`, even if the record changes meanwhile.
  ///
  /// Calls about one record can reach the catalogue in another order than they reached the store. The record is
  /// therefore read again after it was inserted, and inserted again if it has changed: the last insertion is always
  /// current.
  /// - Parameters:
  ///   - record: the record as last read from the store.
  ///   - store: the store that contains the snapshot.
  func refresh(_ record: SnapshotRecord, from store: any BundleStore) async throws
  /// Returns one page of the records that match `query`, newest first.
  func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page
  /// Counts the records that match `query`.
  func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal
  /// Counts the records and bytes received on each of `days` that match `query`.
  ///
  /// The counts of all records are stored, so that they are found quickly. For any other query at most
  /// ``CatalogActivity/maximumVisits`` records are read.
  /// - Parameters:
  ///   - query: the filter.
  ///   - days: days in UTC, counted from 1 January 1970. Only the last ``CatalogActivity/maximumDays`` are counted.
  func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity

  /// Returns how much of the store the catalogue covers.
  func state() async throws(CatalogError) -> CatalogState
  /// Marks the catalogue as complete, if its generation is still `generation`.
  func complete(generation: Int) async throws(CatalogError)
  /// Removes all records, and starts a new generation.
  func clear() async throws(CatalogError)
  /// Returns the ids of one shard that the catalogue contains.
  func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID]
}

extension Catalog {
  /// Adds a record, or replaces the one with the same id.
  public func insert(_ record: SnapshotRecord) async throws(CatalogError) { try await insert([record]) }

  /// Returns one page of the records of `report`, newest first. The page is empty if the report is unknown. `nil` lists
  /// all reports.
  public func records(of report: ReportID?, page: PageRequest) async throws(CatalogError) -> Page {
    try await self.page(CatalogQuery(report: report), page)
  }
}

/// How much of its store a catalogue covers.
public struct CatalogState: Sendable, Hashable {
  /// The completeness of a catalogue.
  public enum Extent: Sendable, Hashable {
    /// It is being built: lists throw ``CatalogError/incomplete`` until every record has been inserted.
    case nothing
    /// It was complete, but may lack the last changes, because the server ended without closing it.
    case uncertain
    /// It contains every record.
    case everything
  }

  /// How complete the catalogue is.
  public var extent: Extent
  /// The number of the generation. It changes whenever the catalogue starts again without records.
  public var generation: Int

  /// Creates a state.
  public init(extent: Extent, generation: Int) {
    self.extent = extent
    self.generation = generation
  }
}

/// The error of a catalogue.
public enum CatalogError: Error, Sendable, CustomStringConvertible {
  /// The catalogue is being rebuilt, so that lists would be incomplete.
  case incomplete
  /// The database of the catalogue does not answer at the moment. The text is for the log.
  case unavailable(String)
  /// The catalogue cannot hold another record of the same millisecond.
  case tooManyAtOnce
  /// The disk or the database failed. The text is for the log.
  case failed(String)

  /// Whether the same call can succeed later.
  public var isTemporary: Bool {
    switch self {
    case .incomplete, .unavailable: true
    case .tooManyAtOnce, .failed: false
    }
  }

  /// A sentence that describes the error. Those of ``unavailable(_:)`` and ``failed(_:)`` are for the server's log only.
  public var description: String {
    switch self {
    case .incomplete: "The catalogue is being rebuilt."
    case .unavailable(let reason): "The catalogue is not available: \(reason)"
    case .tooManyAtOnce: "The catalogue cannot hold more records that were received in the same millisecond."
    case .failed(let reason): "The catalogue failed: \(reason)"
    }
  }
}

extension Catalog {
  /// Inserts the record until it is the one in the store.
  public func refresh(_ record: SnapshotRecord, from store: any BundleStore) async throws {
    var record = record
    while true {
      try await insert(record)
      do {
        let current = try await store.record(record.id)
        if current == record { return }
        record = current
      } catch .deleted {
        try await remove(record.id)
        return
      }
    }
  }
}
