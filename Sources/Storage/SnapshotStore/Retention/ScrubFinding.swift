public import SnapshotFormat

/// The result of checking one bundle.
public struct ScrubFinding: Sendable, Hashable {
  /// The possible results.
  public enum Verdict: Sendable, Hashable {
    /// The bytes have the digest of the record.
    case intact
    /// The bytes differ. The bundle has just been set aside, so that it is no longer served.
    case setAside
    /// The bundle had been set aside before, its bytes are gone, or its record is damaged.
    case damaged
    /// The bundle could not be read.
    case unreadable
  }

  /// The snapshot.
  public var id: SnapshotID
  /// The number of bytes that were hashed.
  public var bytes: Int64
  /// The result.
  public var verdict: Verdict

  /// Creates a finding.
  public init(id: SnapshotID, bytes: Int64, verdict: Verdict) {
    self.id = id
    self.bytes = bytes
    self.verdict = verdict
  }
}

/// Receives the results of a scrub, one after the other. The method is called on any thread, and must return quickly.
public protocol ScrubObserver: Sendable {
  /// Called after one bundle was checked.
  func scrubbed(_ finding: ScrubFinding)
}

extension ScrubReport {
  /// Adds a finding to the counts.
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
