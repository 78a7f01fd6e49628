package import AccessControl
package import PostgreSQLClient

/// The sessions of the web pages in a PostgreSQL table. The end of a session reaches the other servers by a notification.
package struct PostgreSQLSessions: SharedSessions {
  private static let channel = "snapshot_sessions"
  private static let schema = Schemas.sessions.schema

  private let pool: PostgreSQLPool

  /// Creates the table if it does not exist.
  package init(_ pool: PostgreSQLPool) async throws {
    self.pool = pool
    try await pool.perform { try Schemas.sessions.apply($0) }
  }

  package func insert(_ key: SessionKey, token: String, limits: SessionLimits) async throws {
    try await pool.transaction { connection in
      _ = try connection.query(
        "INSERT INTO \(Self.schema).session (key, token) VALUES ($1, $2)", [.bytes(key.bytes), .text(token)])
      _ = try connection.query(
        "DELETE FROM \(Self.schema).session WHERE NOT (\(Self.isValid("$1", "$2")))", Self.ends(limits))
      _ = try connection.query(
        """
        DELETE FROM \(Self.schema).session WHERE key IN (
          (SELECT key FROM \(Self.schema).session WHERE token = $1 ORDER BY last_use DESC, began DESC OFFSET $2)
          UNION ALL (SELECT key FROM \(Self.schema).session ORDER BY last_use DESC, began DESC OFFSET $3))
        """, [.text(token), .int(Int64(limits.sessionsPerToken)), .int(Int64(limits.sessions))])
    }
  }

  package func find(_ key: SessionKey, limits: SessionLimits) async throws -> SharedSession? {
    try await pool.perform { connection in
      let rows = try connection.query(
        """
        SELECT token, \(Self.microseconds(since: "began")), \(Self.microseconds(since: "last_use"))
        FROM \(Self.schema).session WHERE key = $3 AND \(Self.isValid("$1", "$2"))
        """, Self.ends(limits) + [.bytes(key.bytes)])
      return try rows.first.map { row in
        SharedSession(
          token: try row.text(0), age: .microseconds(try row.int(1)), idle: .microseconds(try row.int(2)))
      }
    }
  }

  package func use(_ key: SessionKey) async throws {
    try await pool.perform { connection in
      _ = try connection.query(
        "UPDATE \(Self.schema).session SET last_use = now() WHERE key = $1", [.bytes(key.bytes)])
    }
  }

  package func remove(_ key: SessionKey) async throws {
    try await pool.transaction { connection in
      let removed = try connection.query(
        "DELETE FROM \(Self.schema).session WHERE key = $1", [.bytes(key.bytes)])
      if removed.changes > 0 { try connection.notify(Self.channel, Self.payload(key)) }
    }
  }

  package func existing(_ keys: [SessionKey]) async throws -> Set<SessionKey> {
    try await pool.perform { connection in
      let rows = try connection.query(
        "SELECT key FROM \(Self.schema).session WHERE key = ANY($1)", [.byteArrays(keys.map(\.bytes))])
      return Set(try rows.map { SessionKey(bytes: try $0.bytes(0)) })
    }
  }

  package func removals() -> AsyncStream<SessionKey?> {
    let listener = PostgreSQLListener(pool.configuration, channel: Self.channel)
    let (stream, continuation) = AsyncStream.makeStream(of: SessionKey?.self)
    let reading = Task {
      for await event in listener.events {
        switch event {
        // Earlier notifications are lost.
        case .connected: continuation.yield(nil)
        case .notification(let notification): continuation.yield(Self.key(notification.payload))
        case .disconnected: break
        }
      }
    }
    continuation.onTermination = { _ in
      reading.cancel()
      listener.stop()
    }
    return stream
  }

  // MARK: - Statements

  /// The condition that a session has not ended, by the parameters of ``ends(_:)``.
  private static func isValid(_ idle: String, _ longest: String) -> String {
    """
    last_use > now() - \(idle) * interval '1 microsecond' AND began > now() - \(longest) * interval '1 microsecond'
    """
  }

  private static func ends(_ limits: SessionLimits) -> [PostgreSQLValue] {
    [.int(limits.idle.microseconds), .int(limits.longest.microseconds)]
  }

  private static func microseconds(since column: String) -> String {
    "(extract(epoch FROM now() - \(column)) * 1000000)::bigint"
  }

  /// The digest of a secret as text: it does not reveal the secret.
  private static func payload(_ key: SessionKey) -> String {
    key.bytes.map { byte in String(byte, radix: 16).leftPadded }.joined()
  }

  /// The key of a notification; `nil` for one of another version.
  private static func key(_ payload: String) -> SessionKey? {
    let digits = Array(payload.utf8)
    var bytes: [UInt8] = []
    for start in stride(from: 0, to: digits.count - 1, by: 2) {
      guard let byte = UInt8(String(decoding: digits[start...start + 1], as: UTF8.self), radix: 16) else {
        return nil
      }
      bytes.append(byte)
    }
    return SessionKey(bytes: bytes)
  }
}

extension String {
  /// Two hexadecimal digits.
  fileprivate var leftPadded: String { count < 2 ? "0" + self : self }
}
