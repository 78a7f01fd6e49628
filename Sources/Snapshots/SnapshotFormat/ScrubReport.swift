public import Foundation

/// The progress and the results of a scrub, which verifies every stored bundle.
public struct ScrubReport: Codable, Sendable, Hashable {
  /// The maximum number of damaged snapshots that are listed. All are counted.
  public static let namedLimit = 1000

  /// Whether the scrub is running.
  public var isRunning = false
  /// The start of the scrub; `nil` if there was none.
  public var startedAt: Date?
  /// The end of the scrub; `nil` while it is running.
  public var endedAt: Date?
  /// The number of bundles that were hashed.
  public var bundles = 0
  /// The total size of these bundles in bytes.
  public var bytes: Int64 = 0
  /// The number of snapshots with a damaged bundle or record.
  public var damaged = 0
  /// The damaged snapshots in ascending order, at most ``namedLimit``.
  public var damagedSnapshots: [SnapshotID] = []
  /// The number of bundles that could not be read because the disk failed. The next scrub reads them again.
  public var unreadable = 0

  /// Creates a report without any results.
  public init() {}
}
