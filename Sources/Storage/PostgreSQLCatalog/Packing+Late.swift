import PostgreSQLClient

/// Records that arrive when newer ones are already in blocks belong into a block, or between two of them. Once too many
/// of them have no block, the block with the most of them is written again together with them.
///
/// That block then has at least one late record for each ``IndexLimits/lateShare`` that are written, so that the work
/// for each is limited, however they are distributed.
extension Packing {
  /// Selects the places and the block of the late records that belong to the block with the most of them, oldest first,
  /// at most $2. There are none if at most $1 records are late, or one in ``IndexLimits/lateShare`` of as many as blocks of
  /// $2 can have. Records older than all blocks belong to the first.
  static let lateSQL = """
    WITH range AS (
      SELECT key, CASE WHEN lag(key) OVER keys IS NULL THEN 0 ELSE key - 1 END AS low,
        coalesce(lead(key) OVER keys - 2, last) AS high
      FROM block WINDOW keys AS (ORDER BY key)),
    counted AS MATERIALIZED (
      SELECT key, low, high, (
        SELECT count(*) FROM posting WHERE term = '|' AND slots IS NULL AND place BETWEEN low AND high) AS late
      FROM range)
    SELECT found.place, fullest.key FROM (SELECT * FROM counted ORDER BY late DESC LIMIT 1) AS fullest
    CROSS JOIN LATERAL (
      SELECT place FROM posting WHERE term = '|' AND slots IS NULL AND place BETWEEN fullest.low AND fullest.high
      ORDER BY place LIMIT $2) AS found
    WHERE (SELECT sum(late) FROM counted)
      > greatest($1, (SELECT count(*) FROM counted) * $2 / \(IndexLimits.lateShare))
    ORDER BY found.place
    """

  /// Writes a block again with late records, as several blocks if they are too many for one.
  /// - Returns: whether there were enough late records.
  func packLate(_ connection: PostgreSQLConnection) throws -> Bool {
    // What an earlier version has built lacks the index by which the rows of a block are found.
    guard try !connection.query("SELECT to_regclass('packed') IS NULL")[0].bool(0) else { return false }
    let rows = try connection.query(Self.lateSQL, [.int(Int64(loose)), .int(Int64(block))])
    guard let key = try rows.first?.int(1) else { return false }
    let late = try rows.map { try $0.int(0) }
    let members = try BlockWriter.Member.read(try takeBlock(key, connection) + late, connection)
    let parts = (members.count + block - 1) / block
    for part in 0..<parts {
      let range = members.count * part / parts..<members.count * (part + 1) / parts
      let packed = try BlockWriter(Array(members[range]))
      try packed.removeLoose(Set(late), connection)
      try packed.write(connection, isNew: false)
    }
    // A row without a record would be late forever.
    _ = try connection.query("DELETE FROM posting WHERE term = '|' AND place = ANY($1)", [.ints(late)])
    return true
  }

  /// Removes a block, and returns the places of its records.
  private func takeBlock(_ key: Int64, _ connection: PostgreSQLConnection) throws -> [Int64] {
    _ = try connection.query("DELETE FROM posting WHERE place = $1 AND slots IS NOT NULL", [.int(key)])
    let row = try connection.query("DELETE FROM block WHERE key = $1 RETURNING listing, gone", [.int(key)])[0]
    let listing = try Listing(row.bytes(0))
    guard let gone = SlotSet(numbers: row.isNull(1) ? [] : try row.bytes(1)) else { throw MalformedRow() }
    let removed = Set(gone.slots)
    return try (0..<listing.count).filter { !removed.contains($0) }.map { try listing.entry($0).place }
  }
}
