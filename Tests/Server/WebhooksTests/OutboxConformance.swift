import Foundation
import SnapshotFormat
import Testing
import Webhooks

/// The guarantees of ``WebhookOutbox``, tested with every implementation.
@Suite struct OutboxConformance {
  /// A time with milliseconds, which an outbox keeps.
  private let now = Date(timeIntervalSince1970: 1_790_000_000.25)

  @Test(arguments: OutboxKind.allCases)
  func `an event is delivered once to each endpoint, however often it is added`(kind: OutboxKind) async throws
  {
    try await kind.withOutbox { outbox in
      let event = try WebhookEvent.sample()
      for _ in 0..<2 {
        #expect(try await outbox.add(event, for: ["b", "a"], at: now) == 0)
      }
      for endpoint in ["a", "b"] {
        #expect(try await outbox.due(for: endpoint, at: now - 0.001, limit: 10).isEmpty)
        #expect(try await outbox.nextDue(for: endpoint) == now)
        let due = try await outbox.due(for: endpoint, at: now, limit: 10)
        #expect(due.map(\.event) == [event.id])
        #expect(due.map(\.body) == [event.body])
        #expect(due.map(\.tries) == [0])
        // What is recorded twice counts once.
        for _ in 0..<2 { try await outbox.record(.delivered, of: due[0], to: endpoint, at: now) }
        #expect(try await outbox.due(for: endpoint, at: now, limit: 10).isEmpty)
        #expect(try await outbox.nextDue(for: endpoint) == nil)
      }
      #expect(try await outbox.add(event, for: ["a", "b"], at: now) == 0)
      let state = WebhookEndpointState(delivered: 1)
      #expect(try await outbox.states() == ["a": state, "b": state])
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `a held event is sent once it is released, and never after it was discarded`(kind: OutboxKind)
    async throws
  {
    try await kind.withOutbox { outbox in
      let (kept, deleted) = (try WebhookEvent.sample(.deleted), try WebhookEvent.sample(.deleted))
      for event in [kept, deleted, deleted] { try await outbox.hold(event, at: now) }
      #expect(try await outbox.held(since: now - 0.001).isEmpty)
      #expect(
        try await outbox.held(since: now) == [kept.id: kept.snapshot, deleted.id: deleted.snapshot])
      #expect(try await outbox.due(for: "a", at: now, limit: 10).isEmpty)
      try await outbox.discard(kept.id)
      for event in [kept, deleted, deleted] {
        #expect(try await outbox.release(event.id, for: ["a"], at: now) == 0)
      }
      try await outbox.discard(deleted.id)
      #expect(try await outbox.held(since: now).isEmpty)
      try await outbox.prune(at: now)
      #expect(try await outbox.due(for: "a", at: now, limit: 10).map(\.body) == [deleted.body])
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `the deliveries that are due are the first of their snapshots`(kind: OutboxKind) async throws {
    try await kind.withOutbox { outbox in
      let attached = try WebhookEvent.sample()
      let commented = try WebhookEvent.sample(.commented, of: attached.snapshot, comment: 0)
      let others = try (0..<3).map { _ in try WebhookEvent.sample() }
      for event in [attached, commented] + others { _ = try await outbox.add(event, for: ["a"], at: now) }
      func due(_ time: Date, _ limit: Int = 10) async throws -> [String] {
        try await outbox.due(for: "a", at: time, limit: limit).map(\.event)
      }
      #expect(try await due(now) == [attached.id] + others.map(\.id))
      #expect(try await due(now, 2) == [attached.id, others[0].id])
      let first = try await outbox.due(for: "a", at: now, limit: 1)[0]
      try await outbox.record(.failed("status 500", next: now + 5), of: first, to: "a", at: now)
      #expect(try await due(now) == others.map(\.id))
      #expect(try await due(now + 5).last == attached.id)
      try await outbox.record(.delivered, of: first, to: "a", at: now)
      #expect(try await due(now) == [commented.id] + others.map(\.id))
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `a failed try is counted, and has its reason until one succeeds`(kind: OutboxKind) async throws {
    try await kind.withOutbox { outbox in
      let event = try WebhookEvent.sample()
      _ = try await outbox.add(event, for: ["a"], at: now)
      func delivery(_ time: Date) async throws -> WebhookDelivery {
        try #require(try await outbox.due(for: "a", at: time, limit: 1).first)
      }
      try await outbox.record(
        .failed("status 500", next: now + 5), of: try await delivery(now), to: "a", at: now)
      #expect(try await outbox.nextDue(for: "a") == now + 5)
      #expect(try await outbox.due(for: "a", at: now + 4.999, limit: 1).isEmpty)
      #expect(try await delivery(now + 5).tries == 1)
      #expect(try await outbox.states()["a"] == WebhookEndpointState(waiting: 1, problem: "status 500"))
      try await outbox.record(.failed("late", next: nil), of: try await delivery(now + 5), to: "a", at: now)
      #expect(try await outbox.nextDue(for: "a") == nil)
      #expect(try await outbox.states()["a"] == WebhookEndpointState(failed: 1, problem: "late"))
      _ = try await outbox.add(try WebhookEvent.sample(), for: ["a"], at: now)
      try await outbox.record(.delivered, of: try await delivery(now), to: "a", at: now)
      #expect(try await outbox.states()["a"] == WebhookEndpointState(delivered: 1, failed: 1))
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `after the clock was set back, nothing waits longer than the longest pause`(kind: OutboxKind)
    async throws
  {
    try await kind.withOutbox { outbox in
      _ = try await outbox.add(try WebhookEvent.sample(), for: ["a"], at: now)
      let pause = Double(WebhookLimits.retryAfterSeconds)
      #expect(try await outbox.due(for: "a", at: now - pause, limit: 1).isEmpty)
      #expect(try await outbox.due(for: "a", at: now - pause - 0.001, limit: 1).count == 1)
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `an endpoint that refuses events gets none, and no other endpoint is affected`(kind: OutboxKind)
    async throws
  {
    try await kind.withOutbox { outbox in
      for _ in 0..<2 { _ = try await outbox.add(try WebhookEvent.sample(), for: ["a", "b"], at: now) }
      let first = try await outbox.due(for: "a", at: now, limit: 1)[0]
      try await outbox.record(.refused, of: first, to: "a", at: now)
      #expect(try await outbox.add(try WebhookEvent.sample(), for: ["a", "b"], at: now) == 0)
      #expect(try await outbox.due(for: "a", at: now, limit: 10).isEmpty)
      #expect(try await outbox.due(for: "b", at: now, limit: 10).count == 3)
      #expect(
        try await outbox.states() == [
          "a": WebhookEndpointState(failed: 2, isDisabled: true, problem: "status 410"),
          "b": WebhookEndpointState(waiting: 3),
        ])
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `if too many events wait for an endpoint, the oldest are dropped`(kind: OutboxKind) async throws {
    try await kind.withOutbox(waitingLimit: 3) { outbox in
      let events = try (0..<5).map { _ in try WebhookEvent.sample() }
      for event in events[..<3] { #expect(try await outbox.add(event, for: ["a"], at: now) == 0) }
      let first = try await outbox.due(for: "a", at: now, limit: 1)[0]
      for event in events[3...] { #expect(try await outbox.add(event, for: ["a"], at: now) == 1) }
      #expect(try await outbox.due(for: "a", at: now, limit: 10).map(\.event) == events[2...].map(\.id))
      // The result of a try that began before.
      try await outbox.record(.failed("late", next: now), of: first, to: "a", at: now)
      #expect(try await outbox.due(for: "a", at: now, limit: 10).map(\.event) == events[2...].map(\.id))
      #expect(
        try await outbox.states()["a"] == WebhookEndpointState(waiting: 3, dropped: 2, problem: "late"))
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `a delivery is remembered for a time after it ended, and then its event`(kind: OutboxKind) async throws
  {
    try await kind.withOutbox { outbox in
      let event = try WebhookEvent.sample()
      let end = now + Double(WebhookLimits.endedSeconds)
      func add() async throws -> Int {
        _ = try await outbox.add(event, for: ["a"], at: now)
        return try await outbox.due(for: "a", at: now, limit: 10).count
      }
      #expect(try await add() == 1)
      // What waits is never removed.
      try await outbox.prune(at: end + 1)
      let delivery = try await outbox.due(for: "a", at: now, limit: 1)[0]
      try await outbox.record(.delivered, of: delivery, to: "a", at: now)
      try await outbox.prune(at: end)
      #expect(try await add() == 0)
      try await outbox.prune(at: end + 0.001)
      #expect(try await add() == 1)
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `what is stored is there after the outbox was closed`(kind: OutboxKind) async throws {
    try await kind.withOutboxes { open in
      let (added, held) = (try WebhookEvent.sample(), try WebhookEvent.sample(.deleted))
      let first = try await open()
      _ = try await first.add(added, for: ["a"], at: now)
      try await first.hold(held, at: now)
      try await first.close()
      let second = try await open()
      #expect(try await second.due(for: "a", at: now, limit: 10).map(\.event) == [added.id])
      #expect(try await second.held(since: now) == [held.id: held.snapshot])
      try await second.close()
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `what is stored about an endpoint in the settings is kept`(kind: OutboxKind) async throws {
    try await kind.withOutbox { outbox in
      _ = try await outbox.add(try WebhookEvent.sample(), for: ["a", "b"], at: now)
      for _ in 0..<2 {
        try await outbox.keepOnly(["b", "a", "c"])
        try await outbox.prune(at: now)
      }
      let state = WebhookEndpointState(waiting: 1)
      #expect(try await outbox.states() == ["a": state, "b": state])
    }
  }

  @Test(arguments: OutboxKind.allCases)
  func `deliveries are listed with what became of them, the newest first`(kind: OutboxKind) async throws {
    try await kind.withOutbox(waitingLimit: 3) { outbox in
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

  @Test(arguments: OutboxKind.allCases)
  func `deliveries that ended wait again, and their endpoint is enabled`(kind: OutboxKind) async throws {
    try await kind.withOutbox(waitingLimit: 3) { outbox in
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
      // Of the other three, the oldest two, so that not too many wait.
      #expect(try await outbox.redeliver(nil, to: "a", at: now + 9) == 2)
      let again = try await outbox.due(for: "a", at: now + 9, limit: 10)
      #expect(again.map(\.event) == events.prefix(3).map(\.id))
      #expect(again.allSatisfy { $0.tries == 0 })
      #expect(try await outbox.redeliver(nil, to: "other", at: now) == 0)
      let state = try #require(try await outbox.states()["a"])
      let numbers: [Int] = [state.waiting, state.delivered, state.failed, state.dropped]
      #expect(numbers == [3, 0, 1, 0])
    }
  }
}
