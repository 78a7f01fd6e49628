package import Foundation
package import SnapshotStore

/// How far an upload is; every number of it lasts.
package struct UploadStatus: Sendable, Hashable {
  /// Its name, which can't be guessed.
  package var id: UploadID
  /// How many of its bytes are there and would survive a power cut.
  package var offset: Int64
  /// How many it has in all, as far as that is known.
  package var length: Int64?
  /// Whether all of its bytes are there.
  package var isComplete: Bool
  /// When it goes by itself.
  package var expiresAt: Date
  /// How it ended; `nil` while it is open, which a complete one is as long as the store can't take it, and a part
  /// always.
  package var outcome: UploadOutcome?
  /// What was agreed upon when it was opened.
  package var terms: UploadTerms
}
