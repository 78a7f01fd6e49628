public import Foundation

/// How far a look at every bundle has come, and what it found.
public struct ScrubReport: Codable, Sendable, Hashable {
  /// The most damaged snapshots that are named; more are counted.
  public static let namedLimit = 1000

  /// Whether it goes on.
  public var isRunning = false
  /// When it began; `nil` where none was begun.
  public var startedAt: Date?
  /// When it ended; `nil` where it goes on.
  public var endedAt: Date?
  /// How many bundles were hashed.
  public var bundles = 0
  /// How many bytes those have.
  public var bytes: Int64 = 0
  /// How many are damaged: their bundle, or their record.
  public var damaged = 0
  /// Those that are damaged, in ascending order, ``namedLimit`` of them at most.
  public var damagedSnapshots: [SnapshotID] = []
  /// How many could not be read because the disk failed; they are looked at again by the next pass.
  public var unreadable = 0

  /// Nothing looked at yet.
  public init() {}
}
