import PostgreSQLClient
import SnapshotFormat
import SnapshotStore

/// Answers queries in one state of the database.
///
/// A search checks the newest rows first, which soon fill a page if many match. Otherwise the inverted index finds all
/// rows that match, and the newest of them are sorted out.
struct Search {
  /// A position in the order of the lists.
  private struct Position {
    var received: Int64
    var id: [UInt8]
  }

  /// A row that was found.
  private struct Entry {
    let position: Position
    let size: Int64
    let length: Int

    init(_ row: PostgreSQLResult.Row) throws {
      position = Position(received: try row.int(0), id: try row.bytes(1))
      (size, length) = (try row.int(2), Int(try row.int(3)))
    }
  }

  private let conditions: SearchConditions
  /// The earliest time, inclusive.
  private let first: Int64
  /// The end of the rows, exclusive.
  private let end: Position
  /// The number of the newest rows that are checked first.
  private let checked: Int
  private let connection: PostgreSQLConnection

  /// Plans a search; `nil` if it can find nothing.
  private init?(_ query: CatalogQuery, from cursor: Cursor?, checked: Int, _ connection: PostgreSQLConnection)
  {
    guard let conditions = SearchConditions(query), let times = query.milliseconds else { return nil }
    (self.conditions, self.checked, self.connection) = (conditions, checked, connection)
    first = times.lowerBound
    if let cursor, cursor.receivedAt <= times.upperBound {
      end = Position(received: cursor.receivedAt, id: Array(cursor.id.bytes))
    } else {
      // No id is that long.
      end = Position(received: times.upperBound, id: [UInt8](repeating: 0xFF, count: 17))
    }
  }

  // MARK: - Results

  /// Returns one page of the records that match `query`.
  /// - Parameter checked: the number of the newest rows that are checked first.
  static func page(
    _ query: CatalogQuery, _ request: PageRequest, checked: Int, _ connection: PostgreSQLConnection
  ) throws -> Page {
    guard let search = Search(query, from: request.cursor, checked: checked, connection) else {
      return Page(records: [], next: nil)
    }
    let limit = min(max(request.limit, 1), PageRequest.maximumLimit)
    let entries = try search.entries(limit + 1)
    var bytes = 0
    let fitting = entries.prefix { entry in
      bytes += entry.length
      return bytes <= PageRequest.maximumBytes
    }
    let ids = entries.prefix(max(fitting.count, 1)).map(\.position.id)
    let rows = try connection.query(
      "SELECT id, document FROM snapshot WHERE id = ANY($1)", [.byteArrays(ids)])
    let records = Dictionary(uniqueKeysWithValues: try rows.map { (try $0.bytes(0), $0) })
    var page = PageBuilder(request)
    for entry in entries where !page.isFull {
      try page.append(length: entry.length) {
        guard let row = records[entry.position.id] else { throw MalformedRow() }
        return try SnapshotRecord(row: row.bytes(1))
      }
    }
    return page.page
  }

  /// Counts the records that match `query`.
  static func total(_ query: CatalogQuery, _ connection: PostgreSQLConnection) throws -> CatalogTotal {
    if query == CatalogQuery() { return CatalogTotal(count: try DayCounts.total(connection)) }
    guard let search = Search(query, from: nil, checked: 0, connection) else { return CatalogTotal(count: 0) }
    let count = try search.count(CatalogTotal.maximum + 1)
    return CatalogTotal(count: min(count, CatalogTotal.maximum), isExact: count <= CatalogTotal.maximum)
  }

  /// Counts the records and bytes received on each of `days` that match `query`.
  static func activity(
    _ query: CatalogQuery, _ days: ClosedRange<Int>, checked: Int, _ connection: PostgreSQLConnection
  ) throws -> CatalogActivity {
    if query == CatalogQuery() { return try DayCounts.read(days, connection) }
    var counter = ActivityCounter(days)
    let search = Search(query.until(days.upperBound), from: nil, checked: checked, connection)
    for entry in try search?.entries(CatalogActivity.maximumVisits + 1) ?? [] where !counter.isDone {
      counter.add(receivedAt: entry.position.received, size: entry.size)
    }
    return counter.activity
  }

