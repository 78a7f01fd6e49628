import PostgreSQLClient
import SnapshotFormat
import SnapshotStore

/// Answers queries in one state of the database.
struct Search {
  private let plan: SearchPlan
  private let connection: PostgreSQLConnection

  /// Plans a search; `nil` if it can find nothing.
  private init?(_ query: CatalogQuery, olderThan cursor: Cursor?, _ connection: PostgreSQLConnection) throws {
    guard let plan = try SearchPlan(query, olderThan: cursor, connection) else { return nil }
    (self.plan, self.connection) = (plan, connection)
  }

  /// Returns one page of the records that match `query`.
  static func page(
    _ query: CatalogQuery, _ request: PageRequest, _ connection: PostgreSQLConnection
  ) throws -> Page {
    guard let search = try Search(query, olderThan: request.cursor, connection) else {
      return Page(records: [], next: nil)
    }
    var page = MillisecondPage<[UInt8]>(request)
    try search.visitRows(atOnce: min(max(request.limit, 1), IndexLimits.batch - 1) + 1) { row in
      let received = try row.int(1)
      let cursor = SnapshotID(bytes: try row.bytes(2)).map { Cursor(receivedAt: received, id: $0) }
      return try page.add(in: Place.millisecond(row.int(0)), cursor, length: Int(row.int(3))) {
        try row.bytes(4)
      }
    }
    return try page.finish()
  }

  /// Counts the records that match `query`.
  static func total(_ query: CatalogQuery, _ connection: PostgreSQLConnection) throws -> CatalogTotal {
    if query == CatalogQuery() { return CatalogTotal(count: try DayCounts.total(connection)) }
    guard let search = try Search(query, olderThan: nil, connection) else { return CatalogTotal(count: 0) }
    var count = 0
    if search.plan.filter != nil {
      try search.visitRows(atOnce: IndexLimits.block) { _ in
        count += 1
        return count <= CatalogTotal.maximum
      }
    } else {
      var places = try PlaceSearch(search.plan, connection, blocks: 64)
      count = try places.count(limit: CatalogTotal.maximum)
    }
    return CatalogTotal(count: min(count, CatalogTotal.maximum), isExact: count <= CatalogTotal.maximum)
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  static func activity(
    _ query: CatalogQuery, _ days: ClosedRange<Int>, _ connection: PostgreSQLConnection
  ) throws -> CatalogActivity {
    if query == CatalogQuery() { return try DayCounts.read(days, connection) }
    var counter = ActivityCounter(days)
    guard let search = try Search(query.until(days.upperBound), olderThan: nil, connection) else {
      return counter.activity
    }
    if search.plan.filter != nil {
      try search.visitRows(atOnce: IndexLimits.block) { row in
        counter.add(receivedAt: try row.int(1), size: try row.int(7))
        return !counter.isDone
      }
      return counter.activity
    }
    var places = try PlaceSearch(search.plan, connection)
    while !counter.isDone, let entries = try places.next(CatalogActivity.maximumVisits, needsSizes: true) {
      for entry in entries where !counter.isDone {
        counter.add(receivedAt: Place.millisecond(entry.place), size: entry.size)
      }
    }
    return counter.activity
  }

  // MARK: - Rows

  /// Selects the rows at the given places.
  static let rowsSQL = """
    SELECT place, received, id, length, record, report, version, size FROM snapshot WHERE place = ANY($1)
    ORDER BY place DESC
    """

  /// Visits the matching rows in the order of their places, newest first, until `visit` returns `false`.
  private func visitRows(atOnce count: Int, _ visit: (PostgreSQLResult.Row) throws -> Bool) throws {
    var places = try PlaceSearch(plan, connection)
    while let entries = try places.next(count) {
      for start in stride(from: 0, to: entries.count, by: count) {
        let batch = entries[start..<min(start + count, entries.count)].map(\.place)
        for row in try connection.query(Self.rowsSQL, [.ints(batch)]) where try allows(row) {
          guard try visit(row) else { return }
        }
      }
    }
  }

  private func allows(_ row: PostgreSQLResult.Row) throws -> Bool {
    guard let filter = plan.filter else { return true }
    if let versions = filter.versions, !versions.contains(VersionKey(bytes: try row.bytes(6))) {
      return false
    }
    return try filter.scope?.allows(report: row.text(5)) {
      try RecordCoder.decode(row.bytes(4)).application.identifier
    } ?? true
  }
}
