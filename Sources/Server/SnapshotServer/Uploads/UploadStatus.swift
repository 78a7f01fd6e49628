public import Foundation
public import SnapshotStore

/// How far an upload is; every number of it lasts.
public struct UploadStatus: Sendable, Hashable {
  /// Its name, which can't be guessed.
  public var id: UploadID
  /// How many of its bytes are there and would survive a power cut.
  public var offset: Int64
  /// How many it has in all, as far as that is known.
  public var length: Int64?
  /// Whether all of its bytes are there.
  public var isComplete: Bool
  /// When it goes by itself.
  public var expiresAt: Date
  /// How it ended; `nil` while it is open, which a complete one is as long as the store can't take it, and a part
  /// always.
  public var outcome: UploadOutcome?
  /// What was agreed upon when it was opened.
  public var terms: UploadTerms
}
