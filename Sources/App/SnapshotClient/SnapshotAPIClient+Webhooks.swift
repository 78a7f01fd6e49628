package import Foundation
import HTTPTypes
package import SnapshotFormat

/// The webhooks of a server, for administrators.
extension SnapshotAPIClient {
  /// A webhook with what became of its events.
  package struct Webhook: Sendable, Hashable, Codable {
    /// The host and some digits of a digest.
    package let name: String
    /// The numbers of events that wait, were delivered, were given up, and were dropped because too many waited.
    package let waiting: Int
    package let delivered: Int
    package let failed: Int
    package let dropped: Int
    /// Whether the receiver wants no more events.
    package let isDisabled: Bool
    /// Why the last try failed; `nil` if it did not.
    package let problem: String?
  }

  /// An event on its way to a webhook, or at the end of it.
  package struct WebhookDelivery: Sendable, Hashable, Codable {
    /// The event's id.
    package let event: String
    /// The snapshot that the event is about.
    package let snapshot: SnapshotID
    /// `waiting`, `delivered`, `failed` or `dropped`.
    package let state: String
    /// The number of tries so far.
    package let tries: Int
    /// When the next try is due, while it waits.
    package let dueAt: Date?
    /// When it ended.
    package let endedAt: Date?
  }

  /// The result of a test event.
  package struct WebhookTest: Sendable, Hashable, Codable {
    /// The event's id.
    package let event: String
    /// Whether the receiver accepted it.
    package let isAccepted: Bool
    /// The status of the receiver's response, or why there is none.
    package let answer: String
  }

  /// Returns the webhooks in the order of the server's settings.
  package func webhooks() async throws(SnapshotClientError) -> [Webhook] {
    struct List: Decodable { let webhooks: [Webhook] }
    return try decode(List.self, from: try await perform(address.request(.get, ["webhooks"]))).webhooks
  }

  /// Returns the newest deliveries to the webhook `name`.
  /// - Parameter limit: the most deliveries, from 1 to 1,000.
  package func deliveries(
    to name: String, limit: Int
  ) async throws(SnapshotClientError) -> [WebhookDelivery] {
    struct Page: Decodable { let deliveries: [WebhookDelivery] }
    let request = address.request(.get, ["webhooks", name, "deliveries"], query: [("limit", "\(limit)")])
    return try decode(Page.self, from: try await perform(request)).deliveries
  }

  /// Makes the server send a test event to the webhook `name`.
  package func testWebhook(_ name: String) async throws(SnapshotClientError) -> WebhookTest {
    try decode(
      WebhookTest.self, from: try await perform(address.request(.post, ["webhooks", name, "test"])))
  }

  /// Makes the server send events to the webhook `name` again: `event`, or all that failed or were dropped if it is `nil`.
  /// - Returns: the number of events.
  package func redeliver(_ event: String?, to name: String) async throws(SnapshotClientError) -> Int {
    struct Answer: Decodable { let count: Int }
    let query = event.map { [(name: "event", value: $0)] } ?? []
    let request = address.request(.post, ["webhooks", name, "redeliver"], query: query)
    return try decode(Answer.self, from: try await perform(request)).count
  }
}
