package import AccessControl
package import PostgreSQLClient

/// The counters of quotas in a PostgreSQL table: the bytes that remained of each when it was last counted.
package struct PostgreSQLQuotas: SharedQuotas {
  private static let schema = Schemas.quotas.schema
  /// On average, every call of this number removes the counters that are full again.
  private static let callsUntilRemoval = 60

  private let pool: PostgreSQLPool

  /// Creates the table if it does not exist.
  package init(_ pool: PostgreSQLPool) async throws {
    self.pool = pool
    try await pool.perform { try Schemas.quotas.apply($0) }
  }

  package func count(_ uses: [QuotaUse]) async throws -> [Double] {
    // Servers that count the same keys lock their rows in the same order.
    let sorted = uses.sorted { $0.key < $1.key }
    return try await pool.transaction { connection in
      if Int.random(in: 0..<Self.callsUntilRemoval) == 0 {
        try connection.execute(
          "DELETE FROM \(Self.schema).quota WHERE counted < now() - seconds * interval '1 second'")
      }
      // The bytes come back evenly over the period.
      let rows = try connection.query(
        """
        INSERT INTO \(Self.schema).quota AS former
        SELECT key, bytes, seconds, bytes - used, now() FROM unnest($1, $2, $3, $4) AS use (key, bytes, seconds, used)
        ON CONFLICT (key) DO UPDATE SET
          remaining = excluded.remaining - excluded.bytes + CASE
            WHEN (former.bytes, former.seconds) <> (excluded.bytes, excluded.seconds) THEN excluded.bytes
            ELSE least(excluded.bytes, former.remaining + greatest(0, extract(epoch FROM now() - former.counted))
              * excluded.bytes / excluded.seconds) END,
          bytes = excluded.bytes, seconds = excluded.seconds, counted = greatest(former.counted, now())
        RETURNING key, floor(remaining)::bigint
        """,
        [
          .texts(sorted.map(\.key)), .ints(sorted.map { Int64($0.limit) }),
          .ints(sorted.map { Int64($0.seconds) }),
          .ints(sorted.map { Int64($0.bytes) }),
        ])
      let remaining = Dictionary(
        uniqueKeysWithValues: try rows.map { (try $0.text(0), Double(try $0.int(1))) })
      return uses.map { remaining[$0.key] ?? 0 }
    }
  }
}
