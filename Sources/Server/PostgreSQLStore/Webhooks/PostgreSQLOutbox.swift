package import Foundation
package import PostgreSQLClient
package import SnapshotFormat
import SystemIO
package import Webhooks

/// The outbox of servers that share their snapshots, in a PostgreSQL database. All of them add events, and the server
/// that holds the lock of ``/Webhooks/Webhooks/Environment/lock`` sends them.
///
/// A transaction locks the rows of endpoints first, in the order of their names, and then those of deliveries.
package final class PostgreSQLOutbox: WebhookOutbox {
  private static let schema = Schemas.webhooks.schema
  /// Held while old deliveries are removed, so that one server does it at a time.
  private static let pruning = PostgreSQLLockKey("webhooks.pruning")

  let pool: PostgreSQLPool
  let waitingLimit: Int
  /// The endpoints in the settings of this server.
  private let named = Lock<[String]>([])

  /// Connects to the database, and creates the tables if they are missing.
  ///
  /// If the database does not answer, a call fails within four seconds, and further ones at once.
  /// - Parameters:
  ///   - other: a pool for the same database. If it fails, calls fail at once, too.
  ///   - waitingLimit: the most events that wait for one endpoint.
  package static func open(
    _ configuration: PostgreSQLConfiguration, failingWith other: PostgreSQLPool? = nil,
    waitingLimit: Int = WebhookLimits.waitingPerEndpoint
  ) async throws -> PostgreSQLOutbox {
    let outbox = PostgreSQLOutbox(configuration.required, other, waitingLimit)
    try await outbox.pool.perform { try Schemas.webhooks.apply($0) }
    return outbox
  }

  private init(_ configuration: PostgreSQLConfiguration, _ other: PostgreSQLPool?, _ waitingLimit: Int) {
    var configuration = configuration
    configuration.session = "SET search_path = \(Self.schema), public"
    pool = PostgreSQLPool(configuration, failingWith: other)
    self.waitingLimit = waitingLimit
  }

  /// Closes the connections. Later calls throw.
  package func close() { pool.close() }

  /// A time as the tables have it.
  static func milliseconds(_ time: Date) -> Int64 { Int64((time.timeIntervalSince1970 * 1000).rounded()) }

  // MARK: Adding

  package func add(_ event: WebhookEvent, for endpoints: [String], at now: Date) async throws -> Int {
    try await pool.transaction { [waitingLimit] connection in
      guard try Self.insert(event, isHeld: false, at: now, connection) else { return 0 }
      return try Self.enqueue(
        event.id, of: "\(event.snapshot)", endpoints, waitingLimit, at: now, connection)
    }
  }

  package func hold(_ event: WebhookEvent, at now: Date) async throws {
    try await pool.perform { connection in _ = try Self.insert(event, isHeld: true, at: now, connection) }
  }

  package func release(_ event: String, for endpoints: [String], at now: Date) async throws -> Int {
    try await pool.transaction { [waitingLimit] connection in
      let released = try connection.query(
        "UPDATE event SET held = false WHERE id = $1 AND held RETURNING snapshot", [.text(event)])
      guard let snapshot = try released.first?.text(0) else { return 0 }
      return try Self.enqueue(event, of: snapshot, endpoints, waitingLimit, at: now, connection)
    }
  }

  package func discard(_ event: String) async throws {
    try await pool.perform { connection in
      _ = try connection.query("DELETE FROM event WHERE id = $1 AND held", [.text(event)])
    }
  }

  package func held(since time: Date) async throws -> [String: SnapshotID] {
    try await pool.perform { connection in
      let rows = try connection.query(
        "SELECT id, snapshot FROM event WHERE held AND created <= $1", [.int(Self.milliseconds(time))])
      return Dictionary(
        try rows.compactMap { row in
          let id = try row.text(0)
          return SnapshotID(try row.text(1)).map { (id, $0) }
        }, uniquingKeysWith: { $1 })
    }
  }

  /// Inserts an event; returns `false` if there is one with its id.
  private static func insert(
    _ event: WebhookEvent, isHeld: Bool, at now: Date, _ connection: PostgreSQLConnection
  ) throws -> Bool {
    try connection.query(
      """
      INSERT INTO event (id, snapshot, body, created, held) VALUES ($1, $2, $3, $4, $5) ON CONFLICT DO NOTHING
      """,
      [
        .text(event.id), .text("\(event.snapshot)"), .bytes(Array(event.body)), .int(milliseconds(now)),
        .bool(isHeld),
      ]
    ).changes > 0
  }

  /// Adds a delivery for each endpoint that is not disabled. Returns the number of those that were dropped for it.
  private static func enqueue(
    _ event: String, of snapshot: String, _ endpoints: [String], _ limit: Int, at now: Date,
    _ connection: PostgreSQLConnection
  ) throws -> Int {
    var dropped = 0
    for endpoint in endpoints.sorted(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) }) {
      let counted = try connection.query(
        """
        INSERT INTO endpoint (name, waiting) VALUES ($1, 1)
        ON CONFLICT (name) DO UPDATE SET waiting = endpoint.waiting + 1, named = now() WHERE NOT endpoint.disabled
        RETURNING waiting
        """, [.text(endpoint)])
      guard let waiting = try counted.first?.int(0) else { continue }
      _ = try connection.query(
        "INSERT INTO delivery (endpoint, event, snapshot, due) VALUES ($1, $2, $3, $4)",
        [.text(endpoint), .text(event), .text(snapshot), .int(milliseconds(now))])
      guard waiting > limit else { continue }
      let count = try connection.query(
        """
        UPDATE delivery SET state = 'dropped', ended = $1 WHERE sequence IN (
          SELECT sequence FROM delivery WHERE endpoint = $2 AND state = 'waiting' ORDER BY sequence LIMIT $3)
        """, [.int(milliseconds(now)), .text(endpoint), .int(waiting - Int64(limit))]
      ).changes
      dropped += count
      _ = try connection.query(
        "UPDATE endpoint SET waiting = waiting - $2, dropped = dropped + $2 WHERE name = $1",
        [.text(endpoint), .int(Int64(count))])
    }
    return dropped
  }

  // MARK: Maintenance

  /// Records which endpoints this server has, and removes those that no server has had for
  /// ``/Webhooks/WebhookLimits/unnamedSeconds``: other servers possibly have other settings.
  package func keepOnly(_ endpoints: [String]) async throws {
    named.set(endpoints)
    try await pool.transaction { connection in
      let rows = try connection.query("SELECT name FROM endpoint ORDER BY name FOR UPDATE")
      guard !rows.isEmpty else { return }
      _ = try connection.query("UPDATE endpoint SET named = now() WHERE name = ANY($1)", [.texts(endpoints)])
      let unnamed = try connection.query(
        "SELECT name FROM endpoint WHERE named < now() - $1 * interval '1 second'",
        [.int(WebhookLimits.unnamedSeconds)]
      ).map { try $0.text(0) }
      guard !unnamed.isEmpty else { return }
      _ = try connection.query("DELETE FROM delivery WHERE endpoint = ANY($1)", [.texts(unnamed)])
      _ = try connection.query("DELETE FROM endpoint WHERE name = ANY($1)", [.texts(unnamed)])
    }
  }

  package func prune(at now: Date) async throws {
    try await keepOnly(named.value)
    let oldest = Self.milliseconds(now) - 1000 * WebhookLimits.endedSeconds
    try await pool.transaction { connection in
      guard try connection.tryLock(Self.pruning) else { return }
      _ = try connection.query(
        "DELETE FROM delivery WHERE state <> 'waiting' AND ended < $1", [.int(oldest)])
      for endpoint in try connection.query("SELECT name FROM endpoint").map({ try $0.text(0) }) {
        _ = try connection.query(
          """
          DELETE FROM delivery WHERE endpoint = $1 AND state <> 'waiting' AND sequence <= (
            SELECT sequence FROM delivery WHERE endpoint = $1 AND state <> 'waiting'
            ORDER BY sequence DESC OFFSET $2 LIMIT 1)
          """, [.text(endpoint), .int(Int64(WebhookLimits.endedPerEndpoint))])
      }
      _ = try connection.query(
        """
        DELETE FROM event
        WHERE NOT held AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.event = event.id)
        """)
    }
  }

  package func states() async throws -> [String: WebhookEndpointState] {
    try await pool.perform { connection in
      let rows = try connection.query(
        "SELECT name, waiting, delivered, failed, dropped, disabled, problem FROM endpoint")
      return Dictionary(
        try rows.map { row in
          (
            try row.text(0),
            WebhookEndpointState(
              waiting: Int(try row.int(1)), delivered: Int(try row.int(2)), failed: Int(try row.int(3)),
              dropped: Int(try row.int(4)), isDisabled: try row.bool(5),
              problem: row.isNull(6) ? nil : try row.text(6))
          )
        }, uniquingKeysWith: { $1 })
    }
  }
}
