package import Foundation
package import SnapshotStore

/// The state of an upload. Its offset and length are durable.
package struct UploadStatus: Sendable, Hashable {
  /// The id, which can't be guessed.
  package var id: UploadID
  /// The number of bytes that are stored durably.
  package var offset: Int64
  /// The total length in bytes, if it is known.
  package var length: Int64?
  /// Whether all bytes are stored.
  package var isComplete: Bool
  /// The time at which the upload expires.
  package var expiresAt: Date
  /// The outcome; `nil` while the upload is open. A complete upload stays open as long as the store can't publish it. A
  /// part always stays open.
  package var outcome: UploadOutcome?
  /// The terms set when the upload was created.
  package var terms: UploadTerms
}
