public import Foundation
public import SnapshotFormat

/// What follows on making a link to a bundle.
public struct LinkPage: Sendable, Hashable {
  /// The snapshot.
  public var record: SnapshotRecord
  /// The link, with the server's origin.
  public var link: String
  /// When it ends.
  public var expiresAt: Date

  /// A page.
  public init(record: SnapshotRecord, link: String, expiresAt: Date) {
    self.record = record
    self.link = link
    self.expiresAt = expiresAt
  }
}
