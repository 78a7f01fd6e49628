import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPClient
import HTTPTypes
import Logging
import ServerTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing
import Webhooks

/// The calls about webhooks.
@Suite struct WebhookCallTests {
  /// Answers every event with one status, and counts the events.
  private final class Receiver: AddressedTransport {
    let status = Lock(500)
    let count = Lock(0)

    func send(
      _ request: HTTPRequest, body: TransportBody, to address: SocketAddress,
      destination: TransportDestination, timeouts: TransportTimeouts,
      events: (@Sendable (TransportEvent) -> Void)?
    ) async throws(TransportError) -> TransportResponse {
      _ = count.add(1)
      return TransportResponse(head: HTTPResponse(status: .init(code: status.value)), body: Data())
    }
  }

  private struct List: Decodable {
    struct Webhook: Decodable, Equatable {
      var name: String
      var waiting = 0
      var delivered = 0
      var failed = 0
      var dropped = 0
      var isDisabled = false
      var problem: String?
    }

    let webhooks: [Webhook]
  }

  private struct Page: Decodable {
    struct Delivery: Decodable {
      let event: String
      let state: String
      let tries: Int
      let dueAt: Date?
      let endedAt: Date?
    }

    let deliveries: [Delivery]
    let next: String?
  }

  private let folder: TemporaryFolder
  private let receiver = Receiver()
  private let outbox: FragileOutbox
  private let webhooks: Webhooks
  private let api: TestAPI
  private let name: String
  private var path: String { "/v1/webhooks/\(name)" }

  init() async throws {
    folder = try TemporaryFolder()
    let outbox = try FragileOutbox(path: folder.file("webhooks.sqlite").path)
    self.outbox = outbox
    var environment = Webhooks.Environment(transport: receiver) { outbox }
    environment.resolve = { _ in [IPAddress("8.8.8.8")].compactMap(\.self) }
    webhooks = Webhooks(
      environment, store: InMemoryStore(validator: EveryStoreTrait.validator), logger: .quiet)
    var settings = WebhookSettings()
    let endpoint = try #require(WebhookEndpoint("https://hooks.example/secret-path?token=secret"))
    name = endpoint.name
    settings.endpoints = [endpoint]
    let secret = "whsec_" + Data(repeating: 7, count: 32).base64EncodedString()
    settings.secretFile = try folder.write(Data(secret.utf8), to: "secrets").path
    let apply = try webhooks.prepare(settings)
    await apply()
    api = TestAPI(webhooks: webhooks)
  }

