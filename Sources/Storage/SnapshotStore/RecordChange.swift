public import Foundation
public import SnapshotFormat

/// What is changed of a record; all else of it never changes.
public struct RecordChange: Sendable, Hashable {
  /// What becomes of the snapshot's own end.
  public enum End: Sendable, Hashable {
    /// It goes at this time.
    case at(Date)
    /// It has none any more.
    case never
  }

  /// What was found of the bundle's checksums; `nil` leaves it as it is.
  public var verified: SnapshotRecord.Verification?
  /// Whether it stays whatever the rules say; `nil` leaves it as it is.
  public var isPinned: Bool?
  /// When it goes by itself; `nil` leaves it as it is.
  public var end: End?

  /// Describes a change.
  public init(
    verified: SnapshotRecord.Verification? = nil, isPinned: Bool? = nil, end: End? = nil
  ) {
    self.verified = verified
    self.isPinned = isPinned
    self.end = end
  }

  /// Makes the change.
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
