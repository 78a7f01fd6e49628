import PostgreSQLClient
import SnapshotStore

/// Changes records within a transaction.
struct IndexWriter {
  private let connection: PostgreSQLConnection
  /// The changes of the table `day` in this transaction.
  private var days = DayCounts()
  /// The words that the transaction has inserted.
  private var words: Set<String> = []

  /// Begins a change.
  init(_ connection: PostgreSQLConnection) { self.connection = connection }

  /// Adds records, or replaces those with the same ids, as ``SnapshotStore/Catalog`` specifies.
  mutating func insert(_ records: [PreparedRecord]) throws {
    // Several of one id have an effect one after the other.
    var (first, rest): ([PreparedRecord], [PreparedRecord]) = ([], [])
    var ids: Set<[UInt8]> = []
    for record in records {
      if ids.insert(record.id).inserted { first.append(record) } else { rest.append(record) }
      words.formUnion(record.words)
    }
    // Changes of the same records by several servers lock them in the same order.
    try insertDistinct(first.sorted { $0.id.lexicographicallyPrecedes($1.id) })
    if !rest.isEmpty { try insert(rest) }
  }

  /// Removes a record, and keeps its id so that it is never inserted again.
  mutating func remove(_ id: [UInt8]) throws {
    let added = try connection.query(
      "INSERT INTO snapshot (id, removed) VALUES ($1, now()) ON CONFLICT (id) DO NOTHING", [.bytes(id)])
    guard added.changes == 0, let former = try lock([id])[id] else { return }
    days.add(-1, received: former.received, size: -former.size)
    _ = try connection.query(
      """
      UPDATE snapshot SET received = NULL, size = NULL, pending = NULL, length = NULL, report = NULL,
        application = NULL, version = NULL, manifest = NULL, document = NULL, identifiers = NULL, terms = NULL,
        removed = now()
      WHERE id = $1
      """, [.bytes(id)])
  }

  /// Writes the counts and the words of the transaction. Call it once, at the end.
  func finish() throws {
    try days.write(connection)
    guard !words.isEmpty else { return }
    // Several servers insert the same words in the same order.
    let words = words.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    _ = try connection.query("INSERT INTO word SELECT unnest($1) ON CONFLICT DO NOTHING", [.texts(words)])
  }

  // MARK: - Rows

  private mutating func insertDistinct(_ records: [PreparedRecord]) throws {
    let inserted = Set(
      try connection.query(
        "INSERT INTO snapshot (\(Self.columns)) \(Self.rows) ON CONFLICT DO NOTHING RETURNING id",
        Self.parameters(records)
      ).map { try $0.bytes(0) })
    var replacing: [PreparedRecord] = []
    for record in records {
      if inserted.contains(record.id) {
        days.add(1, received: record.received, size: record.size)
      } else {
        replacing.append(record)
      }
    }
    if !replacing.isEmpty { try replace(replacing) }
  }

  /// Replaces rows that exist, unless they are newer.
  private mutating func replace(_ records: [PreparedRecord]) throws {
    // No other change comes between reading the former values and the update.
    let former = try lock(records.map(\.id))
    let replaced = Set(
      try connection.query(Self.replacement, Self.parameters(records)).map { try $0.bytes(0) })
    for record in records where replaced.contains(record.id) {
      guard let former = former[record.id] else { continue }
      days.add(-1, received: former.received, size: -former.size)
      days.add(1, received: record.received, size: record.size)
    }
  }

  /// Locks the rows of records that are not removed.
  private func lock(_ ids: [[UInt8]]) throws -> [[UInt8]: (received: Int64, size: Int64)] {
    let rows = try connection.query(
      """
      SELECT id, received, size FROM snapshot WHERE id = ANY($1) AND removed IS NULL ORDER BY id FOR UPDATE
      """, [.byteArrays(ids)])
    return Dictionary(
      uniqueKeysWithValues: try rows.map {
        (try $0.bytes(0), (try $0.int(1), try $0.int(2)))
      })
  }

  // MARK: - Statements

  private static let columns = """
    id, received, size, pending, length, report, application, version, manifest, document, revision, attempt,
    identifiers, terms
    """

  /// Selects the rows that the parameters describe.
  private static let rows = """
    SELECT id, received, size, pending <> 0 AS pending, length, report, application, version, manifest, document,
      revision, attempt, nullif(identifiers, -1)::integer AS identifiers, string_to_array(terms, ' ') AS terms
    FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) AS each (\(columns))
    """

  /// Terms that stay equal are not written, so that the index does not change.
  private static let replacement = """
    UPDATE snapshot AS old SET received = new.received, size = new.size, pending = new.pending, length = new.length,
      report = new.report, application = new.application, version = new.version, manifest = new.manifest,
      document = new.document, revision = new.revision, attempt = new.attempt,
      identifiers = coalesce(new.identifiers, old.identifiers),
      terms = coalesce(nullif(
        CASE WHEN new.identifiers IS NULL THEN old.terms[1:old.identifiers] || new.terms ELSE new.terms END,
        old.terms), old.terms)
    FROM (\(rows)) AS new
    WHERE old.id = new.id AND old.removed IS NULL AND old.revision <= new.revision
      AND (old.pending OR NOT new.pending)
    RETURNING old.id
    """

  private static func parameters(_ records: [PreparedRecord]) -> [PostgreSQLValue] {
    [
      .byteArrays(records.map(\.id)), .ints(records.map(\.received)), .ints(records.map(\.size)),
      .ints(records.map { $0.isPending ? 1 : 0 }), .ints(records.map { Int64($0.document.count) }),
      .texts(records.map(\.report)), .byteArrays(records.map(\.application)),
      .byteArrays(records.map(\.version)), .byteArrays(records.map(\.manifest)),
      .byteArrays(records.map(\.document)), .ints(records.map(\.revision)),
      .byteArrays(records.map(\.attempt)), .ints(records.map { Int64($0.identifierTerms ?? -1) }),
      .texts(records.map { $0.terms.joined(separator: " ") }),
    ]
  }
}
