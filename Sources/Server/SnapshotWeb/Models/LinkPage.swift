package import Foundation
import SnapshotAPI
package import SnapshotFormat

/// What follows on making a link to a bundle.
package struct LinkPage: Sendable, Hashable {
  /// The snapshot.
  package var record: SnapshotRecord
  /// The link, with the server's origin.
  package var link: String
  /// When it ends.
  package var expiresAt: Date

  /// A page.
  package init(record: SnapshotRecord, link: String, expiresAt: Date) {
    self.record = record
    self.link = link
    self.expiresAt = expiresAt
  }
}
