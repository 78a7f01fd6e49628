import Foundation
import GRDB
import SnapshotStore

/// Changes rows within a transaction.
struct IndexWriter {
  let db: Database
  /// The versions that are known to have a row.
  private var versions: Set<Data> = []
  /// What has come and gone since the beginning.
  private var days = DayCounts()

  init(db: Database) { self.db = db }

  private struct Existing {
    let place: Int64
    let received: Int64
    let isPending: Bool
    let size: Int64
  }

  /// Adds a record, or replaces the one with the same id, by the rules of ``SnapshotStore/Catalog``.
  mutating func insert(_ record: PreparedRecord) throws {
    if try addFirst(record) { return }
    guard try !isRemoved(record.id) else { return }
    guard let existing = try existing(record.id) else {
      return try add(record, identifiers: record.identifiers ?? "")
    }
    if record.isPending, !existing.isPending { return }
    let old = try terms(at: existing.place)
    let identifiers = record.identifiers ?? old.identifiers
    guard existing.received == record.received else {
      try delete(existing)
      return try add(record, identifiers: identifiers)
    }
    try cached(
      """
      UPDATE snapshot SET report = ?, version = ?, pending = ?, length = ?, record = ? WHERE place = ?
      """,
      [
        record.report, record.version, record.isPending, record.length, record.record, existing.place,
      ])
    days.add(0, received: record.received, size: record.size - existing.size)
    if old != (record.description, identifiers) {
      try cached("DELETE FROM term WHERE rowid = ?", [existing.place])
      try addTerms(of: record, identifiers, at: existing.place)
    }
  }

  /// Removes a record, and takes note.
  mutating func remove(_ id: Data) throws {
    if let existing = try existing(id) { try delete(existing) }
    try cached("INSERT OR IGNORE INTO removed VALUES (?)", [id])
  }

  /// Writes what is counted of all that was inserted and removed: once, in the end.
  func finish() throws { try days.write(db) }

  /// Adds a record by one look at the index, where it is new and the first of its millisecond, as nearly all are.
  private mutating func addFirst(_ record: PreparedRecord) throws -> Bool {
    let place = Place.range(record.received).lowerBound
    try cached(
      """
      INSERT OR IGNORE INTO snapshot SELECT ?, ?, ?, ?, ?, ?, ?, ?
      WHERE NOT EXISTS (SELECT 1 FROM removed WHERE id = ?)
      """,
      [
        place, record.id, record.received, record.report, record.version, record.isPending, record.length,
        record.record, record.id,
      ])
    guard db.changesCount > 0 else { return false }
    days.add(1, received: record.received, size: record.size)
    try addTerms(of: record, record.identifiers ?? "", at: place)
    return true
  }

  private mutating func add(_ record: PreparedRecord, identifiers: String) throws {
    let place = try freePlace(record.received)
    try cached(
      "INSERT INTO snapshot VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
      [
        place, record.id, record.received, record.report, record.version, record.isPending, record.length,
        record.record,
      ])
    days.add(1, received: record.received, size: record.size)
    try addTerms(of: record, identifiers, at: place)
  }

  private mutating func addTerms(of record: PreparedRecord, _ identifiers: String, at place: Int64) throws {
    if versions.insert(record.version).inserted {
      try cached("INSERT OR IGNORE INTO version VALUES (?)", [record.version])
    }
    try cached(
      "INSERT INTO term (rowid, description, identifiers) VALUES (?, ?, ?)",
      [place, record.description, identifiers])
  }

  private mutating func delete(_ existing: Existing) throws {
    try cached("DELETE FROM term WHERE rowid = ?", [existing.place])
    try cached("DELETE FROM snapshot WHERE place = ?", [existing.place])
    days.add(-1, received: existing.received, size: -existing.size)
  }

  private func isRemoved(_ id: Data) throws -> Bool {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM removed WHERE id = ?)"), arguments: [id]) ?? false
  }

  private func existing(_ id: Data) throws -> Existing? {
    try Row.fetchOne(
      db.cachedStatement(
        sql: "SELECT place, received, pending, \(RecordCoder.beginning) FROM snapshot WHERE id = ?"),
      arguments: [id]
    ).map {
      Existing(place: $0[0], received: $0[1], isPending: $0[2], size: try RecordCoder.size($0[3]))
    }
  }

  private func terms(at place: Int64) throws -> (description: String, identifiers: String) {
    try Row.fetchOne(
      db.cachedStatement(sql: "SELECT description, identifiers FROM term WHERE rowid = ?"), arguments: [place]
    ).map { ($0[0], $0[1]) } ?? ("", "")
  }

  private func freePlace(_ received: Int64) throws -> Int64 {
    let range = Place.range(received)
    let last = try Int64.fetchOne(
      db.cachedStatement(
        sql: "SELECT place FROM snapshot WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1"),
      arguments: [range.lowerBound, range.upperBound])
    let place = last.map { $0 + 1 } ?? range.lowerBound
    guard place <= range.upperBound else { throw CatalogError.tooManyAtOnce }
    return place
  }

  private func cached(_ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
