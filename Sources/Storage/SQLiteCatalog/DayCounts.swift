import GRDB
import SnapshotStore

/// How many records, and how many bytes of bundles, came and went on each day: what is to be added to the table `day`.
struct DayCounts {
  private var changes: [Int: (count: Int, bytes: Int64)] = [:]

  /// Takes note of `count` records, less than none for those that go, received at that millisecond since 1970.
  mutating func add(_ count: Int, received: Int64, size: Int64) {
    guard count != 0 || size != 0 else { return }
    var change = changes[CatalogActivity.day(ofMillisecond: received)] ?? (0, 0)
    change.count += count
    change.bytes += size
    changes[CatalogActivity.day(ofMillisecond: received)] = change
  }

  /// Adds all of it to the table.
  func write(_ db: Database) throws {
    for (day, change) in changes {
      try db.cachedStatement(
        sql: """
          INSERT INTO day VALUES (?, ?, ?) ON CONFLICT (day) DO UPDATE
          SET count = count + excluded.count, bytes = bytes + excluded.bytes
          """
      ).execute(arguments: [day, change.count, change.bytes])
    }
  }

  /// What the table says of `days`.
  static func read(_ days: ClosedRange<Int>, _ db: Database) throws -> CatalogActivity {
    let rows = try Row.fetchAll(
      db.cachedStatement(
        sql: "SELECT day, count, bytes FROM day WHERE day BETWEEN ? AND ? AND count > 0 ORDER BY day"),
      arguments: [days.lowerBound, days.upperBound])
    return CatalogActivity(
      days: rows.map { .init(number: $0[0], count: $0[1], bytes: $0[2]) }, firstDay: days.lowerBound)
  }
}
