import PostgreSQLClient
import SnapshotStore

/// The numbers of records and of bundle bytes added and removed on each day.
struct DayCounts {
  private var changes: [Int: (count: Int, bytes: Int64)] = [:]

  /// Adds `count` records received at `received`, in milliseconds since 1970. A negative count is for removed records.
  mutating func add(_ count: Int, received: Int64, size: Int64) {
    var change = changes[CatalogActivity.day(ofMillisecond: received)] ?? (0, 0)
    change.count += count
    change.bytes += size
    changes[CatalogActivity.day(ofMillisecond: received)] = change
  }

  /// Adds the changes to the table `day`.
  func write(_ connection: PostgreSQLConnection) throws {
    guard !changes.isEmpty else { return }
    let days = changes.map { $0 }
    _ = try connection.query(
      "INSERT INTO day SELECT * FROM unnest($1, $2, $3)",
      [
        .ints(days.map { Int64($0.key) }), .ints(days.map { Int64($0.value.count) }),
        .ints(days.map(\.value.bytes)),
      ])
  }

  /// Replaces the rows of each day by one row.
  static func sumUp(_ connection: PostgreSQLConnection) throws {
    try connection.execute(
      """
      WITH former AS (DELETE FROM day RETURNING *)
      INSERT INTO day SELECT day, sum(count), sum(bytes) FROM former GROUP BY day HAVING sum(count) <> 0
      """)
  }

  /// Counts all records.
  static func total(_ connection: PostgreSQLConnection) throws -> Int {
    Int(try connection.query("SELECT coalesce(sum(count), 0)::bigint FROM day")[0].int(0))
  }

  /// Reads the counts of `days`.
  static func read(_ days: ClosedRange<Int>, _ connection: PostgreSQLConnection) throws -> CatalogActivity {
    let rows = try connection.query(
      """
      SELECT day, sum(count)::bigint, sum(bytes)::bigint FROM day WHERE day BETWEEN $1 AND $2
      GROUP BY day HAVING sum(count) > 0 ORDER BY day
      """, [.int(Int64(days.lowerBound)), .int(Int64(days.upperBound))])
    return CatalogActivity(
      days: try rows.map {
        .init(number: Int(try $0.int(0)), count: Int(try $0.int(1)), bytes: try $0.int(2))
      },
      firstDay: days.lowerBound)
  }
}
