package import Foundation
import PostgreSQLClient
import SnapshotFormat
package import Webhooks

/// Deliveries that are sent, and what becomes of them.
extension PostgreSQLOutbox {
  /// The condition that a delivery is the first of its snapshot that waits.
  private static let isFirst = """
    NOT EXISTS (
      SELECT 1 FROM delivery earlier
      WHERE earlier.endpoint = delivery.endpoint AND earlier.snapshot = delivery.snapshot
        AND earlier.state = 'waiting' AND earlier.sequence < delivery.sequence)
    """

  /// The longest time in milliseconds for which a delivery waits.
  private static let longestPause =
    1000 * max(RetrySchedule.pauses.max() ?? 0, WebhookLimits.retryAfterSeconds)

  private static func date(_ milliseconds: Int64) -> Date {
    Date(timeIntervalSince1970: Double(milliseconds) / 1000)
  }

  package func due(for endpoint: String, at now: Date, limit: Int) async throws -> [WebhookDelivery] {
    // After the clock was set back, nothing waits longer than the longest pause.
    let (now, latest) = (Self.milliseconds(now), Self.milliseconds(now) + Self.longestPause)
    return try await pool.perform { connection in
      try connection.query(
        """
        SELECT delivery.sequence, delivery.event, event.body, delivery.tries
        FROM delivery JOIN event ON event.id = delivery.event
        WHERE delivery.endpoint = $1 AND delivery.state = 'waiting' AND (delivery.due <= $2 OR delivery.due > $3)
          AND \(Self.isFirst)
        ORDER BY delivery.due, delivery.sequence LIMIT $4
        """, [.text(endpoint), .int(now), .int(latest), .int(Int64(limit))]
      ).map { row in
        WebhookDelivery(
          sequence: try row.int(0), event: try row.text(1), body: Data(try row.bytes(2)),
          tries: Int(try row.int(3)))
      }
    }
  }

  package func nextDue(for endpoint: String) async throws -> Date? {
    try await pool.perform { connection in
      try connection.query(
        """
        SELECT due FROM delivery WHERE endpoint = $1 AND state = 'waiting' AND \(Self.isFirst)
        ORDER BY due LIMIT 1
        """, [.text(endpoint)]
      ).first.map { Self.date(try $0.int(0)) }
    }
  }

  package func record(
    _ outcome: WebhookOutcome, of delivery: WebhookDelivery, to endpoint: String, at now: Date
  ) async throws {
    let now = Self.milliseconds(now)
    try await pool.transaction { connection in
      try Self.lock(endpoint, connection)
      switch outcome {
      case .delivered:
        try Self.end(delivery, .delivered, to: endpoint, at: now, .null, connection)
      case .failed(let problem, nil):
        try Self.end(delivery, .failed, to: endpoint, at: now, .text(problem), connection)
      case .failed(let problem, let next?):
        _ = try connection.query(
          "UPDATE delivery SET tries = tries + 1, due = $1 WHERE sequence = $2 AND state = 'waiting'",
          [.int(Self.milliseconds(next)), .int(delivery.sequence)])
        _ = try connection.query(
          "UPDATE endpoint SET problem = $1 WHERE name = $2", [.text(problem), .text(endpoint)])
      case .refused:
        let count = try connection.query(
          "UPDATE delivery SET state = 'failed', ended = $1 WHERE endpoint = $2 AND state = 'waiting'",
          [.int(now), .text(endpoint)]
        ).changes
        _ = try connection.query(
          """
          UPDATE endpoint SET disabled = true, failed = failed + $1, waiting = 0, problem = $2 WHERE name = $3
          """, [.int(Int64(count)), .text("status 410"), .text(endpoint)])
      }
    }
  }

  /// Lets other changes of what is stored about an endpoint wait until the transaction ends.
  private static func lock(_ endpoint: String, _ connection: PostgreSQLConnection) throws {
    _ = try connection.query("SELECT 1 FROM endpoint WHERE name = $1 FOR UPDATE", [.text(endpoint)])
  }

