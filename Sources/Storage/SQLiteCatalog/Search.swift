import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore

/// A query as SQLite is asked: one list of places, or several merged, within a range of places.
struct Search {
  /// How many groups of versions, and applications or reports of a scope, are looked up by their lists. Beyond that rows
  /// are looked at one by one.
  static let alternatives = 200

  /// What FTS5 is asked; `nil` where no term is asked for.
  let match: String?
  let places: ClosedRange<Int64>
  /// What rows must be asked for besides.
  let versions: VersionRange?
  let scope: CatalogQuery.Scope?

  var needsRows: Bool { versions != nil || scope != nil }

  /// Plans a query; `nil` where nothing can be found.
  init?(_ query: CatalogQuery, olderThan cursor: SnapshotStore.Cursor?, _ db: Database) throws {
    guard !query.asksForNothing, let times = query.milliseconds else { return nil }
    let last = min(times.upperBound, cursor?.receivedAt ?? .max)
    guard last >= times.lowerBound else { return nil }
    places = Place.range(times.lowerBound...last)

    var conditions = query.terms.map(Self.quoted)
    var versions: VersionRange?
    if let range = query.versions {
      if let groups = try Self.groups(of: range, db) {
        guard !groups.isEmpty else { return nil }
        conditions.append(Self.anyOf(groups))
      } else {
        versions = range
      }
    }
    self.versions = versions
    var scope: CatalogQuery.Scope?
    if let limits = query.scope {
      guard limits.applications?.isEmpty != true, limits.reportPrefixes?.isEmpty != true else { return nil }
      if let applications = limits.applications, applications.count <= Self.alternatives {
        conditions.append(Self.anyOf(applications.map { SearchTerm.of(.application, $0) }))
      } else if limits.applications != nil {
        scope = limits
      }
      if let prefixes = limits.reportPrefixes {
        let known = prefixes.map { SearchTerm.prefixes(ofReport: $0).last }
        if known.count <= Self.alternatives, known.allSatisfy({ $0 != nil }) {
          conditions.append(Self.anyOf(known.compactMap { $0.map { SearchTerm.of(.reportPrefix, $0) } }))
        }
        if known != prefixes.map(Optional.some) { scope = limits }
      }
    }
    self.scope = scope
    match = conditions.isEmpty ? nil : conditions.joined(separator: " AND ")
  }

  /// The columns of a row that is visited.
  enum Columns: String {
    /// What there is to count: all of it is in the list.
    case sizes = "received, size"
    /// What there is to show, behind these.
    case all = """
      listing.received, listing.size, listing.place, snapshot.id, report, version, length, record
      """
  }

  /// The rows, newest first.
  static func rowsSQL(_ columns: Columns, matches: Bool) -> String {
    let rows = columns == .all ? "listing CROSS JOIN snapshot ON snapshot.number = listing.number" : "listing"
    return matches
      ? """
      SELECT \(columns.rawValue) FROM term CROSS JOIN \(rows)
      WHERE term MATCH ? AND term.rowid BETWEEN ? AND ? AND listing.place = term.rowid ORDER BY term.rowid DESC
      """
      : """
      SELECT \(columns.rawValue) FROM \(rows)
      WHERE listing.place BETWEEN ? AND ? ORDER BY listing.place DESC
      """
  }

  /// How many rows there are, up to a number.
  static func totalSQL(matches: Bool) -> String {
    matches
      ? """
      SELECT count(*) FROM (
        SELECT 1 FROM term WHERE term MATCH ? AND term.rowid BETWEEN ? AND ? LIMIT ?)
      """
      : "SELECT count(*) FROM (SELECT 1 FROM listing WHERE place BETWEEN ? AND ? LIMIT ?)"
  }

  /// The first version from one on.
  static let versionSQL = "SELECT key FROM version WHERE key >= ? ORDER BY key LIMIT 1"

  var arguments: StatementArguments {
    let range: StatementArguments = [places.lowerBound, places.upperBound]
    return match.map { [$0] + range } ?? range
  }

  /// Visits the rows that are found, newest first, until `visit` says no.
  func visit(_ db: Database, _ columns: Columns = .all, _ visit: (Row) throws -> Bool) throws {
    let sql = Self.rowsSQL(needsRows ? .all : columns, matches: match != nil)
    let rows = try Row.fetchCursor(db.cachedStatement(sql: sql), arguments: arguments)
    while let row = try rows.next() {
      if needsRows, try !allows(row) { continue }
      guard try visit(row) else { return }
    }
  }

  private func allows(_ row: Row) throws -> Bool {
    if let versions, !versions.contains(VersionKey(bytes: Array(row[5] as Data))) { return false }
    guard let scope else { return true }
    guard scope.allowsReport(row[4]) else { return false }
    guard let applications = scope.applications, applications.count > Self.alternatives else { return true }
    return applications.contains(try RecordCoder.decode(row[7]).application.identifier)
  }

  /// The groups that `range` is made of, among the versions that occur; `nil` where they are too many.
  private static func groups(of range: VersionRange, _ db: Database) throws -> [String]? {
    var terms: [String] = []
    var next = range.lower.bytes
    let upper = range.upper
    while let found = try Data.fetchOne(db.cachedStatement(sql: versionSQL), arguments: [Data(next)]) {
      let key = VersionKey(bytes: Array(found))
      if let upper, key >= upper { break }
      guard terms.count < alternatives else { return nil }
      if let group = range.largestGroup(of: key) {
        terms.append(SearchTerm.of(.version, group))
        next = group + [0xFF]
      } else {
        terms.append(SearchTerm.of(.wholeVersion, key.bytes))
        next = key.bytes + [0]
      }
    }
    return terms
  }

  private static func quoted(_ term: String) -> String { "\"\(term)\"" }

  private static func anyOf(_ terms: [String]) -> String {
    "(" + terms.map(quoted).joined(separator: " OR ") + ")"
  }
}
