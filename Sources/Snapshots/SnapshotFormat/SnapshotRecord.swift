public import Foundation

/// What a server knows of one bundle that it keeps, and what its API answers as JSON.
public struct SnapshotRecord: Codable, Hashable, Sendable, Identifiable {
  /// The snapshot's name.
  public var id: SnapshotID
  /// The bug report that it is attached to.
  public var report: ReportID
  /// The bundle's length in bytes.
  public var size: Int64
  /// The digest of the bundle's bytes.
  public var sha256: ContentDigest
  /// When the server had all of it, to the millisecond.
  public var receivedAt: Date
  /// Whether every entry's checksum has been looked at.
  public var verified: Verification
  /// When the device made the snapshot.
  public var createdAt: Date
  /// The app that recorded.
  public var application: Manifest.Application
  /// What it ran on.
  public var device: Manifest.Device
  /// The modules that the app had registered.
  public var modules: [Module]
  /// How many recordings the bundle holds; the manifest inside it names them.
  public var recordingCount: Int
  /// What came with the upload besides the bundle: the other parts of a form.
  public var metadata: [String: String]
  /// The identifiers that are recorded, within ``IdentifierLimits``: what a catalogue finds the snapshot by. The API
  /// does not answer them. `nil` in records of before; the manifest in the bundle names all of them.
  public var identifiers: [String]?
  /// The id of the token that it was attached with; `nil` where none was needed.
  public var attachedBy: String?
  /// When it is to go by itself, to the millisecond; `nil` leaves that to the server's rules.
  public var expiresAt: Date?
  /// Whether somebody has said that it stays, whatever the rules and its own end say.
  public var isPinned: Bool {
    get { pinned == true }
    set { pinned = newValue ? true : nil }
  }
  /// `nil` rather than `false`, so that only what is pinned says a word of it.
  private var pinned: Bool?

  /// How far a bundle's entries have been checked against their checksums.
  public enum Verification: String, Codable, Hashable, Sendable, CaseIterable {
    /// Not yet looked at; the bundle's own digest matched what the sender stated.
    case pending
    /// Every entry inflates to the bytes that the bundle promises.
    case intact
    /// At least one entry does not.
    case damaged
  }

  /// Describes a bundle that carries `manifest`.
  public init(
    id: SnapshotID, report: ReportID, size: Int64, sha256: ContentDigest, receivedAt: Date,
    verified: Verification, manifest: Manifest, metadata: [String: String] = [:],
    attachedBy: String? = nil, expiresAt: Date? = nil
  ) {
    self.id = id
    createdAt = manifest.createdAt
    application = manifest.application
    device = manifest.device
    modules = manifest.modules
    recordingCount = manifest.recordings.count
    self.report = report
    self.size = size
    self.sha256 = sha256
    self.receivedAt = receivedAt
    self.verified = verified
    self.metadata = metadata
    identifiers = Self.identifiers(of: manifest)
    self.attachedBy = attachedBy
    self.expiresAt = expiresAt
  }
}
