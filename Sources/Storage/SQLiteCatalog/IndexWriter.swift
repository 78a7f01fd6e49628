import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore

/// Changes the rows of the index within a transaction.
struct IndexWriter {
  let db: Database
  /// The versions that are known to be in the table `version`.
  private var versions: Set<Data> = []
  /// The words of the records that were added in this transaction, for the table `word`.
  private var words: Set<String> = []
  /// The terms that wait for the end of this transaction, to be written in the order of their places. FTS5 writes a
  /// segment whenever a place is lower than the one before.
  private var waiting: [(place: Int64, terms: Terms)] = []
  /// The changes to the table `day` that are not written yet.
  private var days = DayCounts()

  init(db: Database) { self.db = db }

  /// The search terms of a row. FTS5 needs them again to remove the row, since the table keeps no text.
  struct Terms: Equatable {
    let description: String
    let identifiers: String

    /// The words for the table `word`.
    var words: [String] {
      [description, identifiers].flatMap {
        $0.split(separator: " ").map(String.init).filter(Schema.isLongWord)
      }
    }
  }

  private struct Existing {
    let number: Int64
    let place: Int64
    let received: Int64
    let isPending: Bool
    let revision: Int64
    let size: Int64
    let terms: Terms
  }

  /// Adds a record, or replaces the one with the same id, as ``SnapshotStore/Catalog`` specifies.
  mutating func insert(_ record: PreparedRecord) throws {
    if try addFirst(record) { return }
    guard try !isRemoved(record.id) else { return }
    guard let existing = try existing(record.id) else {
      return try add(record, Self.terms(of: record), at: try freePlace(record.received))
    }
    if record.isPending, !existing.isPending { return }
    guard record.revision >= existing.revision else { return }
    let terms = Terms(
      description: record.description, identifiers: record.identifiers ?? existing.terms.identifiers)
    guard existing.received == record.received else {
      try delete(existing)
      return try add(record, terms, at: try freePlace(record.received))
    }
    try writeTerms()
    try cached(
      """
      UPDATE snapshot SET size = ?, report = ?, version = ?, pending = ?, record = ?, identifiers = ?, revision = ?
      WHERE number = ?
      """,
      [
        record.size, record.report, record.version, record.isPending, record.record, terms.identifiers,
        record.revision, existing.number,
      ])
    if existing.size != record.size {
      try cached("UPDATE listing SET size = ? WHERE place = ?", [record.size, existing.place])
      days.add(0, received: record.received, size: record.size - existing.size)
    }
    try addVersion(of: record)
    if existing.terms != terms {
      addWords(of: terms)
      try deleteTerms(of: existing)
      try addTerms(terms, at: existing.place)
    }
  }

  /// Removes a record, and keeps its id so that it is never inserted again.
  mutating func remove(_ id: Data) throws {
    if let existing = try existing(id) { try delete(existing) }
    try cached("INSERT OR IGNORE INTO removed VALUES (?)", [id])
  }

  /// Writes the counts, the words and the waiting terms of the transaction. Call it once, at its end.
  mutating func finish() throws {
    try writeTerms()
    for word in words.sorted() { try cached("INSERT OR IGNORE INTO word VALUES (?)", [word]) }
    try days.write(db)
  }

  /// Adds a record with a single statement, if it is new and the first of its millisecond. This covers nearly all
  /// records.
  /// - Returns: whether the record was added.
  private mutating func addFirst(_ record: PreparedRecord) throws -> Bool {
    let place = Place.range(record.received).lowerBound
    let terms = Self.terms(of: record)
    try cached(
      Self.insertWherePlaceIsFree, Self.row(record, terms, at: place) + [record.id, place])
    guard db.changesCount > 0 else { return false }
    try addEntries(of: record, terms, at: place)
    return true
  }

  private mutating func add(_ record: PreparedRecord, _ terms: Terms, at place: Int64) throws {
    try cached(Self.insert, Self.row(record, terms, at: place))
    try addEntries(of: record, terms, at: place)
  }

  /// Writes the entries that belong to the row inserted last.
  private mutating func addEntries(of record: PreparedRecord, _ terms: Terms, at place: Int64) throws {
    try cached(
      "INSERT INTO listing VALUES (?, ?, ?, ?)", [place, db.lastInsertedRowID, record.received, record.size])
    days.add(1, received: record.received, size: record.size)
    try addVersion(of: record)
    addWords(of: terms)
    waiting.append((place, terms))
  }

  /// Writes the waiting terms.
  private mutating func writeTerms() throws {
    for (place, terms) in waiting.sorted(by: { $0.place < $1.place }) { try addTerms(terms, at: place) }
    waiting = []
  }

  private mutating func addVersion(of record: PreparedRecord) throws {
    guard versions.insert(record.version).inserted else { return }
    try cached("INSERT OR IGNORE INTO version VALUES (?)", [record.version])
  }

  private mutating func addWords(of terms: Terms) { words.formUnion(terms.words) }

  private func addTerms(_ terms: Terms, at place: Int64) throws {
    try cached(
      "INSERT INTO term (rowid, description, identifiers) VALUES (?, ?, ?)",
      [place, terms.description, terms.identifiers])
  }

  private mutating func delete(_ existing: Existing) throws {
    try writeTerms()
    try deleteTerms(of: existing)
    try cached("DELETE FROM listing WHERE place = ?", [existing.place])
    try cached("DELETE FROM snapshot WHERE number = ?", [existing.number])
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
        sql: """
          SELECT number, place, received, size, pending, record, identifiers, revision FROM snapshot WHERE id = ?
          """),
      arguments: [id]
    ).map {
      let record = try SnapshotRecord(row: $0[5] as Data)
      return Existing(
        number: $0[0], place: $0[1], received: $0[2], isPending: $0[4], revision: $0[7], size: $0[3],
        terms: Terms(description: record.descriptionTerms.text, identifiers: $0[6]))
    }
  }

  private mutating func freePlace(_ received: Int64) throws -> Int64 {
    let range = Place.range(received)
    let last = try Int64.fetchOne(
      db.cachedStatement(
        sql: "SELECT place FROM listing WHERE place BETWEEN ? AND ? ORDER BY place DESC LIMIT 1"),
      arguments: [range.lowerBound, range.upperBound])
    let place = last.map { $0 + 1 } ?? range.lowerBound
    guard place <= range.upperBound else { throw CatalogError.tooManyAtOnce }
    return place
  }

  private static func terms(of record: PreparedRecord) -> Terms {
    Terms(description: record.description, identifiers: record.identifiers ?? "")
  }

  private static let columns =
    "(place, id, received, size, report, version, pending, record, identifiers, revision)"
  private static let insert = "INSERT INTO snapshot \(columns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
  private static let insertWherePlaceIsFree = """
    INSERT OR IGNORE INTO snapshot \(columns) SELECT ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
    WHERE NOT EXISTS (SELECT 1 FROM removed WHERE id = ?) AND NOT EXISTS (SELECT 1 FROM listing WHERE place = ?)
    """

  private static func row(
    _ record: PreparedRecord, _ terms: Terms, at place: Int64
  ) -> StatementArguments {
    [
      place, record.id, record.received, record.size, record.report, record.version, record.isPending,
      record.record, terms.identifiers, record.revision,
    ]
  }

  private func cached(_ sql: String, _ arguments: StatementArguments) throws {
    try db.cachedStatement(sql: sql).execute(arguments: arguments)
  }
}
