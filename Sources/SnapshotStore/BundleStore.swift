public import SnapshotFormat
public import SystemIO

/// Keeps bundles under their UUIDs, each with its record.
///
/// The rules that every store obeys, held to by one suite of tests:
/// - A bundle never changes. It is there whole or not at all, whatever happens at whatever moment.
/// - ``BundleUpload/commit(_:)`` returns only when bundle and record would survive a power cut.
/// - One UUID names one bundle for ever: the same bytes for the same report again are answered with the record
///   that is there, other bytes are refused, and a deleted UUID is never used again.
/// - What was never committed leaves nothing behind, at the latest after the next start.
public protocol BundleStore: Sendable {
  /// Begins to take a bundle in.
  func beginUpload() async throws(StoreError) -> any BundleUpload
  /// The record of a bundle; throws ``StoreError/notFound`` or ``StoreError/deleted``.
  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord
  /// A bundle, open for reading; it stays readable even if it is deleted meanwhile.
  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle
  /// Removes a bundle and its record for good, leaving a tombstone.
  func delete(_ id: SnapshotID) async throws(StoreError)
  /// Replaces what a record says of the checksums of its bundle.
  func setVerification(_ verification: SnapshotRecord.Verification, of id: SnapshotID) async throws(StoreError)
  /// Every record, in no order: what a catalogue is built from.
  func allRecords() async throws(StoreError) -> [SnapshotRecord]
}

/// A bundle on its way in. Used by one task at a time; ends with ``commit(_:)`` or ``discard()``.
public protocol BundleUpload: Sendable {
  /// Takes the next bytes; returns when there is room for more.
  func append(_ bytes: IOBuffer) async throws(StoreError)
  /// Checks what arrived, and publishes it. When it throws, nothing of the upload is left.
  func commit(_ attachment: Attachment) async throws(StoreError) -> Publication
  /// Removes what arrived. Harmless after ``commit(_:)``.
  func discard() async
}

/// What a bundle is published as.
public struct Attachment: Sendable {
  /// The report that it is attached to.
  public var report: ReportID
  /// The UUID that the device chose; `nil` lets the manifest's own be used.
  public var id: SnapshotID?
  /// The digest that the sender stated.
  public var expected: ContentDigest?
  /// Refuse a UUID that is taken, even by the same bytes.
  public var createOnly: Bool
  /// What came with the upload besides the bundle.
  public var metadata: [String: String]

  /// Describes how to publish.
  public init(
    report: ReportID, id: SnapshotID? = nil, expected: ContentDigest? = nil, createOnly: Bool = false,
    metadata: [String: String] = [:]
  ) {
    self.report = report
    self.id = id
    self.expected = expected
    self.createOnly = createOnly
    self.metadata = metadata
  }
}

/// How an upload ended.
public enum Publication: Sendable, Hashable {
  /// It is new.
  case created(SnapshotRecord)
  /// The same bytes stood there already, for the same report.
  case alreadyThere(SnapshotRecord)

  /// The record, either way.
  public var record: SnapshotRecord {
    switch self {
    case .created(let record), .alreadyThere(let record): record
    }
  }
}

/// A bundle that can be read.
public struct StoredBundle: Sendable {
  /// What is known of it.
  public let record: SnapshotRecord
  /// Its bytes.
  public let file: File

  /// Pairs a record with its bytes.
  public init(record: SnapshotRecord, file: File) {
    self.record = record
    self.file = file
  }
}