  @Test func `webhooks are listed with what became of their events, and without their paths`() async throws {
    #expect(try await api.send(.get, "/v1/webhooks").decode(List.self).webhooks == [.init(name: name)])
    try await api.upload(try ZippedSample().bytes)
    _ = await webhooks.deliverDue()
    let answer = try await api.send(.get, "/v1/webhooks")
    #expect(
      try answer.decode(List.self).webhooks == [.init(name: name, waiting: 1, problem: "status 500")])
    #expect(!answer.text.contains("secret"))
  }

  @Test func `deliveries are listed with a cursor`() async throws {
    for _ in 0..<3 { try await api.upload(try ZippedSample().bytes) }
    let all = try await api.send(.get, path + "/deliveries").decode(Page.self)
    #expect(all.deliveries.count == 3 && all.next == nil)
    #expect(all.deliveries.allSatisfy { $0.state == "waiting" && $0.dueAt != nil && $0.endedAt == nil })
    let first = try await api.send(.get, path + "/deliveries", query: "limit=2")
    let page = try first.decode(Page.self)
    #expect(page.deliveries.map(\.event) == all.deliveries.prefix(2).map(\.event))
    let next = try #require(page.next)
    #expect(first.fields[.link] == "<\(path)/deliveries?limit=2&cursor=\(next)>; rel=\"next\"")
    let rest = try await api.send(.get, path + "/deliveries", query: "limit=2&cursor=\(next)").decode(
      Page.self)
    #expect(rest.deliveries.map(\.event) == [all.deliveries[2].event] && rest.next == nil)
  }

  @Test(arguments: ["limit=0", "limit=1001", "limit=", "cursor=-1", "cursor=9223372036854775808", "cursor=x"])
  func `a malformed limit or cursor is refused`(query: String) async throws {
    let answer = try await api.send(.get, path + "/deliveries", query: query)
    #expect(answer.status == 400)
    #expect(answer.kind == "bad-request")
    for query in ["limit=1", "limit=1000", "cursor=0", "cursor=9223372036854775807"] {
      #expect(try await api.send(.get, path + "/deliveries", query: query).status == 200)
    }
  }

  @Test func `a test event is sent once, and the answer says what the receiver answered`() async throws {
    struct Result: Decodable {
      let event: String
      let isAccepted: Bool
      let answer: String
    }
    let failed = try await api.send(.post, path + "/test").decode(Result.self)
    #expect(!failed.isAccepted && failed.answer == "status 500")
    receiver.status.set(202)
    let accepted = try await api.send(.post, path + "/test").decode(Result.self)
    #expect(accepted.isAccepted && accepted.answer == "status 202" && accepted.event != failed.event)
    #expect(await webhooks.deliverDue() == nil)
    #expect(receiver.count.value == 2)
  }

  @Test func `events are sent again, also by a webhook that was disabled`() async throws {
    receiver.status.set(410)
    try await api.upload(try ZippedSample().bytes)
    _ = await webhooks.deliverDue()
    var states = try await api.send(.get, "/v1/webhooks").decode(List.self).webhooks
    #expect(states == [.init(name: name, failed: 1, isDisabled: true, problem: "status 410")])
    receiver.status.set(204)
    let event = try #require(
      try await api.send(.get, path + "/deliveries").decode(Page.self).deliveries.first?.event)
    for (query, count) in [("event=other", 0), ("event=\(event)", 1), (nil, 0)] as [(String?, Int)] {
      let answer = try await api.send(.post, path + "/redeliver", query: query)
      #expect(try answer.decode([String: Int].self) == ["count": count])
    }
    _ = await webhooks.deliverDue()
    states = try await api.send(.get, "/v1/webhooks").decode(List.self).webhooks
    #expect(states == [.init(name: name, delivered: 1)])
  }

  @Test func `the page shows the webhooks, and the home page links to it while there are any`() async throws {
    try await api.upload(try ZippedSample().bytes)
    _ = await webhooks.deliverDue()
    let html: HTTPFields = [.accept: "text/html"]
    let page = try await api.send(.get, "/webhooks", html)
    #expect(page.status == 200)
    #expect(page.text.contains(name) && page.text.contains("Last try: <bdi>status 500</bdi>"))
    #expect(page.text.contains("1 waiting, 0 delivered, 0 failed, 0 dropped"))
    #expect(!page.text.contains("secret-path"))
    #expect(try await api.send(.get, "/", html).text.contains(#"href="/webhooks""#))
    let apply = try webhooks.prepare(WebhookSettings())
    await apply()
    #expect(try await api.send(.get, "/webhooks", html).text.contains("have no webhooks"))
    #expect(try await !api.send(.get, "/", html).text.contains(#"href="/webhooks""#))
  }

  @Test func `a webhook that the settings do not have is not known`() async throws {
    for (method, call) in [(HTTPRequest.Method.get, "deliveries"), (.post, "test"), (.post, "redeliver")] {
      let answer = try await api.send(method, "/v1/webhooks/other.example-00000000/\(call)")
      #expect(answer.status == 404)
      #expect(answer.kind == "no-such-webhook")
    }
  }

  @Test func `without webhooks there are none`() async throws {
    let api = TestAPI()
    #expect(try await api.send(.get, "/v1/webhooks").decode(List.self).webhooks.isEmpty)
    #expect(try await api.send(.post, path + "/test").status == 404)
  }

  @Test func `a snapshot that a retention rule deletes has an event`() async throws {
    let api = TestAPI(rules: RetentionRules(.init(countPerReport: 1)), webhooks: webhooks)
    receiver.status.set(204)
    for _ in 0..<3 { try await api.upload(try ZippedSample().bytes) }
    struct Outcome: Decodable { let expirations: [Expiration] }
    let outcome = try await api.send(.post, "/v1/expirations").decode(Outcome.self)
    #expect(outcome.expirations.count == 2)
    _ = await webhooks.deliverDue()
    let page = try await api.send(.get, path + "/deliveries").decode(Page.self)
    let deleted = page.deliveries.map(\.event).filter { $0.hasPrefix("deleted_") }
    #expect(Set(deleted) == Set(outcome.expirations.map { "deleted_\($0.id)" }))
    #expect(page.deliveries.count == 5 && page.deliveries.allSatisfy { $0.state == "delivered" })
  }

  @Test func `while the outbox fails, nothing is acknowledged, and a repeated upload has its event once`()
    async throws
  {
    let bundle = try ZippedSample()
    receiver.status.set(204)
    outbox.fails.set(true)
    for call in [path + "/redeliver", "/v1/reports/BUG-1/snapshots"] {
      let answer =
        try await call.hasSuffix("snapshots")
        ? api.upload(bundle.bytes, .put, id: bundle.id) : api.send(.post, call)
      #expect(answer.status == 503)
      #expect(answer.kind == "storage-unavailable")
      #expect(answer.fields[.retryAfter] != nil)
      #expect(answer.problem?.detail.contains("secret reason") == false)
    }
    #expect(try await api.send(.get, "/v1/webhooks").status == 503)
    #expect(await webhooks.deliverDue() != nil)
    outbox.fails.set(false)
    for status in [200, 200] {
      #expect(try await api.upload(bundle.bytes, .put, id: bundle.id).status == status)
    }
    _ = await webhooks.deliverDue()
    #expect(receiver.count.value == 1)
    let page = try await api.send(.get, path + "/deliveries").decode(Page.self)
    #expect(page.deliveries.map(\.event) == ["attached_\(bundle.id)"])
  }
}