  // MARK: - Rows

  private static let columns = "received, id, size, length"
  private static let newestFirst = "ORDER BY received DESC, id DESC"

  /// Returns the newest rows that match, newest first, at most `count`.
  private func entries(_ count: Int) throws -> [Entry] {
    guard conditions.areIndexed else { return try find(count, before: end) }
    var (found, end): ([Entry], Position) = ([], end)
    var (rows, total) = (min(checked, 2 * count), 0)
    while rows > 0 {
      let next = try check(rows, before: end)
      found += next.matching
      guard let last = next.last, found.count < count else { return Array(found.prefix(count)) }
      (end, total) = (last, total + rows)
      // As many more as are needed if as many of them match, unless the index takes less time.
      guard !found.isEmpty else { break }
      rows = max((count - found.count) * total / found.count * 5 / 4, 1)
      if total + rows > max(4 * checked, 2 * count) { break }
    }
    return try found + find(count - found.count, before: end)
  }

  /// Checks the newest rows before `end`.
  /// - Returns: those that match, and the position of the last row; `nil` if there are no more.
  private func check(_ rows: Int, before end: Position) throws -> (matching: [Entry], last: Position?) {
    var bind = Parameters()
    let range = range(before: end, &bind)
    guard let check = try conditions.sql(&bind, nil) else { return ([], nil) }
    let result = try connection.query(
      """
      SELECT \(Self.columns), coalesce(\(check), false) FROM (
        SELECT * FROM snapshot WHERE \(range) \(Self.newestFirst) LIMIT \(bind(.int(Int64(rows))))) AS newest
      \(Self.newestFirst)
      """, bind.values)
    let matching = try result.filter { try $0.bool(4) }.map(Entry.init)
    return (matching, result.count < rows ? nil : try result.last.map(Entry.init)?.position)
  }

  /// Finds the newest rows before `end` that match.
  private func find(_ count: Int, before end: Position) throws -> [Entry] {
    var bind = Parameters()
    guard let found = try matching(&bind) else { return [] }
    return try connection.query(
      """
      SELECT \(Self.columns) FROM \(found) WHERE \(range(before: end, &bind))
      \(Self.newestFirst) LIMIT \(bind(.int(Int64(count))))
      """, bind.values
    ).map(Entry.init)
  }

  /// Counts the rows that match, up to a limit.
  private func count(_ limit: Int) throws -> Int {
    var bind = Parameters()
    guard let found = try matching(&bind) else { return 0 }
    let rows = try connection.query(
      """
      SELECT count(*) FROM (
        SELECT FROM \(found) WHERE \(range(before: end, &bind)) LIMIT \(bind(.int(Int64(limit))))) AS counted
      """, bind.values)
    return Int(try rows[0].int(0))
  }

  /// Writes the rows that match at any time; `nil` if there are none. `OFFSET 0` keeps the planner from reading the rows
  /// in the order of their times and checking each, unless only that is possible.
  private func matching(_ bind: inout Parameters) throws -> String? {
    let isIndexed = conditions.areIndexed
    return try conditions.sql(&bind, isIndexed ? words : nil).map {
      "(SELECT \(Self.columns) FROM snapshot WHERE \($0)\(isIndexed ? " OFFSET 0" : "")) AS found"
    }
  }

  private func range(before end: Position, _ bind: inout Parameters) -> String {
    """
    received >= \(bind(.int(first)))
      AND (received, id) < (\(bind(.int(end.received))), \(bind(.bytes(end.id))))
    """
  }

  /// Returns the words that begin with `text`; `nil` if there are too many.
  private func words(beginningWith text: String) throws -> [String]? {
    let range = SearchConditions.range(text)
    let words = try connection.query(
      "SELECT word FROM word WHERE word >= $1 AND word < $2 ORDER BY word LIMIT $3",
      [.text(range[0]), .text(range[1]), .int(Int64(IndexLimits.expansions + 1))]
    ).map { try $0.text(0) }
    return words.count <= IndexLimits.expansions ? words : nil
  }
}
