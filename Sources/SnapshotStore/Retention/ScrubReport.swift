public import Foundation
public import SnapshotFormat

/// How far a look at every bundle has come, and what it found.
public struct ScrubReport: Codable, Sendable, Hashable {
  /// The most damaged snapshots that are named; more are counted.
  public static let namedLimit = 1000

  /// Whether it goes on.
  public var isRunning = false
  /// When it began, and when it last ended; `nil` where it has not.
  public var startedAt: Date?
  /// When it ended.
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

  mutating func count(_ finding: ScrubFinding) {
    switch finding.verdict {
    case .intact: break
    case .damaged, .setAside:
      damaged += 1
      if damagedSnapshots.count < Self.namedLimit { damagedSnapshots.append(finding.id) }
    case .unreadable: unreadable += 1
    }
    bundles += 1
    bytes += finding.bytes
  }
}

/// What was found of one bundle.
public struct ScrubFinding: Sendable, Hashable {
  /// The ways that it may be.
  public enum Verdict: Sendable, Hashable {
    /// Its bytes are those that came.
    case intact
    /// Its bytes are others: it has just been taken out of use.
    case setAside
    /// It was out of use already, or its record is damaged.
    case damaged
    /// The disk failed.
    case unreadable
  }

  /// The snapshot.
  public var id: SnapshotID
  /// How many bytes were hashed.
  public var bytes: Int64
  /// What was found.
  public var verdict: Verdict

  /// A finding.
  public init(id: SnapshotID, bytes: Int64, verdict: Verdict) {
    self.id = id
    self.bytes = bytes
    self.verdict = verdict
  }
}

/// Told what is found while bundles are looked at, one after the other; on any thread, to return quickly.
public protocol ScrubObserver: Sendable {
  /// One bundle was looked at.
  func scrubbed(_ finding: ScrubFinding)
}