/// An outbox that fails when a test says so.
private final class FragileOutbox: WebhookOutbox {
  private struct Failure: Error, CustomStringConvertible { let description = "secret reason" }

  let fails = Lock(false)
  private let outbox: SQLiteOutbox

  init(path: String) throws { outbox = try SQLiteOutbox(path: path) }

  private func opened() throws -> SQLiteOutbox {
    if fails.value { throw Failure() }
    return outbox
  }

  func add(_ event: WebhookEvent, for endpoints: [String], at now: Date) async throws -> Int {
    try await opened().add(event, for: endpoints, at: now)
  }
  func hold(_ event: WebhookEvent, at now: Date) async throws { try await opened().hold(event, at: now) }
  func release(_ event: String, for endpoints: [String], at now: Date) async throws -> Int {
    try await opened().release(event, for: endpoints, at: now)
  }
  func discard(_ event: String) async throws { try await opened().discard(event) }
  func held(since time: Date) async throws -> [String: SnapshotID] { try await opened().held(since: time) }
  func due(for endpoint: String, at now: Date, limit: Int) async throws -> [WebhookDelivery] {
    try await opened().due(for: endpoint, at: now, limit: limit)
  }
  func nextDue(for endpoint: String) async throws -> Date? { try await opened().nextDue(for: endpoint) }
  func record(_ outcome: WebhookOutcome, of delivery: WebhookDelivery, to endpoint: String, at now: Date)
    async throws
  {
    try await opened().record(outcome, of: delivery, to: endpoint, at: now)
  }
  func deliveries(
    to endpoint: String, before sequence: Int64?, limit: Int
  ) async throws -> [WebhookDeliverySummary] {
    try await opened().deliveries(to: endpoint, before: sequence, limit: limit)
  }
  func redeliver(_ event: String?, to endpoint: String, at now: Date) async throws -> Int {
    try await opened().redeliver(event, to: endpoint, at: now)
  }
  func keepOnly(_ endpoints: [String]) async throws { try await opened().keepOnly(endpoints) }
  func prune(at now: Date) async throws { try await opened().prune(at: now) }
  func states() async throws -> [String: WebhookEndpointState] { try await opened().states() }
  func close() async throws { try await outbox.close() }
}
