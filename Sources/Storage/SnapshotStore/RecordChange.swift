public import Foundation
public import SnapshotFormat

/// A change of a record. All other properties of a record are constant.
public struct RecordChange: Sendable, Hashable {
  /// A change of the snapshot's expiration date.
  public enum End: Sendable, Hashable {
    /// The snapshot expires at this time.
    case at(Date)
    /// The snapshot has no expiration date.
    case never
  }

  /// The result of the verification of checksums; `nil` leaves it unchanged.
  public var verified: SnapshotRecord.Verification?
  /// Whether the snapshot is pinned, so that no rule deletes it; `nil` leaves it unchanged.
  public var isPinned: Bool?
  /// The snapshot's expiration date; `nil` leaves it unchanged.
  public var end: End?

  /// Creates a change.
  public init(
    verified: SnapshotRecord.Verification? = nil, isPinned: Bool? = nil, end: End? = nil
  ) {
    self.verified = verified
    self.isPinned = isPinned
    self.end = end
  }

  /// Applies the change to `record`.
  public func apply(to record: inout SnapshotRecord) {
    if let verified { record.verified = verified }
    if let isPinned { record.isPinned = isPinned }
    switch end {
    case .at(let time): record.expiresAt = SnapshotJSON.milliseconds(of: time)
    case .never: record.expiresAt = nil
    case nil: break
    }
  }
}
