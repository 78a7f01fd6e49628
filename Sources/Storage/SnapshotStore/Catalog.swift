public import SnapshotFormat

/// An index over the records of a store; it can always be made anew from them.
///
/// The rules that every catalogue obeys, so that calls about one record may arrive in any order:
/// - ``remove(_:)`` is final while the catalogue is open, as a store's deletion is: to insert a removed id does nothing.
/// - A record that is `pending` never replaces one with the same id whose verification is settled, and one without
///   ``SnapshotFormat/SnapshotRecord/identifiers`` leaves those that are known.
/// - Lists are newest first, by ``SnapshotRecord/receivedAt`` to the millisecond and then by id, descending.
///   Who follows ``Page/next`` sees every record that was there at the beginning and is still there exactly once,
///   and none that arrives meanwhile with a later time.
/// - Finding a page costs the logarithm of the records there are and the length of the page, whatever is asked for
///   and however far back the page is.
/// - Records that are listed have no ``SnapshotFormat/SnapshotRecord/identifiers``.
/// - Whatever is inserted or removed when a call has returned is there after a power cut, where anything is.
public protocol Catalog: Sendable {
  /// Adds records, or replaces those with the same ids; quicker than one by one.
  func insert(_ records: [SnapshotRecord]) async throws(CatalogError)
  /// Removes a record for good, if it is there.
  func remove(_ id: SnapshotID) async throws(CatalogError)
  /// One page of the records that `query` finds, newest first.
  func page(_ query: CatalogQuery, _ request: PageRequest) async throws(CatalogError) -> Page
  /// How many records `query` finds.
  func total(_ query: CatalogQuery) async throws(CatalogError) -> CatalogTotal
  /// How much arrived on each of `days`, which count from 1 January 1970 in UTC, of the records that `query` finds; of
  /// more than ``CatalogActivity/maximumDays`` days the last ones. Quick for all records, however many there are; for
  /// fewer at most ``CatalogActivity/maximumVisits`` are looked at.
  func activity(
    _ query: CatalogQuery, days: ClosedRange<Int>
  ) async throws(CatalogError) -> CatalogActivity

  /// How much of its store it knows.
  func state() async throws(CatalogError) -> CatalogState
  /// Takes note that it knows everything, if it is still of that generation.
  func complete(generation: Int) async throws(CatalogError)
  /// Starts anew, with nothing, in another generation.
  func clear() async throws(CatalogError)
  /// The ids that it has in one part of all.
  func ids(in shard: SnapshotShard) async throws(CatalogError) -> [SnapshotID]
}

extension Catalog {
  /// Adds a record, or replaces the one with the same id.
  public func insert(_ record: SnapshotRecord) async throws(CatalogError) { try await insert([record]) }

  /// One page of the records of `report`, or of all reports where it is `nil`, newest first; empty where the report
  /// is unknown.
  public func records(of report: ReportID?, page: PageRequest) async throws(CatalogError) -> Page {
    try await self.page(CatalogQuery(report: report), page)
  }
}

/// How much of its store a catalogue knows.
public struct CatalogState: Sendable, Hashable {
  /// What is to be done before it can be relied upon.
  public enum Extent: Sendable, Hashable {
    /// Its lists are refused until every record has been inserted.
    case nothing
    /// It knew everything, but may have missed what was going on when a server ended without saying so.
    case uncertain
    /// It knows every record.
    case everything
  }

  /// What is to be done.
  public var extent: Extent
  /// Another number each time that it had to start anew.
  public var generation: Int

  /// A state.
  public init(extent: Extent, generation: Int) {
    self.extent = extent
    self.generation = generation
  }
}

/// Why a catalogue does not do what it was asked.
public enum CatalogError: Error, Sendable, CustomStringConvertible {
  /// It is being made anew; lists would lack something.
  case incomplete
  /// There is no room for another record of one millisecond.
  case tooManyAtOnce
  /// The disk or the database failed; for the log.
  case failed(String)

  /// One sentence; that of ``failed(_:)`` is for the server's log alone.
  public var description: String {
    switch self {
    case .incomplete: "The catalogue is being made anew."
    case .tooManyAtOnce: "The catalogue holds no more records that were received in the same millisecond."
    case .failed(let reason): "The catalogue failed: \(reason)"
    }
  }
}
