import Foundation
import Logging
import SnapshotFormat
package import SnapshotStore
import SystemIO

/// There is no endpoint with a name in the settings.
package struct UnknownWebhook: Error {}

/// The result of a test event.
package struct WebhookTestResult: Sendable, Hashable {
  /// The id of the event.
  package let event: String
  /// Whether the receiver accepted it.
  package let isAccepted: Bool
  /// The status of the response, or why there is none, as the end of a sentence.
  package let answer: String
}

/// What administrators read and do. Endpoints are named by ``WebhookEndpoint/name``.
extension Webhooks {
  /// Whether there are endpoints now.
  package var isEnabled: Bool { active.withLock { $0 != nil } }

  /// The states of the endpoints in the settings, in their order.
  package func states() async throws(StoreError) -> [(endpoint: WebhookEndpoint, state: WebhookEndpointState)]
  {
    guard let active = active.withLock({ $0 }) else { return [] }
    let known = try await using { try await active.outbox.states() }
    return active.settings.endpoints.map { ($0, known[$0.name] ?? WebhookEndpointState()) }
  }

  /// The deliveries to an endpoint, the newest first, those before `sequence` if it is given; at most `limit`.
  package func deliveries(
    to name: String, before sequence: Int64?, limit: Int
  ) async throws -> [WebhookDeliverySummary] {
    let (active, endpoint) = try find(name)
    return try await using {
      try await active.outbox.deliveries(to: endpoint.name, before: sequence, limit: limit)
    }
  }

  /// Lets ended deliveries to an endpoint wait again: those of `event`, or all that failed or were dropped if it is
  /// `nil`. Enables an endpoint that refused events.
  /// - Returns: the number of deliveries that wait again.
  package func redeliver(_ event: String?, to name: String) async throws -> Int {
    let (active, endpoint) = try find(name)
    let now = environment.now()
    let count = try await using { try await active.outbox.redeliver(event, to: endpoint.name, at: now) }
    wakers.withLock { $0[endpoint.name] }?.yield()
    return count
  }

  /// Sends an event without a snapshot to an endpoint, once, also if it refused events. The outbox does not know of it.
  package func test(_ name: String) async throws -> WebhookTestResult {
    let (active, endpoint) = try find(name)
    let now = environment.now()
    let event = "test_\(UUID().uuidString.lowercased())"
    let body = try SnapshotJSON.encode(TestPayload(timestamp: now))
    let answer = await active.sender.send(
      WebhookDelivery(sequence: 0, event: event, body: body, tries: 0), to: endpoint, at: now)
    return switch answer {
    case .accepted(let status):
      WebhookTestResult(event: event, isAccepted: true, answer: "status \(status)")
    case .gone: WebhookTestResult(event: event, isAccepted: false, answer: "status 410")
    case .failed(let reason, _): WebhookTestResult(event: event, isAccepted: false, answer: reason)
    }
  }

  /// The JSON of a test event.
  private struct TestPayload: Encodable {
    var type = "snapshot.test"
    let timestamp: Date
    var data: [String: String] = [:]
  }

  private func find(_ name: String) throws(UnknownWebhook) -> (Active, WebhookEndpoint) {
    guard let active = active.withLock({ $0 }),
      let endpoint = active.settings.endpoints.first(where: { $0.name == name })
    else { throw UnknownWebhook() }
    return (active, endpoint)
  }

  /// Uses the outbox. Its failures are logged, because they can contain paths.
  private func using<Value>(_ work: () async throws -> Value) async throws(StoreError) -> Value {
    do { return try await work() } catch {
      logger.error("The outbox of the webhooks can't be used", metadata: ["error": "\(error)"])
      throw .unavailable("The outbox of the webhooks can't be used.")
    }
  }
}
