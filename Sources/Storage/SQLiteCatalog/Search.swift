import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore

/// A query in the form that SQLite executes: one list of places, or several merged, within a range of places.
struct Search {
  /// The maximum number of groups of versions, and of a scope's applications or reports, that are looked up as terms.
  /// With more of them the rows are filtered one by one.
  private static let alternatives = 200

  /// The FTS5 expression; `nil` if the query has no terms.
  let match: String?
  private let places: ClosedRange<Int64>
  /// The conditions that are checked on each row, because they are not part of ``match``.
  private let versions: VersionRange?
  private let scope: ScopeTerms?

  var needsRows: Bool { versions != nil || scope != nil }

  /// Plans a query; `nil` if it can find nothing.
  init?(_ query: CatalogQuery, olderThan cursor: SnapshotStore.Cursor?, _ db: Database) throws {
    guard !query.matchesNothing, let times = query.milliseconds else { return nil }
    let last = min(times.upperBound, cursor?.receivedAt ?? .max)
    guard last >= times.lowerBound else { return nil }
    places = Place.range(times.lowerBound...last)

    var conditions: [String] = []
    for condition in query.conditions {
      guard let expression = try TermExpression.of(condition, db) else { return nil }
      conditions.append(expression)
    }
    var versions: VersionRange?
    if let range = query.versions {
      let terms = try range.terms(limit: Self.alternatives) { lowest in
        let sql = try db.cachedStatement(sql: Self.versionSQL)
        return try Data.fetchOne(sql, arguments: [Data(lowest)]).map(Array.init)
      }
      if let groups = terms {
        guard !groups.isEmpty else { return nil }
        conditions.append(TermExpression.anyOf(groups))
      } else {
        versions = range
      }
    }
    self.versions = versions
    var scope: ScopeTerms?
    if let limits = query.scope {
      guard let terms = ScopeTerms(limits, limit: Self.alternatives) else { return nil }
      conditions += terms.conditions.map(TermExpression.anyOf)
      scope = terms.isFiltered ? terms : nil
    }
    self.scope = scope
    match = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
  }

  // MARK: - Results

  /// Returns one page of the records that match `query`.
  static func page(_ query: CatalogQuery, _ request: PageRequest, _ db: Database) throws -> Page {
    guard let search = try Search(query, olderThan: request.cursor, db) else {
      return Page(records: [], next: nil)
    }
    var page = MillisecondPage(request)
    try search.visit(db) { row in
      let cursor = SnapshotID(bytes: row[3] as Data).map { SnapshotStore.Cursor(receivedAt: row[0], id: $0) }
      return try page.add(in: Place.millisecond(row[2]), cursor) { row[6] }
    }
    return try page.finish()
  }

  /// Counts the records that match `query`.
  static func total(_ query: CatalogQuery, _ db: Database) throws -> CatalogTotal {
    if query == CatalogQuery() {
      return CatalogTotal(count: try Int.fetchOne(db, sql: "SELECT sum(count) FROM day") ?? 0)
    }
    guard let search = try Search(query, olderThan: nil, db) else { return CatalogTotal(count: 0) }
    var count = 0
    if search.needsRows {
      try search.visit(db) { _ in
        count += 1
        return count <= CatalogTotal.maximum
      }
    } else {
      count =
        try Int.fetchOne(
          db.cachedStatement(sql: totalSQL(matches: search.match != nil)),
          arguments: search.arguments + [CatalogTotal.maximum + 1]) ?? 0
    }
    return CatalogTotal(
      count: min(count, CatalogTotal.maximum), isExact: count <= CatalogTotal.maximum)
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  static func activity(_ query: CatalogQuery, _ days: ClosedRange<Int>, _ db: Database) throws
    -> CatalogActivity
  {
    if query == CatalogQuery() { return try DayCounts.read(days, db) }
    var counter = ActivityCounter(days)
    guard let search = try Search(query.until(days.upperBound), olderThan: nil, db) else {
      return counter.activity
    }
    try search.visit(db, .sizes) { row in
      counter.add(receivedAt: row[0], size: row[1])
      return !counter.isDone
    }
    return counter.activity
  }

  // MARK: - Statements

  /// The columns of a visited row.
  enum Columns: String {
    /// The values to count: they are all in `listing`.
    case sizes = "received, size"
    /// The values to count, followed by those that a page needs.
    case all = """
      listing.received, listing.size, listing.place, snapshot.id, report, version, record
      """
  }

  /// Selects the rows, newest first.
  static func rowsSQL(_ columns: Columns, matches: Bool) -> String {
    let rows = columns == .all ? "listing CROSS JOIN snapshot ON snapshot.number = listing.number" : "listing"
    return matches
      ? """
      SELECT \(columns.rawValue) FROM term CROSS JOIN \(rows)
      WHERE term MATCH ? AND term.rowid BETWEEN ? AND ? AND listing.place = term.rowid ORDER BY term.rowid
      """
      : """
      SELECT \(columns.rawValue) FROM \(rows)
      WHERE listing.place BETWEEN ? AND ? ORDER BY listing.place
      """
  }

  /// Counts the rows, up to a limit.
  static func totalSQL(matches: Bool) -> String {
    matches
      ? """
      SELECT count(*) FROM (
        SELECT 1 FROM term WHERE term MATCH ? AND term.rowid BETWEEN ? AND ? LIMIT ?)
      """
      : "SELECT count(*) FROM (SELECT 1 FROM listing WHERE place BETWEEN ? AND ? LIMIT ?)"
  }

  /// Selects the first version at or above a key.
  static let versionSQL = "SELECT key FROM version WHERE key >= ? ORDER BY key LIMIT 1"

  var arguments: StatementArguments {
    let range: StatementArguments = [places.lowerBound, places.upperBound]
    return match.map { [$0] + range } ?? range
  }

  /// Visits the matching rows, newest first, until `visit` returns `false`.
  private func visit(_ db: Database, _ columns: Columns = .all, _ visit: (Row) throws -> Bool) throws {
    let sql = Self.rowsSQL(needsRows ? .all : columns, matches: match != nil)
    let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
    while let row = try rows.next() {
      if needsRows, try !allows(row) { continue }
      guard try visit(row) else { return }
    }
  }

  private func allows(_ row: Row) throws -> Bool {
    if let versions, !versions.contains(VersionKey(bytes: Array(row[5] as Data))) { return false }
    return try scope?.allows(report: row[4]) {
      try SnapshotRecord(row: row[6] as Data).application.identifier
    } ?? true
  }
}
