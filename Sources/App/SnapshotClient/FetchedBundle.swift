public import Foundation
public import SnapshotFormat

/// A bundle that was fetched, and is what the server has.
public struct FetchedBundle: Sendable, Hashable {
  /// The snapshot's name.
  public let id: SnapshotID
  /// Where the zip lies.
  public let file: URL
  /// Its length in bytes.
  public let size: Int64
  /// The digest of its bytes, which was checked.
  public let sha256: ContentDigest
}
