package import Foundation
import GRDB
package import SnapshotFormat
import SystemIO

/// The outbox of one server, in a SQLite database of its own.
///
/// - `event`: the events with their bodies, those that are held and those that have deliveries.
/// - `delivery`: one row for each event and endpoint. Its `state` is one of ``State``.
/// - `endpoint`: the numbers of ``WebhookEndpointState``.
package struct SQLiteOutbox: WebhookOutbox {
  /// The meaning of `delivery.state`.
  private enum State: Int, DatabaseValueConvertible, SQLExpressible {
    case waiting = 0
    case delivered = 1
    case failed = 2
    case dropped = 3

    var summary: WebhookDeliverySummary.State {
      switch self {
      case .waiting: .waiting
      case .delivered: .delivered
      case .failed: .failed
      case .dropped: .dropped
      }
    }
  }

  private let database: DatabaseQueue
  private let waitingLimit: Int

  /// Opens the database at `path`, or creates it with mode 0600.
  /// - Parameter waitingLimit: the most events that wait for one endpoint.
  package init(path: String, waitingLimit: Int = WebhookLimits.waitingPerEndpoint) throws {
    // SQLite gives its log the mode of the database.
    _ = try File(path, .openOrCreate(mode: 0o600))
    var configuration = GRDB.Configuration()
    configuration.label = "webhooks"
    configuration.prepareDatabase { db in
      // The lock comes first: then the index of the log is in memory, and not in a file that is mapped.
      try db.execute(
        sql: """
          PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
          PRAGMA foreign_keys = ON
          """)
    }
    database = try DatabaseQueue(path: path, configuration: configuration)
    self.waitingLimit = waitingLimit
    try Self.migrator.migrate(database)
  }

  private static var migrator: DatabaseMigrator {
    var migrator = DatabaseMigrator()
    migrator.registerMigration("1") { db in
      try db.execute(
        sql: """
          CREATE TABLE event (
            id TEXT PRIMARY KEY, snapshot TEXT NOT NULL, body BLOB NOT NULL, created INTEGER NOT NULL,
            held INTEGER NOT NULL
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE endpoint (
            name TEXT PRIMARY KEY, waiting INTEGER NOT NULL DEFAULT 0, delivered INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0, dropped INTEGER NOT NULL DEFAULT 0,
            disabled INTEGER NOT NULL DEFAULT 0, problem TEXT
          ) STRICT, WITHOUT ROWID;
          CREATE TABLE delivery (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, endpoint TEXT NOT NULL REFERENCES endpoint,
            event TEXT NOT NULL REFERENCES event, snapshot TEXT NOT NULL, state INTEGER NOT NULL DEFAULT 0,
            tries INTEGER NOT NULL DEFAULT 0, due INTEGER NOT NULL, ended INTEGER
          ) STRICT;
          CREATE INDEX due ON delivery (endpoint, due) WHERE state = 0;
          CREATE INDEX turn ON delivery (endpoint, snapshot, sequence) WHERE state = 0;
          CREATE INDEX ended ON delivery (endpoint, sequence) WHERE state > 0;
          CREATE INDEX deliveries ON delivery (event);
          CREATE INDEX held ON event (created) WHERE held;
          """)
    }
    return migrator
  }

  /// The condition that a delivery is the first of its snapshot that waits.
  private static let isFirst = """
    NOT EXISTS (
      SELECT 1 FROM delivery earlier
      WHERE earlier.endpoint = delivery.endpoint AND earlier.snapshot = delivery.snapshot AND earlier.state = 0
        AND earlier.sequence < delivery.sequence)
    """

  private static func milliseconds(_ time: Date) -> Int64 {
    Int64((time.timeIntervalSince1970 * 1000).rounded())
  }

  private static func time(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  // MARK: Adding

  package func add(_ event: WebhookEvent, for endpoints: [String], at now: Date) async throws -> Int {
    try await database.write { [waitingLimit] db in
      guard try Self.insert(event, isHeld: false, at: now, db) else { return 0 }
      return try Self.enqueue(event.id, of: "\(event.snapshot)", endpoints, waitingLimit, at: now, db)
    }
  }

  package func hold(_ event: WebhookEvent, at now: Date) async throws {
    try await database.write { db in _ = try Self.insert(event, isHeld: true, at: now, db) }
  }

  package func release(_ event: String, for endpoints: [String], at now: Date) async throws -> Int {
    try await database.write { [waitingLimit] db in
      let snapshot = try String.fetchOne(
        db, sql: "UPDATE event SET held = 0 WHERE id = ? AND held RETURNING snapshot", arguments: [event])
      guard let snapshot else { return 0 }
      return try Self.enqueue(event, of: snapshot, endpoints, waitingLimit, at: now, db)
    }
  }

  package func discard(_ event: String) async throws {
    try await database.write { db in
      try db.execute(sql: "DELETE FROM event WHERE id = ? AND held", arguments: [event])
    }
  }

  package func held(since time: Date) async throws -> [String: SnapshotID] {
    try await database.read { db in
      let rows = try Row.fetchAll(
        db, sql: "SELECT id, snapshot FROM event WHERE held AND created <= ?",
        arguments: [Self.milliseconds(time)])
      return Dictionary(
        rows.compactMap { row in SnapshotID(row["snapshot"] as String).map { (row["id"], $0) } },
        uniquingKeysWith: { $1 })
    }
  }

  /// Inserts an event; returns `false` if there is one with its id.
  private static func insert(_ event: WebhookEvent, isHeld: Bool, at now: Date, _ db: Database) throws -> Bool
  {
    try db.execute(
      sql: """
        INSERT INTO event (id, snapshot, body, created, held) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING
        """, arguments: [event.id, "\(event.snapshot)", event.body, milliseconds(now), isHeld])
    return db.changesCount > 0
  }

  /// Adds a delivery for each endpoint that is not disabled. Returns the number of those that were dropped for it.
  private static func enqueue(
    _ event: String, of snapshot: String, _ endpoints: [String], _ limit: Int, at now: Date, _ db: Database
  ) throws -> Int {
    var dropped = 0
    for endpoint in endpoints {
      try db.execute(
        sql: "INSERT INTO endpoint (name) VALUES (?) ON CONFLICT DO NOTHING", arguments: [endpoint])
      let waiting = try Int.fetchOne(
        db,
        sql: "UPDATE endpoint SET waiting = waiting + 1 WHERE name = ? AND NOT disabled RETURNING waiting",
        arguments: [endpoint])
      guard let waiting else { continue }
      try db.execute(
        sql: "INSERT INTO delivery (endpoint, event, snapshot, due) VALUES (?, ?, ?, ?)",
        arguments: [endpoint, event, snapshot, milliseconds(now)])
      guard waiting > limit else { continue }
      try db.execute(
        sql: """
          UPDATE delivery SET state = ?, ended = ? WHERE sequence IN (
            SELECT sequence FROM delivery WHERE endpoint = ? AND state = 0 ORDER BY sequence LIMIT ?)
          """, arguments: [State.dropped, milliseconds(now), endpoint, waiting - limit])
      let count = db.changesCount
      dropped += count
      try db.execute(
        sql: "UPDATE endpoint SET waiting = waiting - ?, dropped = dropped + ? WHERE name = ?",
        arguments: [count, count, endpoint])
    }
    return dropped
  }

  // MARK: Delivering

  package func due(for endpoint: String, at now: Date, limit: Int) async throws -> [WebhookDelivery] {
    // After the clock was set back, nothing waits longer than the longest pause.
    let (now, latest) = (Self.milliseconds(now), Self.milliseconds(now) + Self.longestPause)
    return try await database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT delivery.sequence, delivery.event, delivery.tries, event.body
          FROM delivery JOIN event ON event.id = delivery.event
          WHERE delivery.endpoint = ? AND delivery.state = 0 AND (delivery.due <= ? OR delivery.due > ?)
            AND \(Self.isFirst)
          ORDER BY delivery.due, delivery.sequence LIMIT ?
          """, arguments: [endpoint, now, latest, limit]
      ).map { row in
        WebhookDelivery(
          sequence: row["sequence"], event: row["event"], body: row["body"], tries: row["tries"])
      }
    }
  }

  /// The longest time in milliseconds for which a delivery waits.
  private static let longestPause =
    1000 * max(RetrySchedule.pauses.max() ?? 0, WebhookLimits.retryAfterSeconds)

  package func nextDue(for endpoint: String) async throws -> Date? {
    try await database.read { db in
      try Int64.fetchOne(
        db,
        sql: """
          SELECT due FROM delivery WHERE endpoint = ? AND state = 0 AND \(Self.isFirst) ORDER BY due LIMIT 1
          """, arguments: [endpoint]
      ).map(Self.time)
    }
  }

  package func record(
    _ outcome: WebhookOutcome, of delivery: WebhookDelivery, to endpoint: String, at now: Date
  ) async throws {
    let now = Self.milliseconds(now)
    try await database.write { db in
      switch outcome {
      case .delivered:
        try Self.end(delivery, .delivered, to: endpoint, at: now, nil, db)
      case .failed(let problem, nil):
        try Self.end(delivery, .failed, to: endpoint, at: now, problem, db)
      case .failed(let problem, let next?):
        try db.execute(
          sql: "UPDATE delivery SET tries = tries + 1, due = ? WHERE sequence = ? AND state = 0",
          arguments: [Self.milliseconds(next), delivery.sequence])
        try db.execute(
          sql: "UPDATE endpoint SET problem = ? WHERE name = ?", arguments: [problem, endpoint])
      case .refused:
        try db.execute(
          sql: "UPDATE delivery SET state = ?, ended = ? WHERE endpoint = ? AND state = 0",
          arguments: [State.failed, now, endpoint])
        try db.execute(
          sql: """
            UPDATE endpoint SET disabled = 1, failed = failed + ?, waiting = 0, problem = ? WHERE name = ?
            """, arguments: [db.changesCount, "status 410", endpoint])
      }
    }
  }

  private static func end(
    _ delivery: WebhookDelivery, _ state: State, to endpoint: String, at now: Int64, _ problem: String?,
    _ db: Database
  ) throws {
    try db.execute(
      sql: "UPDATE delivery SET state = ?, tries = tries + 1, ended = ? WHERE sequence = ? AND state = 0",
      arguments: [state, now, delivery.sequence])
    let count = db.changesCount
    let column = state == .delivered ? "delivered" : "failed"
    try db.execute(
      sql: """
        UPDATE endpoint SET waiting = waiting - ?, \(column) = \(column) + ?, problem = ? WHERE name = ?
        """, arguments: [count, count, problem, endpoint])
  }

  // MARK: Looking and repeating

  package func deliveries(to endpoint: String, before sequence: Int64?, limit: Int) async throws
    -> [WebhookDeliverySummary]
  {
    try await database.read { db in
      try Row.fetchAll(
        db,
        sql: """
          SELECT * FROM delivery WHERE endpoint = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?
          """, arguments: [endpoint, sequence ?? .max, limit]
      ).compactMap { row in
        guard let snapshot = SnapshotID(row["snapshot"] as String) else { return nil }
        let (state, ended) = (row["state"] as State, row["ended"] as Int64?)
        return WebhookDeliverySummary(
          sequence: row["sequence"], event: row["event"], snapshot: snapshot, state: state.summary,
          tries: row["tries"], due: state == .waiting ? Self.time(row["due"]) : nil,
          ended: ended.map(Self.time))
      }
    }
  }

  package func redeliver(_ event: String?, to endpoint: String, at now: Date) async throws -> Int {
    try await database.write { [waitingLimit] db in
      let waiting = try Int.fetchOne(
        db, sql: "UPDATE endpoint SET disabled = 0 WHERE name = ? RETURNING waiting", arguments: [endpoint])
      guard let waiting, waiting < waitingLimit else { return 0 }
      // Without an event, a delivery that succeeded is not repeated.
      let chosen = """
        SELECT sequence, state FROM delivery
        WHERE endpoint = ? AND state > 0 AND CASE WHEN ? IS NULL THEN state <> 1 ELSE event = ? END
        ORDER BY sequence LIMIT ?
        """
      let arguments: StatementArguments = [endpoint, event, event, waitingLimit - waiting]
      let rows = try Row.fetchAll(
        db, sql: "SELECT state, COUNT(*) AS number FROM (\(chosen)) GROUP BY state", arguments: arguments)
      let counts = Dictionary(
        rows.map { ($0["state"] as State, $0["number"] as Int) }, uniquingKeysWith: { $1 })
      try db.execute(
        sql: """
          UPDATE delivery SET state = 0, tries = 0, due = ?, ended = NULL
          WHERE sequence IN (SELECT sequence FROM (\(chosen)))
          """, arguments: [Self.milliseconds(now)] + arguments)
      let count = db.changesCount
      try db.execute(
        sql: """
          UPDATE endpoint
          SET waiting = waiting + ?, delivered = delivered - ?, failed = failed - ?, dropped = dropped - ?
          WHERE name = ?
          """,
        arguments: [
          count, counts[.delivered, default: 0], counts[.failed, default: 0], counts[.dropped, default: 0],
          endpoint,
        ])
      return count
    }
  }

  // MARK: Maintenance

  package func keepOnly(_ endpoints: [String]) async throws {
    try await database.write { db in
      let others = try String.fetchAll(db, sql: "SELECT name FROM endpoint").filter {
        !endpoints.contains($0)
      }
      for name in others {
        try db.execute(sql: "DELETE FROM delivery WHERE endpoint = ?", arguments: [name])
        try db.execute(sql: "DELETE FROM endpoint WHERE name = ?", arguments: [name])
      }
      if !others.isEmpty { try Self.removeUnused(db) }
    }
  }

  package func prune(at now: Date) async throws {
    let oldest = Self.milliseconds(now) - 1000 * WebhookLimits.endedSeconds
    try await database.write { db in
      try db.execute(sql: "DELETE FROM delivery WHERE state > 0 AND ended < ?", arguments: [oldest])
      for endpoint in try String.fetchAll(db, sql: "SELECT name FROM endpoint") {
        try db.execute(
          sql: """
            DELETE FROM delivery WHERE endpoint = ? AND state > 0 AND sequence <= (
              SELECT sequence FROM delivery WHERE endpoint = ? AND state > 0
              ORDER BY sequence DESC LIMIT 1 OFFSET ?)
            """, arguments: [endpoint, endpoint, WebhookLimits.endedPerEndpoint])
      }
      try Self.removeUnused(db)
    }
  }

  private static func removeUnused(_ db: Database) throws {
    try db.execute(
      sql: """
        DELETE FROM event
        WHERE NOT held AND NOT EXISTS (SELECT 1 FROM delivery WHERE delivery.event = event.id)
        """)
  }

  package func states() async throws -> [String: WebhookEndpointState] {
    try await database.read { db in
      let rows = try Row.fetchAll(db, sql: "SELECT * FROM endpoint")
      return Dictionary(
        rows.map { row in
          (
            row["name"],
            WebhookEndpointState(
              waiting: row["waiting"], delivered: row["delivered"], failed: row["failed"],
              dropped: row["dropped"], isDisabled: row["disabled"], problem: row["problem"])
          )
        }, uniquingKeysWith: { $1 })
    }
  }

  package func close() async throws { try database.close() }
}
