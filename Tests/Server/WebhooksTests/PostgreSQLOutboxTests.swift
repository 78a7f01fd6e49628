import Foundation
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import TestSupport
import Testing

@testable import Webhooks

/// The outbox of several servers.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }) struct PostgreSQLOutboxTests {
  private let now = Date(timeIntervalSince1970: 1_790_000_000)

  /// Runs `body` with the outboxes of two servers, and a pool for statements of the test.
  private func withServers(
    waitingLimit: Int = WebhookLimits.waitingPerEndpoint,
    _ body: (PostgreSQLOutbox, PostgreSQLOutbox, PostgreSQLPool) async throws -> Void
  ) async throws {
    try await withDatabase { configuration in
      let first = try await PostgreSQLOutbox.open(configuration, waitingLimit: waitingLimit)
      let second = try await PostgreSQLOutbox.open(configuration, waitingLimit: waitingLimit)
      let pool = PostgreSQLPool(configuration)
      defer {
        for outbox in [first, second] { outbox.close() }
        pool.close()
      }
      try await body(first, second, pool)
    }
  }

  /// Lets seconds pass since the servers had endpoints in their settings.
  private func age(_ pool: PostgreSQLPool, seconds: Int64) async throws {
    try await pool.perform {
      try $0.execute(
        "UPDATE snapshot_webhooks_1.endpoint SET named = named - interval '\(seconds) seconds'")
    }
  }

  @Test func `servers with other settings keep each other's endpoints until none has had them for a week`()
    async throws
  {
    try await withServers { first, second, pool in
      let event = try WebhookEvent.sample()
      try await first.keepOnly(["new"])
      try await second.keepOnly(["old"])
      _ = try await first.add(event, for: ["new", "old"], at: now)
      try await second.keepOnly([])
      try await first.prune(at: now)
      #expect(try await first.states().keys.sorted() == ["new", "old"])
      // Almost a week; the first server still has the new one.
      try await age(pool, seconds: WebhookLimits.unnamedSeconds - 300)
      try await first.prune(at: now)
      try await second.prune(at: now)
      #expect(try await first.states().keys.sorted() == ["new", "old"])
      try await age(pool, seconds: 301)
      try await second.prune(at: now)
      #expect(try await second.states().keys.sorted() == ["new"])
      #expect(try await second.due(for: "old", at: now, limit: 1).isEmpty)
      #expect(try await second.due(for: "new", at: now, limit: 1).map(\.event) == [event.id])
      // An event that another server adds names the endpoint, too.
      _ = try await first.add(try WebhookEvent.sample(), for: ["old"], at: now)
      try await second.prune(at: now)
      #expect(try await second.states()["old"] == WebhookEndpointState(waiting: 1))
    }
  }

  @Test func `after a long time without any server, nothing that waits is lost`() async throws {
    try await withServers { first, second, pool in
      _ = try await first.add(try WebhookEvent.sample(), for: ["a"], at: now)
      try await age(pool, seconds: 100 * WebhookLimits.unnamedSeconds)
      try await second.keepOnly(["a"])
      #expect(try await second.states() == ["a": WebhookEndpointState(waiting: 1)])
    }
  }

  @Test func `events that two servers add at the same time are stored once, while a third one delivers`()
    async throws
  {
    try await withServers(waitingLimit: 20) { first, second, pool in
      let events = try (0..<40).map { _ in try WebhookEvent.sample() }
      let dropped = try await withThrowingTaskGroup(of: Int.self) { group in
        for (outbox, endpoints) in [(first, ["a", "b"]), (second, ["b", "a"])] {
          for event in events {
            group.addTask { try await outbox.add(event, for: endpoints, at: now) }
          }
        }
        for endpoint in ["a", "b"] {
          group.addTask {
            for _ in 0..<10 {
              for delivery in try await second.due(for: endpoint, at: now, limit: 2) {
                try await second.record(.delivered, of: delivery, to: endpoint, at: now)
              }
              try await first.prune(at: now)
            }
            return 0
          }
        }
        return try await group.reduce(0, +)
      }
      let states = try await first.states()
      #expect(states.values.map(\.dropped).reduce(0, +) == dropped)
      for state in states.values {
        #expect(state.waiting <= 20)
        #expect(state.waiting + state.delivered + state.dropped == 40)
      }
      let waiting = try await pool.perform { connection in
        try connection.query(
          "SELECT count(*) FROM snapshot_webhooks_1.delivery WHERE state = 'waiting'")[0].int(0)
      }
      #expect(Int(waiting) == states.values.map(\.waiting).reduce(0, +))
    }
  }

  @Test func `deliveries are listed with what became of them, the newest first`() async throws {
    try await withServers(waitingLimit: 3) { outbox, _, _ in
      let events = try (0..<4).map { _ in try WebhookEvent.sample() }
      for event in events { _ = try await outbox.add(event, for: ["a", "b"], at: now) }
      let due = try await outbox.due(for: "a", at: now, limit: 10)
      try await outbox.record(.delivered, of: due[0], to: "a", at: now + 1)
      try await outbox.record(.failed("status 500", next: nil), of: due[1], to: "a", at: now + 2)
      try await outbox.record(.failed("status 500", next: now + 5), of: due[2], to: "a", at: now + 3)
      let listed = try await outbox.deliveries(to: "a", before: nil, limit: 10)
      #expect(listed.map(\.event) == events.reversed().map(\.id))
      #expect(listed.map(\.snapshot) == events.reversed().map(\.snapshot))
      #expect(listed.map(\.state) == [.waiting, .failed, .delivered, .dropped])
      #expect(listed.map(\.tries) == [1, 1, 1, 0])
      #expect(listed.map(\.due) == [now + 5, nil, nil, nil])
      #expect(listed.map(\.ended) == [nil, now + 2, now + 1, now])
      #expect(try await outbox.deliveries(to: "a", before: nil, limit: 2) == Array(listed[..<2]))
      #expect(
        try await outbox.deliveries(to: "a", before: listed[1].sequence, limit: 10) == Array(listed[2...]))
      #expect(try await outbox.deliveries(to: "c", before: nil, limit: 10).isEmpty)
    }
  }

  @Test func `deliveries that ended wait again, and their endpoint is enabled`() async throws {
    try await withServers(waitingLimit: 3) { outbox, _, _ in
      let events = try (0..<4).map { _ in try WebhookEvent.sample() }
      for event in events { _ = try await outbox.add(event, for: ["a"], at: now) }
      let due = try await outbox.due(for: "a", at: now, limit: 10)
      try await outbox.record(.delivered, of: due[0], to: "a", at: now)
      try await outbox.record(.refused, of: due[1], to: "a", at: now)
      #expect(try await outbox.states()["a"]?.isDisabled == true)
      #expect(try await outbox.redeliver("attached_other", to: "a", at: now + 9) == 0)
      #expect(try await outbox.states()["a"]?.isDisabled == false)
      // The delivered one, because it is named.
      #expect(try await outbox.redeliver(events[1].id, to: "a", at: now + 9) == 1)
      #expect(try await outbox.redeliver(events[1].id, to: "a", at: now + 9) == 0)
      #expect(try await outbox.due(for: "a", at: now + 8, limit: 10).isEmpty)
      #expect(try await outbox.due(for: "a", at: now + 9, limit: 10).map(\.event) == [events[1].id])
      // Of the other three, the newest two, so that not too many wait.
      #expect(try await outbox.redeliver(nil, to: "a", at: now + 9) == 2)
      let again = try await outbox.due(for: "a", at: now + 9, limit: 10)
      #expect(again.map(\.event) == events[1...].map(\.id))
      #expect(again.allSatisfy { $0.tries == 0 })
      #expect(try await outbox.redeliver(nil, to: "other", at: now) == 0)
      #expect(try await outbox.states()["a"]?.waiting == 3)
    }
  }
}
