import PostgreSQLClient
import SnapshotStore

/// Changes records within a transaction.
struct IndexWriter {
  private let connection: PostgreSQLConnection
  private let phase: IndexPhase
  /// The changes of the table `day` in this transaction.
  private var days = DayCounts()
  /// The number of records that were indexed without a block.
  private(set) var loose = 0

  /// A row as it was before a change.
  private struct Existing {
    let id: [UInt8]
    let place: Int64?
    let received: Int64
    let size: Int64
    let isPending: Bool
    let revision: Int64
    let record: [UInt8]
    let identifiers: String

    /// A removed id.
    var isRemoved: Bool { place == nil }
  }

  /// Begins a change, which waits while the whole index is being changed.
  init(_ connection: PostgreSQLConnection) throws {
    self.connection = connection
    try connection.lockShared(Schema.changes)
    phase = try IndexState.read(connection).phase
  }

  /// Adds records, or replaces those with the same ids, as ``SnapshotStore/Catalog`` specifies.
  mutating func insert(_ records: [PreparedRecord]) throws {
    // Several of one id have an effect one after the other.
    var (first, rest): ([PreparedRecord], [PreparedRecord]) = ([], [])
    var ids: Set<[UInt8]> = []
    for record in records {
      if ids.insert(record.id).inserted { first.append(record) } else { rest.append(record) }
    }
    // Changes of the same records by several servers lock them in the same order.
    try insertDistinct(first.sorted { $0.id.lexicographicallyPrecedes($1.id) })
    if !rest.isEmpty { try insert(rest) }
  }

  /// Removes a record, and notes its id so that it is never inserted again.
  mutating func remove(_ id: [UInt8]) throws {
    let added = try connection.query(
      "INSERT INTO snapshot (id, removed) VALUES ($1, now()) ON CONFLICT (id) DO NOTHING", [.bytes(id)])
    guard added.changes == 0, let existing = try existing([id]).first, !existing.isRemoved else { return }
    try withdraw(existing)
    _ = try connection.query(
      """
      UPDATE snapshot SET place = NULL, received = NULL, size = NULL, pending = NULL, length = NULL, report = NULL,
        version = NULL, record = NULL, identifiers = NULL, removed = now() WHERE id = $1
      """, [.bytes(id)])
  }

  /// Writes the counts of the transaction. Call it once, at the end.
  func finish() throws { if phase != .collecting { try days.write(connection) } }

  // MARK: - Rows

  private mutating func insertDistinct(_ records: [PreparedRecord]) throws {
    var waiting = records
    for attempt in 0..<IndexLimits.placeAttempts where !waiting.isEmpty {
      let places = Self.places(for: waiting, areRandom: attempt > 0)
      let inserted = try insertRows(waiting, at: places)
      let added = zip(waiting, places).filter { inserted.contains($0.0.id) }
      try index(added.map { ($0.1, $0.0, $0.0.identifiers ?? "") })
      waiting.removeAll { inserted.contains($0.id) }
      guard !waiting.isEmpty else { break }
      // The others exist, or their place is taken.
      let existing = try existing(waiting.map(\.id))
      for former in existing where !former.isRemoved {
        if let record = waiting.first(where: { $0.id == former.id }) { try replace(former, by: record) }
      }
      let known = Set(existing.map(\.id))
      waiting.removeAll { known.contains($0.id) }
    }
    guard waiting.isEmpty else { throw CatalogError.tooManyAtOnce }
    if !records.isEmpty { try addVersions(of: records) }
  }

  /// Returns places that differ from each other.
  private static func places(for records: [PreparedRecord], areRandom: Bool) -> [Int64] {
    if areRandom { return records.map { Place.random(in: $0.received) } }
    var next: [Int64: Int] = [:]
    return records.map { record in
      defer { next[record.received, default: 0] += 1 }
      return Place.numbered(next[record.received, default: 0], in: record.received)
    }
  }

  /// Inserts rows whose id and place are free, and returns the ids of these.
  private func insertRows(_ records: [PreparedRecord], at places: [Int64]) throws -> Set<[UInt8]> {
    let rows = try connection.query(
      """
      INSERT INTO snapshot
        (id, place, received, size, pending, length, report, version, record, identifiers, revision, attempt)
      SELECT a, b, c, d, e <> 0, f, g, h, i, j, k, l
      FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS each (a, b, c, d, e, f, g, h, i, j, k, l)
      ON CONFLICT DO NOTHING RETURNING id
      """,
      [
        .byteArrays(records.map(\.id)), .ints(places), .ints(records.map(\.received)),
        .ints(records.map(\.size)),
        .ints(records.map { $0.isPending ? 1 : 0 }), .ints(records.map { Int64($0.length) }),
        .texts(records.map(\.report)), .byteArrays(records.map(\.version)),
        .byteArrays(records.map(\.record)),
        .texts(records.map { $0.identifiers ?? "" }), .ints(records.map(\.revision)),
        .byteArrays(records.map(\.attempt)),
      ])
    return Set(try rows.map { try $0.bytes(0) })
  }

  private func existing(_ ids: [[UInt8]]) throws -> [Existing] {
    try connection.query(
      """
      SELECT id, place, received, size, pending, record, identifiers, revision FROM snapshot WHERE id = ANY($1)
      ORDER BY id FOR UPDATE
      """, [.byteArrays(ids)]
    ).map { row in
      guard !row.isNull(1) else {
        return Existing(
          id: try row.bytes(0), place: nil, received: 0, size: 0, isPending: false, revision: 0,
          record: [], identifiers: "")
      }
      return Existing(
        id: try row.bytes(0), place: try row.int(1), received: try row.int(2), size: try row.int(3),
        isPending: try row.bool(4), revision: try row.int(7), record: try row.bytes(5),
        identifiers: try row.text(6))
    }
  }

