public import Foundation

/// A server's record of a stored bundle, which its API returns as JSON.
public struct SnapshotRecord: Codable, Hashable, Sendable, Identifiable {
  /// The identifier of the snapshot.
  public var id: SnapshotID
  /// The identifier in the bundle's manifest, if the snapshot was stored under another one; otherwise `nil`.
  public var manifestID: SnapshotID?
  /// The bug report to which the snapshot is attached.
  public var report: ReportID
  /// The size of the bundle in bytes.
  public var size: Int64
  /// The digest of the bundle.
  public var sha256: ContentDigest
  /// The time at which the server had received the whole bundle, with millisecond precision.
  public var receivedAt: Date
  /// Whether the checksums of all entries have been verified.
  public var verified: Verification
  /// The time at which the device made the snapshot.
  public var createdAt: Date
  /// The app that made the snapshot.
  public var application: Manifest.Application
  /// The device on which the app ran.
  public var device: Manifest.Device
  /// The modules that the app had registered.
  public var modules: [Module]
  /// The number of recordings in the bundle. The manifest in the bundle describes them.
  public var recordingCount: Int
  /// The number of recordings with a ``RecordingProblem``, and of what was not recorded; `nil` if not all of the bundle
  /// was checked, or if an earlier version checked it.
  public var problemCount: Int?
  /// To whom the bundle is sealed, so that the server can't read its contents; `nil` if it is not sealed. Without
  /// identifiers, which are in ``identifiers``, and their number, which is ``recordingCount``; if the head shows neither,
  /// that is 0.
  public var sealed: SealedContents?
  /// The note and the fields of the manifest, and the metadata sent with the upload: the other fields of the form. A
  /// field of the upload replaces one of the manifest. The note is the field `note`.
  public var metadata: [String: String]
  /// The identifiers of the recordings, within ``IdentifierLimits``, by which a catalog finds the snapshot. The API
  /// does not return them. `nil` in records written by earlier versions; the manifest in the bundle contains all
  /// identifiers.
  public var identifiers: [String]?
  /// The identifier of the token that was used for the upload, or `user:` and the name of a user whom a proxy has named;
  /// `nil` if neither was needed.
  public var attachedBy: String?
  /// The expiry time, with millisecond precision; `nil` if only the server's retention rules apply.
  public var expiresAt: Date?
  /// The comments that users of the server wrote, oldest first; `nil` if there are none. Lists of records omit them.
  public var comments: [SnapshotComment]?
  /// Whether the snapshot is kept regardless of retention rules and its expiry time.
  public var isPinned: Bool {
    get { pinned == true }
    set { pinned = newValue ? true : nil }
  }
  /// `nil` instead of `false`, so that only records of pinned snapshots contain the key.
  private var pinned: Bool?
  /// Whether someone marked the snapshot as good, so that others of the application are compared with it.
  public var isGood: Bool {
    get { good == true }
    set { good = newValue ? true : nil }
  }
  /// `nil` instead of `false`, like the pin.
  private var good: Bool?
  /// How often the record was changed; `nil` for never. Of two states of one record, the one with the higher revision is
  /// the newer one. Neither the API nor lists contain it.
  package var revision: Int64?
  /// Names the bytes of the bundle in a store that keeps those of each attempt to publish it; otherwise `nil`. It is not a
  /// part of the record's JSON.
  package var attempt: SnapshotID?

  private enum CodingKeys: CodingKey {
    case id, manifestID, report, size, sha256, receivedAt, verified, createdAt, application, device, modules
    case recordingCount, problemCount, sealed, metadata, identifiers, attachedBy, expiresAt, comments, pinned,
      good,
      revision
  }

  /// The result of verifying the checksums of a bundle's entries.
  public enum Verification: String, Codable, Hashable, Sendable, CaseIterable {
    /// Not verified yet. The digest of the whole bundle matched that stated by the sender.
    case pending
    /// Every entry has the declared size, checksum and digest.
    case intact
    /// At least one entry is damaged.
    case damaged
  }

  /// Creates the record of a bundle with `manifest`.
  public init(
    id: SnapshotID, report: ReportID, size: Int64, sha256: ContentDigest, receivedAt: Date,
    verified: Verification, manifest: Manifest, metadata: [String: String] = [:],
    attachedBy: String? = nil, expiresAt: Date? = nil
  ) {
    self.id = id
    manifestID = manifest.id == id ? nil : manifest.id
    createdAt = manifest.createdAt
    application = manifest.application
    device = manifest.device
    modules = manifest.modules
    recordingCount = manifest.sealed?.recordingCount ?? manifest.recordings.count
    sealed = manifest.sealed?.withoutIdentifiers
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

extension SnapshotRecord {
  /// Limits for the identifiers that a record copies from the manifest, for searching.
  public struct IdentifierLimits: Sendable, Hashable {
    /// The maximum number of identifiers.
    public var count = 1000
    /// The maximum total length in UTF-8 bytes.
    public var bytes = 32 << 10

    /// Creates the default limits.
    public init() {}
  }

  /// The distinct identifiers of the recordings of `manifest`, in order, within `limits`. Identifiers that exceed the
  /// remaining length are skipped.
  public static func identifiers(
    of manifest: Manifest, limits: IdentifierLimits = IdentifierLimits()
  ) -> [String] {
    if let sealed = manifest.sealed { return sealed.identifiers ?? [] }
    var selection = IdentifierSelection(limits)
    for recording in manifest.recordings { selection.append(recording.identifier) }
    return selection.identifiers
  }
}

/// Selects the first distinct identifiers within the limits.
struct IdentifierSelection {
  private(set) var identifiers: [String] = []

  private let limits: SnapshotRecord.IdentifierLimits
  private var seen: Set<String> = []
  private var bytes = 0

  init(_ limits: SnapshotRecord.IdentifierLimits = SnapshotRecord.IdentifierLimits()) { self.limits = limits }

  mutating func append(_ identifier: String) {
    let length = identifier.utf8.count
    guard identifiers.count < limits.count, bytes + length <= limits.bytes, seen.insert(identifier).inserted
    else { return }
    identifiers.append(identifier)
    bytes += length
  }
}
