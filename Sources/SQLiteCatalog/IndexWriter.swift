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

  /// What a row is found by: what the index has to be told again to forget it.
  private struct Terms: Equatable {
    let description: String
    let identifiers: String
  }

  private struct Existing {
    let place: Int64
    let received: Int64
    let isPending: Bool
    let size: Int64
    let terms: Terms
  }

  /// Adds a record, or replaces the one with the same id, by the rules of ``SnapshotStore/Catalog``.
  mutating func insert(_ record: PreparedRecord) throws {
    if try addFirst(record) { return }
    guard try !isRemoved(record.id) else { return }
    guard let existing = try existing(record.id) else { return try add(record, Self.terms(of: record)) }
    if record.isPending, !existing.isPending { return }
    let terms = Terms(
      description: record.description, identifiers: record.identifiers ?? existing.terms.identifiers)
    guard existing.received == record.received else {
      try delete(existing)
      return try add(record, terms)
    }
    try cached(
      """
      UPDATE snapshot SET size = ?, report = ?, version = ?, pending = ?, length = ?, record = ?, identifiers = ?
      WHERE place = ?
      """,
      [
        record.size, record.report, record.version, record.isPending, record.length, record.record,
        terms.identifiers, existing.place,
      ])
    days.add(0, received: record.received, size: record.size - existing.size)
    if existing.terms != terms {
      try deleteTerms(of: existing)
      try addTerms(terms, of: record, at: existing.place)
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
    let terms = Self.terms(of: record)
    try cached(
      """
      INSERT OR IGNORE INTO snapshot \(Self.columns) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
      WHERE NOT EXISTS (SELECT 1 FROM removed WHERE id = ?)
      AND NOT EXISTS (SELECT 1 FROM snapshot WHERE place = ?)
      """,
      Self.row(record, terms, at: place) + [record.id, place])
    guard db.changesCount > 0 else { return false }
    try note(record, terms, at: place)
    return true
  }

  private mutating func add(_ record: PreparedRecord, _ terms: Terms) throws {
    let place = try freePlace(record.received)
    try cached(
      "INSERT INTO snapshot \(Self.columns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      Self.row(record, terms, at: place))
    try note(record, terms, at: place)
  }

  private mutating func note(_ record: PreparedRecord, _ terms: Terms, at place: Int64) throws {
    days.add(1, received: record.received, size: record.size)
    try addTerms(terms, of: record, at: place)
  }

  private mutating func addTerms(_ terms: Terms, of record: PreparedRecord, at place: Int64) throws {
    if versions.insert(record.version).inserted {
      try cached("INSERT OR IGNORE INTO version VALUES (?)", [record.version])
    }
    try cached(
      "INSERT INTO term (rowid, description, identifiers) VALUES (?, ?, ?)",
      [place, terms.description, terms.identifiers])
  }

  private mutating func delete(_ existing: Existing) throws {
    try deleteTerms(of: existing)
    try cached("DELETE FROM snapshot WHERE place = ?", [existing.place])
    days.add(-1, received: existing.received, size: -existing.size)
  }

  private func deleteTerms(of existing: Existing) throws {
    try cached(
      "INSERT INTO term (term, rowid, description, identifiers) VALUES ('delete', ?, ?, ?)",
      [existing.place, existing.terms.description, existing.terms.identifiers])
  }

  private func isRemoved(_ id: Data) throws -> Bool {
    try Bool.fetchOne(
      db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM removed WHERE id = ?)"), arguments: [id]) ?? false
  }

  private func existing(_ id: Data) throws -> Existing? {
    try Row.fetchOne(
      db.cachedStatement(
        sql: "SELECT place, received, size, pending, record, identifiers FROM snapshot WHERE id = ?"),
      arguments: [id]
    ).map {
      let record = try RecordCoder.decode($0[4])
      return Existing(
        place: $0[0], received: $0[1], isPending: $0[3], size: $0[2],
        terms: Terms(description: record.descriptionTerms.text, identifiers: $0[5]))
    }
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

  private static func terms(of record: PreparedRecord) -> Terms {
    Terms(description: record.description, identifiers: record.identifiers ?? "")
  }

  private static let columns =
    "(place, id, received, size, report, version, pending, length, record, identifiers)"

  private static func row(
    _ record: PreparedRecord, _ terms: Terms, at place: Int64
  ) -> StatementArguments {
    [
      place, record.id, record.received, record.size, record.report, record.version, record.isPending,
      record.length, record.record, terms.identifiers,
    ]
  }

  private func cached(_ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
