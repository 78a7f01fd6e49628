import Foundation
import HTTPEngine
import SnapshotFormat
import SnapshotStore
import SystemIO
import TestSupport
import Testing
import Webhooks

/// What administrators read and do.
@Suite struct WebhookOperationTests {
  private let fixture: WebhookFixture
  /// The status that the receiver answers.
  private let status = Lock(204)

  init() throws { fixture = try WebhookFixture(waitingLimit: 3) }

  /// Runs `body` with a receiver that is the only endpoint, and its name.
  private func run(_ body: (WebhookReceiver, String) async throws -> Void) async throws {
    let status = status
    try await WebhookReceiver.run { _, _ in
      .status(status.value)
    } _: { receiver, port in
      let settings = try fixture.settings(port)
      try await fixture.use(settings)
      try await body(receiver, settings.endpoints[0].name)
    }
  }

  /// Tries to deliver until no event waits.
  private func exhaust() async {
    while let next = await fixture.webhooks.deliverDue() { fixture.clock.set(next) }
  }

  @Test func `what failed is sent again, from the first try and in the order of its snapshot`() async throws {
    try await run { receiver, name in
      var record = try fixture.record()
      record.comments = [try #require(SnapshotComment("Seen", writtenAt: fixture.now))]
      status.set(500)
      try await fixture.webhooks.attached(record)
      try await fixture.webhooks.commented(record, at: 0)
      await exhaust()
      #expect(try await fixture.state() == WebhookEndpointState(failed: 2, problem: "status 500"))
      try await fixture.webhooks.willDelete(record.id, record)
      try await fixture.webhooks.deleted(record.id)

      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 2)
      #expect(try await fixture.state() == WebhookEndpointState(waiting: 3, problem: "status 500"))
      let deliveries = try await fixture.webhooks.deliveries(to: name, before: nil, limit: 10)
      #expect(deliveries.map(\.tries) == [0, 0, 0])
      #expect(deliveries.allSatisfy { $0.due == fixture.now && $0.ended == nil })
      status.set(204)
      let count = receiver.received.count
      await exhaust()
      #expect(
        receiver.received.dropFirst(count).map(\.id) == [
          "attached_\(record.id)", "commented_\(record.id)_0", "deleted_\(record.id)",
        ])
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 3))
    }
  }

  @Test func `an endpoint that answered 410 gets events again`() async throws {
    try await run { receiver, name in
      status.set(410)
      try await fixture.webhooks.attached(try fixture.record())
      await exhaust()
      #expect(try await fixture.state().isDisabled)
      status.set(204)
      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 1)
      try await fixture.webhooks.attached(try fixture.record())
      await exhaust()
      #expect(receiver.received.count == 3)
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 2))
    }
  }

  @Test func `one event is sent again also if it was delivered, and not while it waits`() async throws {
    try await run { receiver, name in
      let (first, second) = (try fixture.record(), try fixture.record())
      for record in [first, second] { try await fixture.webhooks.attached(record) }
      let event = "attached_\(first.id)"
      #expect(try await fixture.webhooks.redeliver(event, to: name) == 0)
      await exhaust()
      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 0)
      #expect(try await fixture.webhooks.redeliver("attached_", to: name) == 0)
      #expect(try await fixture.webhooks.redeliver(event, to: name) == 1)
      #expect(try await fixture.state() == WebhookEndpointState(waiting: 1, delivered: 1))
      await exhaust()
      #expect(receiver.received.map(\.id).last == event && receiver.received.count == 3)
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 2))
    }
  }

  @Test func `at most the limit of events wait again, the oldest first`() async throws {
    try await run { receiver, name in
      let records = try (0..<5).map { _ in try fixture.record() }
      for record in records { try await fixture.webhooks.attached(record) }
      await exhaust()
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 3, dropped: 2))
      let ids = records.map { "attached_\($0.id)" }
      try await fixture.webhooks.attached(try fixture.record())
      try await fixture.webhooks.attached(try fixture.record())
      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 1)
      #expect(try await fixture.state() == WebhookEndpointState(waiting: 3, delivered: 3, dropped: 1))
      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 0)
      #expect(try await fixture.webhooks.redeliver(ids[4], to: name) == 0)
      await exhaust()
      #expect(
        receiver.received.contains { $0.id == ids[0] } && !receiver.received.contains { $0.id == ids[1] })
      #expect(try await fixture.webhooks.redeliver(nil, to: name) == 1)
      await exhaust()
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 7))
    }
  }

  @Test func `deliveries are listed page by page, the newest first`() async throws {
    try await run { _, name in
      let records = try (0..<3).map { _ in try fixture.record() }
      try await fixture.webhooks.attached(records[0])
      await exhaust()
      status.set(500)
      for record in records[1...] { try await fixture.webhooks.attached(record) }
      _ = await fixture.webhooks.deliverDue()
      let first = try await fixture.webhooks.deliveries(to: name, before: nil, limit: 2)
      #expect(first.map(\.snapshot) == [records[2].id, records[1].id])
      #expect(first.map(\.state) == [.waiting, .waiting])
      #expect(first.map(\.due) == [fixture.now + 5, fixture.now + 5])
      #expect(first.map(\.tries) == [1, 1])
      let second = try await fixture.webhooks.deliveries(to: name, before: first[1].sequence, limit: 2)
      #expect(
        second == [
          WebhookDeliverySummary(
            sequence: second[0].sequence, event: "attached_\(records[0].id)", snapshot: records[0].id,
            state: .delivered, tries: 1, due: nil, ended: fixture.now)
        ])
      let last = second[0].sequence
      #expect(try await fixture.webhooks.deliveries(to: name, before: last, limit: 2).isEmpty)
    }
  }

  @Test func `a test event is signed and sent once, and the outbox does not know of it`() async throws {
    try await run { receiver, name in
      let result = try await fixture.webhooks.test(name)
      #expect(result.isAccepted && result.answer == "status 204")
      let received = try #require(receiver.received.first)
      #expect(received.id == result.event)
      #expect(try received.signatures == [received.expectedSignature(secret: WebhookFixture.secrets[0])])
      #expect(
        received.body == #"{"data":{},"timestamp":"2026-09-21T14:13:20.000Z","type":"snapshot.test"}"#)
      for (code, answer) in [
        (500, "status 500"), (307, "status 307; redirects are not followed"), (410, "status 410"),
      ] {
        status.set(code)
        let result = try await fixture.webhooks.test(name)
        #expect(!result.isAccepted && result.answer == answer)
      }
      #expect(receiver.received.count == 4)
      #expect(try await fixture.state() == WebhookEndpointState())
      fixture.addresses.set(["10.0.0.1"])
      let refused = try await fixture.webhooks.test(name)
      #expect(!refused.isAccepted && refused.answer.contains("10.0.0.1 is not a public address"))
      #expect(receiver.received.count == 4)
    }
  }

  @Test func `an endpoint that is not in the settings is not known`() async throws {
    try await run { _, name in
      for name in [name + "0", "", "127.0.0.1"] {
        await #expect(throws: UnknownWebhook.self) { try await fixture.webhooks.test(name) }
        await #expect(throws: UnknownWebhook.self) { try await fixture.webhooks.redeliver(nil, to: name) }
        await #expect(throws: UnknownWebhook.self) {
          try await fixture.webhooks.deliveries(to: name, before: nil, limit: 1)
        }
      }
    }
  }
}
