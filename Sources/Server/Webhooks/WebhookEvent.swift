package import Foundation
package import SnapshotFormat

/// Something that happened to a snapshot, as it is sent.
package struct WebhookEvent: Sendable, Hashable {
  /// What happened.
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    case attached = "snapshot.attached"
    case deleted = "snapshot.deleted"
    case commented = "snapshot.commented"
    case expiring = "snapshot.expiring"
  }

  /// Identifies the event. It is the same for the same change, however often it is announced or sent. Contains no dot,
  /// because dots separate the parts of what is signed.
  package let id: String
  package let kind: Kind
  package let snapshot: SnapshotID
  /// The body of the request: JSON of at most ``WebhookLimits/bodyBytes``.
  package let body: Data

  /// The id of the deletion of `snapshot`. A snapshot is attached once and deleted once.
  static func deletionID(_ snapshot: SnapshotID) -> String { "deleted_\(snapshot)" }

  /// Describes a change of a snapshot.
  /// - Parameters:
  ///   - record: the record; `nil` if it can't be read.
  ///   - comment: the index of the comment that was written.
  ///   - end: when the snapshot expires, if that is the event.
  ///   - settings: which fields of the record the event has.
  ///   - now: the time of the change.
  package init(
    _ kind: Kind, of snapshot: SnapshotID, _ record: SnapshotRecord?, comment: Int? = nil,
    end: Date? = nil, _ settings: WebhookSettings, at now: Date
  ) throws {
    self.kind = kind
    self.snapshot = snapshot
    id =
      switch kind {
      case .attached: "attached_\(snapshot)"
      case .deleted: Self.deletionID(snapshot)
      case .commented: "commented_\(snapshot)_\(comment ?? 0)"
      case .expiring: "expiring_\(snapshot)_\(Int64(end?.timeIntervalSince1970 ?? 0))"
      }
    var payload = WebhookPayload(kind, snapshot, record, comment: comment, end: end, settings, at: now)
    var body = try SnapshotJSON.encode(payload)
    if body.count > WebhookLimits.bodyBytes {
      payload.omit(\.isLong)
      body = try SnapshotJSON.encode(payload)
    }
    if body.count > WebhookLimits.bodyBytes {
      payload.omit { _ in true }
      body = try SnapshotJSON.encode(payload)
    }
    self.body = body
  }
}
