package import Foundation
package import SnapshotFormat

/// What is known of a delivery, for people.
package struct WebhookDeliverySummary: Sendable, Hashable {
  /// What has become of a delivery.
  package enum State: String, Sendable, Hashable, CaseIterable {
    case waiting, delivered, failed, dropped
  }

  /// The order in which deliveries were added.
  package var sequence: Int64
  /// The event's id.
  package var event: String
  package var snapshot: SnapshotID
  package var state: State
  /// The number of tries so far.
  package var tries: Int
  /// When the next try is due, while the delivery waits.
  package var due: Date?
  /// When the delivery ended; `nil` while it waits.
  package var ended: Date?

  /// Creates a summary.
  package init(
    sequence: Int64, event: String, snapshot: SnapshotID, state: State, tries: Int, due: Date?, ended: Date?
  ) {
    (self.sequence, self.event, self.snapshot) = (sequence, event, snapshot)
    (self.state, self.tries, self.due, self.ended) = (state, tries, due, ended)
  }
}
