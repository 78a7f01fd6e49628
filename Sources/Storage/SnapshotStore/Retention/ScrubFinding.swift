public import SnapshotFormat

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

extension ScrubReport {
  /// Counts one more bundle.
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
