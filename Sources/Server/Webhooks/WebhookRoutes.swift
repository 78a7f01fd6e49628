import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
package import SnapshotAPI
import SnapshotFormat

/// The endpoints about webhooks, for administrators.
package struct WebhookRoutes: Sendable {
  private let webhooks: Webhooks?

  /// Creates the endpoints of a server's webhooks; `nil` if it has none.
  package init(_ webhooks: Webhooks?) { self.webhooks = webhooks }

  /// All endpoints.
  package var endpoints: [Endpoint] {
    let path = "/v1/webhooks"
    let lengths = WebhookLimits.deliveriesPerPage
    return [
      Endpoint(
        .listWebhooks, .get, path, .admin, "Lists the webhooks, with what became of their events.",
        responses: [.json(200, "The webhooks, in the order of the settings.", .schema("Webhooks"))],
        problems: [.callerLimited], handler: list),
      Endpoint(
        .listDeliveries, .get, path + "/{webhook}/deliveries", .admin,
        "Lists the deliveries to a webhook, newest first.",
        detail: "Use `next`, or the link in the field `Link`, unchanged.",
        parameters: [
          .webhook,
          .query(
            "limit", "The maximum number of deliveries in the response.",
            [
              "type": "integer", "minimum": .integer(Int64(lengths.lowerBound)),
              "maximum": .integer(Int64(lengths.upperBound)), "default": .integer(Int64(lengths.upperBound)),
            ]),
          .query(
            "cursor", "The `next` of the previous page.", ["type": "string", "pattern": "^[0-9]{1,19}$"]),
        ],
        responses: [.json(200, "A page.", .schema("WebhookDeliveries"), fields: ["Link"])],
        problems: [.callerLimited, .noSuchWebhook], handler: listDeliveries),
      Endpoint(
        .testWebhook, .post, path + "/{webhook}/test", .admin, "Sends a test event to a webhook, once.",
        detail: """
          Waits for the answer of the receiver, at most \(Int(WebhookLimits.trySeconds)) seconds. The event has the type \
          `snapshot.test`, and is signed and sent like all others.
          """,
        parameters: [.webhook],
        responses: [.json(200, "What the receiver answered.", .schema("WebhookTest"))],
        problems: [.callerLimited, .noSuchWebhook], handler: test),
      Endpoint(
        .redeliver, .post, path + "/{webhook}/redeliver", .admin,
        "Sends the events again that a webhook did not get.",
        detail: """
          These are the events that failed or were dropped, as far as the server remembers them, or with `event` one \
          that ended in any way. A webhook that answered 410 gets events again. If too many would wait, only the oldest \
          do: repeat the call.
          """,
        parameters: [.webhook, .query("event", "The id of an event.", ["type": "string"])],
        responses: [.json(200, "How many events are sent again.", .schema("Redelivery"))],
        problems: [.callerLimited, .noSuchWebhook], handler: redeliver),
    ]
  }

  private func list(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let states = try await webhooks?.states() ?? []
    return try JSONBody(["webhooks": states.map { WebhookAnswer($0.endpoint, $0.state) }]).response(.ok)
  }

  private func listDeliveries(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let query = try call.query()
    let lengths = WebhookLimits.deliveriesPerPage
    let limit = try query.number("limit", lengths) ?? lengths.upperBound
    let cursor = try query.number("cursor", 0...Int64.max)
    let deliveries = try await finding(call) {
      try await $0.deliveries(to: $1, before: cursor, limit: limit + 1)
    }
    let page = deliveries.prefix(limit)
    let next = page.count < deliveries.count ? page.last.map { "\($0.sequence)" } : nil
    var fields: HTTPFields = [:]
    if let next {
      fields[.link] = "<\(call.request.path)?limit=\(limit)&cursor=\(next)>; rel=\"next\""
    }
    return try JSONBody(DeliveriesAnswer(deliveries: page.map(DeliveryAnswer.init), next: next))
      .response(.ok, fields)
  }

  private func test(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let result = try await finding(call) { try await $0.test($1) }
    return try JSONBody(
      TestAnswer(event: result.event, isAccepted: result.isAccepted, answer: result.answer)
    ).response(.ok)
  }

  private func redeliver(_ call: APIRequest) async throws -> HTTPServerResponse {
    try call.caller.requireUnlimited()
    let event = try call.query().value("event")
    let count = try await finding(call) { try await $0.redeliver(event, to: $1) }
    return try JSONBody(["count": count]).response(.ok)
  }

  /// Calls `body` with the webhooks and the name in the path.
  private func finding<Value>(
    _ call: APIRequest, _ body: (Webhooks, String) async throws -> Value
  ) async throws -> Value {
    let name = try call.value(of: .webhook)
    do {
      guard let webhooks else { throw UnknownWebhook() }
      return try await body(webhooks, name)
    } catch is UnknownWebhook {
      throw HTTPProblem(.noSuchWebhook, detail: "The settings have no webhook with this name.")
    }
  }
}

/// A webhook in responses.
private struct WebhookAnswer: Encodable {
  let name: String
  let waiting: Int
  let delivered: Int
  let failed: Int
  let dropped: Int
  let isDisabled: Bool
  let problem: String?

  init(_ endpoint: WebhookEndpoint, _ state: WebhookEndpointState) {
    name = endpoint.name
    (waiting, delivered, failed, dropped) = (state.waiting, state.delivered, state.failed, state.dropped)
    (isDisabled, problem) = (state.isDisabled, state.problem)
  }
}

private struct DeliveriesAnswer: Encodable {
  let deliveries: [DeliveryAnswer]
  let next: String?
}

/// A delivery in responses.
private struct DeliveryAnswer: Encodable {
  let event: String
  let snapshot: SnapshotID
  let state: String
  let tries: Int
  let dueAt: Date?
  let endedAt: Date?

  init(_ delivery: WebhookDeliverySummary) {
    (event, snapshot, state) = (delivery.event, delivery.snapshot, delivery.state.rawValue)
    (tries, dueAt, endedAt) = (delivery.tries, delivery.due, delivery.ended)
  }
}

private struct TestAnswer: Encodable {
  let event: String
  let isAccepted: Bool
  let answer: String
}

extension Endpoint.Parameter {
  fileprivate static let webhook = Self(
    name: "webhook", place: .path, text: "The name of the webhook.", schema: ["type": "string"])
}

extension PathParameter where Value == String {
  /// The name of a webhook. A malformed one is that of no webhook.
  fileprivate static var webhook: PathParameter<String> { PathParameter("webhook") { $0 } }
}
