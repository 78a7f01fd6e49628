import GRDB
import SnapshotStore

/// The numbers of records and of bundle bytes added and removed on each day: the increments for the table `day`.
struct DayCounts {
  private var changes: [Int: (count: Int, bytes: Int64)] = [:]

  /// The number of days with changes.
  var dayCount: Int { changes.count }

  /// Adds `count` records received at `received`, in milliseconds since 1970. A negative count is for removed records.
  mutating func add(_ count: Int, received: Int64, size: Int64) {
    guard count != 0 || size != 0 else { return }
    var change = changes[CatalogActivity.day(ofMillisecond: received)] ?? (0, 0)
    change.count += count
    change.bytes += size
    changes[CatalogActivity.day(ofMillisecond: received)] = change
  }

  /// Adds the increments to the table, and starts again without any.
  mutating func write(_ db: Database) throws {
    for (day, change) in changes {
      try db.cachedStatement(
        sql: """
          INSERT INTO day VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE
          SET count = count + excluded.count, bytes = bytes + excluded.bytes
          """
      ).execute(arguments: [day, change.count, change.bytes])
    }
    changes = [:]
  }

  /// Reads the counts of `days` from the table.
  static func read(_ days: ClosedRange<Int>, _ db: Database) throws -> CatalogActivity {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: "SELECT day, count, bytes FROM day WHERE day BETWEEN ? AND ? AND count > 0 ORDER BY day"),
      arguments: [days.lowerBound, days.upperBound])
    return CatalogActivity(
      days: rows.map { .init(number: $0[0], count: $0[1], bytes: $0[2]) }, firstDay: days.lowerBound)
  }
}
