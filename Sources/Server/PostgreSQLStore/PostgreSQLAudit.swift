import Foundation
package import Observability
package import PostgreSQLClient
package import SnapshotFormat

/// The audit lines of all servers in a PostgreSQL database.
package struct PostgreSQLAudit: SharedAudit {
  private static let schema = Schemas.audit.schema

  private let pool: PostgreSQLPool

  /// Creates the tables if they do not exist.
  package init(_ pool: PostgreSQLPool) async throws {
    self.pool = pool
    try await pool.perform { try Schemas.audit.apply($0) }
  }

  // MARK: - Copying

  package func positions(of server: SnapshotID) async throws -> [ContentDigest: Int64] {
    try await pool.perform { connection in
      let rows = try connection.query(
        "SELECT digest, position FROM \(Self.schema).file WHERE server = $1", [.bytes(Array(server.bytes))])
      var positions: [ContentDigest: Int64] = [:]
      for row in rows {
        if let digest = ContentDigest(bytes: try row.bytes(0)) { positions[digest] = try row.int(1) }
      }
      return positions
    }
  }

  package func append(_ batch: AuditBatch, of server: SnapshotID) async throws -> Bool {
    try await pool.transaction { connection in
      let key: [PostgreSQLValue] = [.bytes(Array(server.bytes)), .bytes(batch.file.bytes)]
      _ = try connection.query(
        """
        INSERT INTO \(Self.schema).file (server, digest, refused, position) VALUES ($1, $2, $3, 0)
        ON CONFLICT DO NOTHING
        """, key + [.bool(batch.isRefused)])
      let file = try connection.query(
        """
        UPDATE \(Self.schema).file SET position = $4 WHERE server = $1 AND digest = $2 AND position = $3
        RETURNING number
        """, key + [.int(batch.range.lowerBound), .int(batch.range.upperBound)])
      guard let number = try file.first?.int(0) else { return false }
      guard !batch.lines.isEmpty else { return true }
      _ = try connection.query(
        """
        INSERT INTO \(Self.schema).line
        SELECT $1, position, 'epoch'::timestamptz + time * interval '1 microsecond', $2, nullif(snapshot, ''),
          nullif(compared, ''), line
        FROM unnest($3, $4, $5, $6, $7) AS each (position, time, snapshot, compared, line)
        ON CONFLICT DO NOTHING
        """,
        [
          .int(number), .bool(batch.isRefused), .ints(batch.lines.map(\.position)),
          .ints(batch.lines.map { Self.microseconds($0.time) }),
          .byteArrays(batch.lines.map { $0.snapshot.map { Array($0.bytes) } ?? [] }),
          .byteArrays(batch.lines.map { $0.comparedWith.map { Array($0.bytes) } ?? [] }),
          .texts(batch.lines.map(\.text)),
        ])
      return true
    }
  }

  private static func microseconds(_ time: Date) -> Int64 {
    Int64((time.timeIntervalSince1970 * 1_000_000).rounded())
  }

  // MARK: - Removing

  /// A clock that is ahead removes nothing: that of the database and that of this server have to agree.
  package func trim(_ server: SnapshotID, keeping count: Int) async throws {
    let files = try await pool.transaction { connection in
      _ = try connection.query(
        "INSERT INTO \(Self.schema).server VALUES ($1) ON CONFLICT (id) DO UPDATE SET seen = now()",
        [.bytes(Array(server.bytes))])
      return try connection.query(
        """
        SELECT number FROM (
          SELECT number, is_removed, row_number() OVER (PARTITION BY refused ORDER BY number DESC) AS age
          FROM \(Self.schema).file WHERE server = $1) AS own
        WHERE age > $2 AND NOT is_removed
        UNION ALL
        SELECT number FROM \(Self.schema).file JOIN \(Self.schema).server ON server.id = file.server
        WHERE seen < least(now(), timestamptz 'epoch' + $3 * interval '1 microsecond')
          - interval '\(AuditLimits.unseenDays) days' AND NOT is_removed
        """, [.bytes(Array(server.bytes)), .int(Int64(count)), .int(Self.microseconds(Date()))]
      ).map { try $0.int(0) }
    }
    for file in files { try await removeLines(of: file) }
  }

  private func removeLines(of file: Int64) async throws {
    while try await pool.perform({ connection in
      try connection.query(
        """
        DELETE FROM \(Self.schema).line WHERE file = $1 AND position IN (
          SELECT position FROM \(Self.schema).line WHERE file = $1 ORDER BY position LIMIT $2)
        """, [.int(file), .int(Int64(AuditLimits.removedLines))]
      ).changes > 0
    }) {}
    try await pool.perform { connection in
      _ = try connection.query(
        "UPDATE \(Self.schema).file SET is_removed = true WHERE number = $1", [.int(file)])
    }
  }

  // MARK: - Reading

  package func lines(about id: SnapshotID, limit: Int) async throws -> [String] {
    try await pool.perform { connection in
      try connection.query(
        """
        SELECT line FROM (
          (SELECT time, file, position, line FROM \(Self.schema).line WHERE snapshot = $1 AND NOT refused
            ORDER BY time DESC LIMIT $2)
          UNION ALL
          (SELECT time, file, position, line FROM \(Self.schema).line WHERE compared = $1 AND NOT refused
            AND snapshot IS DISTINCT FROM $1 ORDER BY time DESC LIMIT $2)) AS found
        ORDER BY time DESC, file DESC, position DESC LIMIT $2
        """, [.bytes(Array(id.bytes)), .int(Int64(limit))]
      ).map { try $0.text(0) }
    }
  }
}
