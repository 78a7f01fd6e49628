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
  /// Whether the snapshot is marked as good, so that others are compared with it; `nil` leaves it unchanged.
  public var isGood: Bool?
  /// The snapshot's expiration date; `nil` leaves it unchanged.
  public var end: End?
  /// A comment to add; `nil` adds none.
  public var comment: SnapshotComment?

  /// Creates a change.
  public init(
    verified: SnapshotRecord.Verification? = nil, isPinned: Bool? = nil, isGood: Bool? = nil,
    end: End? = nil, comment: SnapshotComment? = nil
  ) {
    self.verified = verified
    self.isPinned = isPinned
    self.isGood = isGood
    self.end = end
    self.comment = comment
  }

  /// Applies the change to `record`, and raises its revision if it changes. A comment with the text and author of the
  /// newest one is not added again, so that a repeated request has no further effect.
  ///
  /// Throws ``StoreError/tooManyComments(limit:)``, and then leaves `record` unchanged.
  public func apply(
    to record: inout SnapshotRecord, limits: SnapshotComment.Limits = .default
  ) throws(StoreError) {
    let former = record
    try addComment(to: &record, limits)
    if let verified { record.verified = verified }
    if let isPinned { record.isPinned = isPinned }
    if let isGood { record.isGood = isGood }
    switch end {
    case .at(let time): record.expiresAt = SnapshotJSON.milliseconds(of: time)
    case .never: record.expiresAt = nil
    case nil: break
    }
    if record != former { record.raiseRevision() }
  }

  private func addComment(
    to record: inout SnapshotRecord, _ limits: SnapshotComment.Limits
  ) throws(StoreError) {
    let comments = record.comments ?? []
    guard let comment, comments.last.map({ $0.text != comment.text || $0.token != comment.token }) ?? true
    else { return }
    guard comments.count < limits.count else { throw .tooManyComments(limit: limits.count) }
    record.comments = comments + [comment]
  }
}

extension SnapshotRecord {
  /// The record with another result of the verification.
  package func marked(_ verified: Verification) -> SnapshotRecord {
    var record = self
    record.verified = verified
    return record
  }

  /// The record with another result of the verification, as a new revision.
  package func changed(to verified: Verification) -> SnapshotRecord {
    var record = marked(verified)
    record.raiseRevision()
    return record
  }

  fileprivate mutating func raiseRevision() { revision = (revision ?? 0) &+ 1 }
}