  private mutating func replace(_ existing: Existing, by record: PreparedRecord) throws {
    if record.isPending, !existing.isPending { return }
    // The row is locked, so that no other change comes between this comparison and the update.
    guard record.revision >= existing.revision else { return }
    let identifiers = record.identifiers ?? existing.identifiers
    let keepsPlace =
      try existing.received == record.received && existing.size == record.size
      && IndexedTerms.of(record: existing.record, identifiers: existing.identifiers)
        == IndexedTerms.of(record: record.record, identifiers: identifiers)
    if !keepsPlace { try withdraw(existing) }
    for attempt in 0..<IndexLimits.placeAttempts {
      guard let former = existing.place else { return }
      let place = keepsPlace ? former : Place.random(in: record.received)
      let isTaken =
        try !keepsPlace
        && connection.query("SELECT 1 FROM snapshot WHERE place = $1", [.int(place)]).isEmpty == false
      if isTaken, attempt + 1 < IndexLimits.placeAttempts { continue }
      guard !isTaken else { throw CatalogError.tooManyAtOnce }
      _ = try connection.query(
        """
        UPDATE snapshot SET place = $2, received = $3, size = $4, pending = $5, length = $6, report = $7,
          version = $8, record = $9, identifiers = $10, revision = $11, attempt = $12 WHERE id = $1
        """,
        [
          .bytes(record.id), .int(place), .int(record.received), .int(record.size), .bool(record.isPending),
          .int(Int64(record.length)), .text(record.report), .bytes(record.version), .bytes(record.record),
          .text(identifiers), .int(record.revision), .bytes(record.attempt),
        ])
      if !keepsPlace { try index([(place, record, identifiers)]) }
      return
    }
  }

  private func addVersions(of records: [PreparedRecord]) throws {
    let versions = Set(records.map(\.version)).sorted { $0.lexicographicallyPrecedes($1) }
    _ = try connection.query(
      "INSERT INTO version SELECT * FROM unnest($1) ON CONFLICT DO NOTHING", [.byteArrays(versions)])
  }

  // MARK: - Terms

  /// Adds the terms of rows that were inserted or moved.
  private mutating func index(_ rows: [(place: Int64, record: PreparedRecord, identifiers: String)]) throws {
    guard phase != .collecting, !rows.isEmpty else { return }
    var (terms, places): ([String], [Int64]) = ([], [])
    for row in rows {
      days.add(1, received: row.record.received, size: row.record.size)
      let found = try IndexedTerms.of(record: row.record.record, identifiers: row.identifiers)
      terms += found
      places += Array(repeating: row.place, count: found.count)
    }
    loose += rows.count
    _ = try connection.query(
      "INSERT INTO posting SELECT term, place, NULL FROM unnest($1, $2) AS each (term, place)",
      [.texts(terms), .ints(places)])
  }

  /// Removes the terms of a row. In a block only the record is marked; a later record can have the same place then.
  private mutating func withdraw(_ existing: Existing) throws {
    guard phase != .collecting, let place = existing.place else { return }
    let terms = try IndexedTerms.of(record: existing.record, identifiers: existing.identifiers)
    let rows = try connection.query(
      "DELETE FROM posting WHERE term = ANY($1) AND place = $2", [.texts(Array(terms)), .int(place)])
    if rows.changes == 0 {
      // Otherwise the build will not find the record, and so not count it.
      guard let block = try StoredBlock.containing(place, connection),
        let slot = block.listing.slot(of: place)
      else { return }
      _ = try connection.query(
        "UPDATE block SET gone = coalesce(gone, '') || $2 WHERE key = $1",
        [.int(block.key), .bytes(SlotSet.number(slot))])
    }
    days.add(-1, received: existing.received, size: -existing.size)
  }
}

/// A row of the table `block` with its listing.
struct StoredBlock {
  let key: Int64
  let listing: Listing

  /// Returns the block whose range contains `place`; `nil` if there is none. The record at that place can still be
  /// outside of the block.
  static func containing(_ place: Int64, _ connection: PostgreSQLConnection) throws -> StoredBlock? {
    let rows = try connection.query(
      "SELECT key, last, listing FROM block WHERE key <= $1 ORDER BY key DESC LIMIT 1",
      [.int(Place.blockKey(first: place))])
    guard let row = rows.first, try row.int(1) >= place else { return nil }
    return StoredBlock(key: try row.int(0), listing: try Listing(row.bytes(2)))
  }
}

/// The row of the table `state`.
struct IndexState {
  let generation: Int
  let phase: IndexPhase

  static func read(_ connection: PostgreSQLConnection) throws -> IndexState {
    let rows = try connection.query("SELECT generation, phase FROM state")
    guard let row = rows.first, let phase = IndexPhase(rawValue: try row.int(1)) else {
      throw PostgreSQLError.unexpectedResult("The table state is empty.")
    }
    return IndexState(generation: Int(try row.int(0)), phase: phase)
  }

  static func set(_ phase: IndexPhase, _ connection: PostgreSQLConnection) throws {
    _ = try connection.query("UPDATE state SET phase = $1", [.int(phase.rawValue)])
  }
}
