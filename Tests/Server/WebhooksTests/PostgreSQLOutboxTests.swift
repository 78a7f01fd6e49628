import Foundation
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import SnapshotFormat
import TestSupport
import Testing
import Webhooks

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
}