  private static func end(
    _ delivery: WebhookDelivery, _ state: WebhookDeliverySummary.State, to endpoint: String, at now: Int64,
    _ problem: PostgreSQLValue, _ connection: PostgreSQLConnection
  ) throws {
    let count = try connection.query(
      "UPDATE delivery SET state = $1, tries = tries + 1, ended = $2 WHERE sequence = $3 AND state = 'waiting'",
      [.text(state.rawValue), .int(now), .int(delivery.sequence)]
    ).changes
    let column = state == .delivered ? "delivered" : "failed"
    _ = try connection.query(
      "UPDATE endpoint SET waiting = waiting - $1, \(column) = \(column) + $1, problem = $2 WHERE name = $3",
      [.int(Int64(count)), problem, .text(endpoint)])
  }

  /// Returns the deliveries to an endpoint, the newest first.
  /// - Parameters:
  ///   - sequence: only deliveries before this one are returned; `nil` for all.
  ///   - limit: the most deliveries.
  package func deliveries(
    to endpoint: String, before sequence: Int64?, limit: Int
  ) async throws -> [WebhookDeliverySummary] {
    try await pool.perform { connection in
      try connection.query(
        """
        SELECT sequence, event, snapshot, state, tries, due, ended FROM delivery
        WHERE endpoint = $1 AND sequence < $2 ORDER BY sequence DESC LIMIT $3
        """, [.text(endpoint), .int(sequence ?? .max), .int(Int64(limit))]
      ).map { row in
        guard let snapshot = SnapshotID(try row.text(2)),
          let state = WebhookDeliverySummary.State(rawValue: try row.text(3))
        else { throw PostgreSQLError.unexpectedResult("A delivery has an unknown state or snapshot.") }
        return WebhookDeliverySummary(
          sequence: try row.int(0), event: try row.text(1), snapshot: snapshot, state: state,
          tries: Int(try row.int(4)), due: state == .waiting ? Self.date(try row.int(5)) : nil,
          ended: row.isNull(6) ? nil : Self.date(try row.int(6)))
      }
    }
  }

  package func redeliver(_ event: String?, to endpoint: String, at now: Date) async throws -> Int {
    // Without an event, a delivery that succeeded is not repeated.
    let selected = event == nil ? "state IN ('failed', 'dropped')" : "event = $4 AND state <> 'waiting'"
    let more: [PostgreSQLValue] = event.map { [.text($0)] } ?? []
    return try await pool.transaction { [waitingLimit] connection in
      let enabled = try connection.query(
        "UPDATE endpoint SET disabled = false WHERE name = $1 RETURNING waiting", [.text(endpoint)])
      guard let waiting = try enabled.first?.int(0) else { return 0 }
      let counts = try connection.query(
        """
        WITH chosen AS (
          SELECT sequence, state FROM delivery WHERE endpoint = $1 AND \(selected) ORDER BY sequence LIMIT $3
        ), again AS (
          UPDATE delivery SET state = 'waiting', tries = 0, due = $2, ended = NULL
          WHERE sequence IN (SELECT sequence FROM chosen)
        )
        SELECT count(*) FILTER (WHERE state = 'delivered'), count(*) FILTER (WHERE state = 'failed'),
          count(*) FILTER (WHERE state = 'dropped') FROM chosen
        """,
        [.text(endpoint), .int(Self.milliseconds(now)), .int(max(0, Int64(waitingLimit) - waiting))] + more)[
          0]
      let (delivered, failed, dropped) = (try counts.int(0), try counts.int(1), try counts.int(2))
      let count = delivered + failed + dropped
      _ = try connection.query(
        """
        UPDATE endpoint
        SET waiting = waiting + $2, delivered = delivered - $3, failed = failed - $4, dropped = dropped - $5
        WHERE name = $1
        """, [.text(endpoint), .int(count), .int(delivered), .int(failed), .int(dropped)])
      return Int(count)
    }
  }
}
