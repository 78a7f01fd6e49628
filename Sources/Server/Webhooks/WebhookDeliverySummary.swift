package import Foundation
package import SnapshotFormat

/// What is known of a delivery, for people.
package struct WebhookDeliverySummary: Sendable, Hashable {
  /// What has become of a delivery.
  package enum State: String, Sendable, Hashable, CaseIterable {
    case waiting, delivered, failed, dropped
  }

  /// The order in which deliveries were added.
  package let sequence: Int64
  /// The event's id.
  package let event: String
  /// The snapshot that the event is about.
  package let snapshot: SnapshotID
  package let state: State
  /// The number of tries so far.
  package let tries: Int
  /// When the next try is due, while the delivery waits.
  package let due: Date?
  /// When the delivery ended; `nil` while it waits.
  package let ended: Date?

  /// Creates a summary.
  package init(
    sequence: Int64, event: String, snapshot: SnapshotID, state: State, tries: Int, due: Date?, ended: Date?
  ) {
    self.sequence = sequence
    self.event = event
    self.snapshot = snapshot
    self.state = state
    self.tries = tries
    self.due = due
    self.ended = ended
  }
}
