import Foundation
import HTTPEngine
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing
import Webhooks

/// Events on their way from a change to a receiver.
@Suite struct WebhooksTests {
  @Test func `an event arrives with the chosen fields and a valid signature`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      var settings = try fixture.settings(port)
      settings.linkBase = "https://snapshots.example"
      settings.fields = [.application, .size]
      try await fixture.use(settings)
      let record = try fixture.record(metadata: ["note": "private"])
      try await fixture.webhooks.attached(record)
      #expect(await fixture.webhooks.deliverDue() == nil)
      let received = try #require(receiver.received.first)
      #expect(receiver.received.count == 1)
      #expect(received.path == "/hook")
      #expect(received.id == "attached_\(record.id)")
      #expect(received.timestamp == "1790000000")
      #expect(try received.signatures == [received.expectedSignature(secret: WebhookFixture.secrets[0])])
      #expect(
        received.body == """
          {"data":{"links":{"api":"https://snapshots.example/v1/snapshots/\(record.id)",\
          "page":"https://snapshots.example/snapshots/\(record.id)"},\
          "record":{"application":{"build":"15","identifier":"com.example.news","version":"3.1.4"},"size":10},\
          "report":"BUG-1","snapshot":"\(record.id)"},"timestamp":"2026-09-21T14:13:20.000Z",\
          "type":"snapshot.attached"}
          """)
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 1))
    }
  }

  @Test func `a snapshot that expires has an event for each end, unless the settings leave them out`()
    async throws
  {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      #expect(!fixture.webhooks.announcesExpirations)
      var settings = try fixture.settings(port)
      settings.fields = []
      try await fixture.use(settings)
      #expect(fixture.webhooks.announcesExpirations)
      let (record, end) = (try fixture.record(), Date(timeIntervalSince1970: 1_790_080_000))
      for time in [end, end, end + 60] { try await fixture.webhooks.expiring(record, at: time) }
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(
        receiver.received.map(\.id) == [
          "expiring_\(record.id)_1790080000", "expiring_\(record.id)_1790080060",
        ])
      let body = try #require(receiver.received.first?.body)
      #expect(body.contains(#""expiresAt":"2026-09-22T12:26:40.000Z""#))
      #expect(body.contains(#""type":"snapshot.expiring""#))
      settings.events = [.attached]
      try await fixture.use(settings)
      #expect(!fixture.webhooks.announcesExpirations)
    }
  }

  @Test func `with two secrets an event has two signatures, and with new settings those of the new secrets`()
    async throws
  {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port, secrets: WebhookFixture.secrets))
      try await fixture.webhooks.attached(try fixture.record())
      _ = await fixture.webhooks.deliverDue()
      try await fixture.use(try fixture.settings(port, secrets: [WebhookFixture.secrets[1]]))
      try await fixture.webhooks.attached(try fixture.record())
      _ = await fixture.webhooks.deliverDue()
      let (both, one) = (receiver.received[0], receiver.received[1])
      let expected = try WebhookFixture.secrets.map { try both.expectedSignature(secret: $0) }
      #expect(both.signatures == expected)
      #expect(try one.signatures == [one.expectedSignature(secret: WebhookFixture.secrets[1])])
    }
  }

  @Test func `an event is sent ten times on schedule, under one id, and then given up`() async throws {
    try await WebhookReceiver.run { _, _ in
      .status(500)
    } _: { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      try await fixture.webhooks.attached(try fixture.record())
      var pauses: [Double] = []
      while let next = await fixture.webhooks.deliverDue() {
        let pause = next.timeIntervalSince(fixture.now)
        pauses.append(pause)
        fixture.advance(pause - 1)
        // A second too early.
        #expect(await fixture.webhooks.deliverDue() == next)
        fixture.advance(1)
      }
      #expect(pauses == [5, 300, 1800, 7200, 18000, 36000, 50400, 72000, 86400])
      #expect(receiver.received.count == 10)
      #expect(Set(receiver.received.map(\.id)).count == 1)
      #expect(Set(receiver.received.map(\.timestamp)).count == 10)
      #expect(Set(receiver.received.map(\.body)).count == 1)
      #expect(try await fixture.state() == WebhookEndpointState(failed: 1, problem: "status 500"))
    }
  }

  @Test(arguments: [("120", 120), ("1", 5), ("99999999999999999999", 86400), ("soon", 5)])
  func `a pause that the receiver requests is honoured within bounds`(field: String, pause: Double)
    async throws
  {
    try await WebhookReceiver.run { _, _ in
      .status(503, [.retryAfter: field])
    } _: { _, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      try await fixture.webhooks.attached(try fixture.record())
      #expect(await fixture.webhooks.deliverDue() == fixture.now + pause)
    }
  }

  @Test func `410 disables an endpoint for all events, and no other endpoint`() async throws {
    try await WebhookReceiver.run { _, _ in
      .status(410)
    } _: { refusing, first in
      try await WebhookReceiver.run { accepting, second in
        let fixture = try WebhookFixture()
        try await fixture.use(try fixture.settings(first, second))
        try await fixture.webhooks.attached(try fixture.record())
        #expect(await fixture.webhooks.deliverDue() == nil)
        try await fixture.webhooks.attached(try fixture.record())
        #expect(await fixture.webhooks.deliverDue() == nil)
        #expect(refusing.received.count == 1)
        #expect(accepting.received.count == 2)
        let states = try await fixture.webhooks.states().map(\.state)
        #expect(states[0] == WebhookEndpointState(failed: 1, isDisabled: true, problem: "status 410"))
        #expect(states[1] == WebhookEndpointState(delivered: 2))
      }
    }
  }

  @Test func `a redirect is a failure and is not followed`() async throws {
    try await WebhookReceiver.run { target, second in
      try await WebhookReceiver.run { _, _ in
        .status(307, [.location: "http://127.0.0.1:\(second)/"])
      } _: { _, first in
        let fixture = try WebhookFixture()
        try await fixture.use(try fixture.settings(first))
        try await fixture.webhooks.attached(try fixture.record())
        #expect(await fixture.webhooks.deliverDue() == fixture.now + 5)
        #expect(target.received.isEmpty)
        #expect(try await fixture.state().problem == "status 307; redirects are not followed")
      }
    }
  }

  @Test func `the events of one snapshot arrive in order, and do not delay those of others`() async throws {
    let fixture = try WebhookFixture()
    let (first, second) = (try fixture.record(), try fixture.record())
    let slow = "attached_\(first.id)"
    try await WebhookReceiver.run { received, count in
      .status(received.id == slow && count < 2 ? 500 : 204)
    } _: { receiver, port in
      try await fixture.use(try fixture.settings(port))
      var commented = first
      commented.comments = [try #require(SnapshotComment("Seen", writtenAt: fixture.now))]
      try await fixture.webhooks.attached(first)
      try await fixture.webhooks.commented(commented, at: 0)
      try await fixture.webhooks.attached(second)
      #expect(await fixture.webhooks.deliverDue() == fixture.now + 5)
      #expect(Set(receiver.received.map(\.id)) == [slow, "attached_\(second.id)"])
      fixture.advance(5)
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(receiver.received.map(\.id).suffix(2) == [slow, "commented_\(first.id)_0"])
    }
  }

  @Test func `an event that was announced again is sent once`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      let record = try fixture.record()
      try await fixture.webhooks.attached(record)
      _ = await fixture.webhooks.deliverDue()
      try await fixture.webhooks.attached(record)
      #expect(await fixture.webhooks.deliverDue() == nil)
      // So long after it was received, the outbox has forgotten the first one.
      fixture.advance(Double(WebhookLimits.endedSeconds))
      try await fixture.webhooks.attached(record)
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(receiver.received.count == 1)
    }
  }

  @Test func `waiting events survive a restart`() async throws {
    let folder = try TemporaryFolder()
    let record = try WebhookFixture().record()
    try await WebhookReceiver.run { receiver, port in
      let first = try WebhookFixture(in: folder)
      try await first.use(try first.settings(port))
      try await first.webhooks.attached(record)
      await first.webhooks.close()
      let second = try WebhookFixture(in: folder)
      try await second.use(try second.settings(port))
      _ = await second.webhooks.deliverDue()
      #expect(receiver.received.map(\.id) == ["attached_\(record.id)"])
    }
  }

  @Test func `the oldest events are dropped and counted if too many wait`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture(waitingLimit: 3)
      try await fixture.use(try fixture.settings(port))
      let records = try (0..<5).map { _ in try fixture.record() }
      for record in records { try await fixture.webhooks.attached(record) }
      #expect(try await fixture.state() == WebhookEndpointState(waiting: 3, dropped: 2))
      _ = await fixture.webhooks.deliverDue()
      #expect(Set(receiver.received.map(\.id)) == Set(records.suffix(3).map { "attached_\($0.id)" }))
      #expect(try await fixture.state() == WebhookEndpointState(delivered: 3, dropped: 2))
    }
  }

  @Test func `a deletion is sent only once the snapshot is deleted`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      let record = try fixture.record()
      try await fixture.webhooks.willDelete(record.id, record)
      #expect(await fixture.webhooks.deliverDue() == nil)
      try await fixture.webhooks.deleted(record.id)
      try await fixture.webhooks.deleted(record.id)
      _ = await fixture.webhooks.deliverDue()
      #expect(receiver.received.map(\.id) == ["deleted_\(record.id)"])
      #expect(try receiver.received[0].value("data", "report") as? String == "BUG-1")
    }
  }

  @Test func `after a crash the store decides whether a snapshot was deleted`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      var ids: [SnapshotID] = []
      for text in ["kept", "deleted"] {
        let upload = try await fixture.store.beginUpload()
        try await upload.append(IOBuffer(SampleBundle(filling: text).bytes[...]))
        let record = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record
        try await fixture.webhooks.willDelete(record.id, record)
        ids.append(record.id)
      }
      try await fixture.webhooks.willDelete(SnapshotID(), nil)
      try await fixture.store.delete(ids[1])
      fixture.advance(Double(WebhookLimits.heldSeconds) - 1)
      await fixture.webhooks.settleHeld(olderThan: WebhookLimits.heldSeconds)
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(receiver.received.isEmpty)
      await fixture.webhooks.settleHeld(olderThan: 0)
      _ = await fixture.webhooks.deliverDue()
      #expect(receiver.received.map(\.id) == ["deleted_\(ids[1])"])
    }
  }

  @Test func `only selected snapshots and events are sent`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      var settings = try fixture.settings(port)
      settings.events = [.attached]
      settings.applications = ["com.example.news"]
      settings.reportPrefixes = ["BUG-", "QA-"]
      try await fixture.use(settings)
      let chosen = try fixture.record("QA-7")
      try await fixture.webhooks.attached(chosen)
      try await fixture.webhooks.attached(try fixture.record("OPS-7"))
      try await fixture.webhooks.attached(
        try fixture.record { $0.application.identifier = "com.example.mail" })
      try await fixture.webhooks.willDelete(chosen.id, chosen)
      try await fixture.webhooks.deleted(chosen.id)
      _ = await fixture.webhooks.deliverDue()
      #expect(receiver.received.map(\.id) == ["attached_\(chosen.id)"])
    }
  }

  @Test func `fields that would make an event too long are left out and named`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      var settings = try fixture.settings(port)
      settings.fields = Set(WebhookField.allCases)
      try await fixture.use(settings)
      let long = String(repeating: "a", count: WebhookLimits.bodyBytes)
      try await fixture.webhooks.attached(try fixture.record(metadata: ["note": "short"]))
      try await fixture.webhooks.attached(try fixture.record(metadata: ["note": long]))
      try await fixture.webhooks.attached(
        try fixture.record(metadata: ["note": long]) { $0.application.version = long })
      _ = await fixture.webhooks.deliverDue()
      let omitted = try receiver.received.map { try $0.value("data", "omitted") as? [String] }
      #expect(omitted.contains(nil))
      #expect(omitted.contains(["comment", "metadata", "modules", "note"]))
      #expect(omitted.contains(WebhookField.allCases.map(\.rawValue).sorted()))
      #expect(receiver.received.allSatisfy { $0.body.utf8.count <= WebhookLimits.bodyBytes })
    }
  }

  @Test func `what waits for an endpoint is removed with it, and nothing is stored without endpoints`()
    async throws
  {
    let fixture = try WebhookFixture()
    try await fixture.webhooks.attached(try fixture.record())
    #expect(!FileManager.default.fileExists(atPath: fixture.folder.file("webhooks.sqlite").path))
    try await WebhookReceiver.run { receiver, port in
      try await fixture.use(try fixture.settings(port))
      try await fixture.webhooks.attached(try fixture.record())
      try await fixture.use(WebhookSettings())
      try await fixture.webhooks.attached(try fixture.record())
      try await fixture.use(try fixture.settings(port))
      #expect(await fixture.webhooks.deliverDue() == nil)
      #expect(receiver.received.isEmpty)
    }
  }

  @Test func `settings without a usable secret are refused, and change nothing`() async throws {
    try await WebhookReceiver.run { receiver, port in
      let fixture = try WebhookFixture()
      try await fixture.use(try fixture.settings(port))
      var settings = try fixture.settings(port, secrets: ["secret"])
      #expect(throws: WebhookError.self) { try fixture.webhooks.prepare(settings) }
      settings.secretFile = nil
      #expect(throws: WebhookError.self) { try fixture.webhooks.prepare(settings) }
      try await fixture.webhooks.attached(try fixture.record())
      _ = await fixture.webhooks.deliverDue()
      #expect(receiver.received.count == 1)
    }
  }
}
