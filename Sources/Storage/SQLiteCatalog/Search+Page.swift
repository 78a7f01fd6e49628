import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore

extension Search {
  /// A row until it is known where it stands among those of its millisecond.
  private struct Found {
    let cursor: SnapshotStore.Cursor
    let length: Int
    let record: Data
  }

  /// One page of what `query` finds.
  static func page(_ query: CatalogQuery, _ request: PageRequest, _ db: Database) throws -> Page {
    guard let search = try Search(query, olderThan: request.cursor, db) else {
      return Page(records: [], next: nil)
    }
    var builder = PageBuilder(request)
    var millisecond: [Found] = []
    func settle() throws {
      for found in millisecond.sorted(by: { $0.cursor > $1.cursor }) {
        try builder.append(length: found.length) { () throws(any Error) in
          try RecordCoder.decode(found.record)
        }
      }
      millisecond.removeAll(keepingCapacity: true)
    }
    var current: Int64?
    try search.visit(db) { row in
      let place = Place.millisecond(row[2])
      if place != current {
        try settle()
        current = place
      }
      guard !builder.isFull, let id = SnapshotID(bytes: row[3] as Data) else { return !builder.isFull }
      let cursor = SnapshotStore.Cursor(receivedAt: row[0], id: id)
      if request.cursor.map({ cursor < $0 }) ?? true {
        millisecond.append(Found(cursor: cursor, length: row[6], record: row[7]))
      }
      return true
    }
    try settle()
    return builder.page
  }

  /// How many records `query` finds.
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

  /// How much arrived on each of `days`, of what `query` finds.
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
}
