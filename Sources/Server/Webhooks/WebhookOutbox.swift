package import Foundation
package import SnapshotFormat

/// An event on its way to one endpoint.
package struct WebhookDelivery: Sendable, Hashable {
  /// The order in which deliveries were added.
  package let sequence: Int64
  /// The event's id.
  package let event: String
  package let body: Data
  /// The number of tries so far.
  package let tries: Int

  /// Creates a delivery.
  package init(sequence: Int64, event: String, body: Data, tries: Int) {
    (self.sequence, self.event, self.body, self.tries) = (sequence, event, body, tries)
  }
}

/// The result of a try.
package enum WebhookOutcome: Sendable, Hashable {
  /// The receiver has accepted the event.
  case delivered
  /// The try failed for this reason, and the next one is at this time; `nil` if there is none.
  case failed(String, next: Date?)
  /// The receiver wants no more events (410).
  case refused
}

/// The state of an endpoint.
package struct WebhookEndpointState: Sendable, Hashable {
  /// The number of events that wait, were delivered, failed for good, and were dropped because too many waited.
  package var waiting: Int
  package var delivered: Int
  package var failed: Int
  package var dropped: Int
  /// Whether the endpoint refused further events.
  package var isDisabled: Bool
  /// Why the last try failed; `nil` if it did not.
  package var problem: String?

  /// Creates the state of an endpoint, without events by default.
  package init(
    waiting: Int = 0, delivered: Int = 0, failed: Int = 0, dropped: Int = 0, isDisabled: Bool = false,
    problem: String? = nil
  ) {
    (self.waiting, self.delivered, self.failed, self.dropped) = (waiting, delivered, failed, dropped)
    (self.isDisabled, self.problem) = (isDisabled, problem)
  }
}

/// The events that wait to be sent, stored durably: a call that changes something returns once the change would survive
/// a power cut.
///
/// An endpoint is named by ``WebhookEndpoint/name``. Safe to use from any task.
package protocol WebhookOutbox: Sendable {
  /// Adds an event for each of `endpoints` that is not disabled, unless it was added before. If more events than
  /// ``WebhookLimits/waitingPerEndpoint`` wait for an endpoint, the oldest is dropped.
  /// - Returns: the number of dropped events.
  func add(_ event: WebhookEvent, for endpoints: [String], at now: Date) async throws -> Int
  /// Stores an event that must not be sent yet. Has no effect if there is one with this id.
  func hold(_ event: WebhookEvent, at now: Date) async throws
  /// Adds the held event of this id for each of `endpoints`, like ``add(_:for:at:)``. Has no effect if there is none.
  func release(_ event: String, for endpoints: [String], at now: Date) async throws -> Int
  /// Removes the held event of this id.
  func discard(_ event: String) async throws
  /// Returns the snapshots of the events that have been held since before `time`, by their ids.
  func held(since time: Date) async throws -> [String: SnapshotID]
  /// Returns the deliveries to an endpoint that are due, at most `limit`. Each is the first of its snapshot, so that the
  /// events of a snapshot arrive in order.
  func due(for endpoint: String, at now: Date, limit: Int) async throws -> [WebhookDelivery]
  /// Returns when the next delivery to an endpoint is due; `nil` if none waits.
  func nextDue(for endpoint: String) async throws -> Date?
  /// Records the result of a try. Does nothing if the delivery was dropped meanwhile.
  func record(_ outcome: WebhookOutcome, of delivery: WebhookDelivery, to endpoint: String, at now: Date)
    async throws
  /// Returns the deliveries to an endpoint, the newest first, those before `sequence` if it is given; at most `limit`.
  func deliveries(to endpoint: String, before sequence: Int64?, limit: Int) async throws
    -> [WebhookDeliverySummary]
  /// Lets ended deliveries to an endpoint wait again, from their first try: those of `event`, or all that failed or were
  /// dropped if it is `nil`. Each keeps its place in the order of its snapshot. If more events than
  /// ``WebhookLimits/waitingPerEndpoint`` would wait, only the oldest do. Enables an endpoint that refused events.
  /// - Returns: the number of deliveries that wait again.
  func redeliver(_ event: String?, to endpoint: String, at now: Date) async throws -> Int
  /// Removes what is stored about all other endpoints; if servers share the outbox, once none of them has had these for
  /// ``WebhookLimits/unnamedSeconds``.
  func keepOnly(_ endpoints: [String]) async throws
  /// Removes the deliveries that ended too long ago, or of which there are too many, and events without deliveries.
  func prune(at now: Date) async throws
  /// Returns the states of the endpoints for which there ever was an event.
  func states() async throws -> [String: WebhookEndpointState]
  /// Waits for running calls, and closes what is open. If this throws, it is closed with the last reference.
  func close() async throws
}
