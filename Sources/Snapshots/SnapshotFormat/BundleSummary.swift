public import Foundation

/// What is kept of a bundle that was checked: as much as a server's record needs, however many recordings it holds.
public struct BundleSummary: Sendable, Hashable {
  /// The manifest, without its recordings.
  public let manifest: Manifest
  /// How many recordings there are.
  public let recordingCount: Int
  /// Their identifiers, as ``SnapshotRecord/identifiers(of:limits:)`` has them.
  public let identifiers: [String]

  init(manifest: Manifest, recordingCount: Int, identifiers: [String]) {
    self.manifest = manifest
    self.recordingCount = recordingCount
    self.identifiers = identifiers
  }

  /// Of a whole manifest.
  public init(_ manifest: Manifest) {
    var rest = manifest
    rest.recordings = []
    self.init(
      manifest: rest, recordingCount: manifest.recordings.count,
      identifiers: SnapshotRecord.identifiers(of: manifest))
  }
}

extension SnapshotRecord {
  /// Describes a bundle by its summary.
  public init(
    id: SnapshotID, report: ReportID, size: Int64, sha256: ContentDigest, receivedAt: Date,
    verified: Verification, summary: BundleSummary, metadata: [String: String] = [:],
    attachedBy: String? = nil, expiresAt: Date? = nil
  ) {
    self.init(
      id: id, report: report, size: size, sha256: sha256, receivedAt: receivedAt, verified: verified,
      manifest: summary.manifest, metadata: metadata, attachedBy: attachedBy, expiresAt: expiresAt)
    recordingCount = summary.recordingCount
    identifiers = summary.identifiers
  }
}
