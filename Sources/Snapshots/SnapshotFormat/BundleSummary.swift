public import Foundation

/// The description of a checked bundle that a server's record needs. Its size is bounded, independently of the number
/// of recordings.
public struct BundleSummary: Sendable, Hashable {
  /// The manifest, without its recordings.
  public let manifest: Manifest
  /// The number of recordings; 0 if the bundle is sealed and its head does not show it.
  public let recordingCount: Int
  /// The identifiers of the recordings, as in ``SnapshotRecord/identifiers(of:limits:)``.
  public let identifiers: [String]
  /// The number of recordings with a problem, and of what was not recorded; `nil` until all of the bundle was checked,
  /// and always if it is sealed.
  public var problemCount: Int?

  init(manifest: Manifest, recordingCount: Int, identifiers: [String]) {
    self.manifest = manifest
    self.recordingCount = recordingCount
    self.identifiers = identifiers
  }

  /// Summarizes a whole manifest.
  public init(_ manifest: Manifest) {
    var rest = manifest
    rest.recordings = []
    self.init(
      manifest: rest, recordingCount: manifest.sealed?.recordingCount ?? manifest.recordings.count,
      identifiers: SnapshotRecord.identifiers(of: manifest))
  }
}

extension SnapshotRecord {
  /// Creates a record from the summary of a bundle.
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
    problemCount = summary.problemCount
  }
}
