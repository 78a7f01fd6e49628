import PostgreSQLClient
package import SnapshotFormat
package import SnapshotStore

/// The intents are in the schema of the index, so that they are lost with it and never without it. Their ages are measured
/// with the database's clock.
extension PostgreSQLCatalog: ChangeIntents {
  package func write(
    _ added: [ChangeIntent], removing ended: [ChangeIntent]
  ) async throws(CatalogError) {
    guard !added.isEmpty || !ended.isEmpty else { return }
    // One statement is one transaction.
    try await perform { connection in
      _ = try connection.query(
        """
        WITH ended AS (DELETE FROM unindexed WHERE number = ANY($3))
        INSERT INTO unindexed (number, id, creation)
        SELECT number, id, creation <> 0 FROM unnest($1, $2, $4) AS each (number, id, creation)
        ON CONFLICT (number) DO UPDATE SET noted = now()
        """,
        [
          .byteArrays(added.numbers), .byteArrays(added.map { Array($0.snapshot.bytes) }),
          .byteArrays(ended.numbers), .ints(added.map { $0.isCreation ? 1 : 0 }),
        ])
    }
  }

  package func overdue(_ age: Duration, limit: Int) async throws(CatalogError) -> [ChangeIntent] {
    try await perform { connection in
      try connection.query(
        """
        SELECT number, id, creation FROM unindexed WHERE noted < now() - $1 * interval '1 microsecond'
        ORDER BY noted LIMIT $2
        """, [.int(age.microseconds), .int(Int64(limit))]
      ).map { row in
        guard let number = SnapshotID(bytes: try row.bytes(0)), let id = SnapshotID(bytes: try row.bytes(1))
        else {
          throw MalformedRow()
        }
        return ChangeIntent(number, of: id, isCreation: try row.bool(2))
      }
    }
  }

  package func remove(_ intents: [ChangeIntent], olderThan age: Duration) async throws(CatalogError) {
    guard !intents.isEmpty else { return }
    try await perform { connection in
      _ = try connection.query(
        "DELETE FROM unindexed WHERE number = ANY($1) AND noted < now() - $2 * interval '1 microsecond'",
        [.byteArrays(intents.numbers), .int(age.microseconds)])
    }
  }
}

extension PostgreSQLCatalog: SettledRecords {
  package func settledRecord(_ id: SnapshotID) async throws(CatalogError) -> SnapshotRecord? {
    try await perform { connection in
      // One statement sees one state of the database.
      try connection.query(
        """
        SELECT document, attempt FROM snapshot WHERE id = $1 AND removed IS NULL AND attempt <> ''
          AND NOT EXISTS (SELECT FROM unindexed WHERE unindexed.id = $1 AND NOT creation)
        """, [.bytes(Array(id.bytes))]
      ).map { row in
        guard let attempt = SnapshotID(bytes: try row.bytes(1)) else { throw MalformedRow() }
        var record = try SnapshotRecord(row: row.bytes(0))
        record.attempt = attempt
        return record
      }.first
    }
  }
}

extension [ChangeIntent] {
  fileprivate var numbers: [[UInt8]] { map { [UInt8]($0.number.bytes) } }
}
