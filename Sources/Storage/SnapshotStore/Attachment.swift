public import Foundation
public import SnapshotFormat

/// The report, UUID and metadata under which a bundle is published.
public struct Attachment: Sendable, Hashable, Codable {
  /// The report that the bundle is attached to.
  public var report: ReportID
  /// The UUID for the bundle. `nil` uses the manifest's if that is free, and a new one if it is taken by any
  /// snapshot, published or deleted.
  public var id: SnapshotID?
  /// The digest that the sender stated.
  public var expected: ContentDigest?
  /// Whether to refuse a UUID that is taken, even by the same bytes.
  public var createOnly: Bool
  /// The metadata sent with the upload.
  public var metadata: [String: String]
  /// The id of the token that the upload was authorized with.
  public var attachedBy: String?
  /// The bundle must have been made by one of these applications; `nil` accepts any.
  public var applications: Set<String>?
  /// When the bundle expires and is deleted automatically; `nil` applies the retention rules only.
  public var expiresAt: Date?

  /// Creates an attachment.
  public init(
    report: ReportID, id: SnapshotID? = nil, expected: ContentDigest? = nil, createOnly: Bool = false,
    metadata: [String: String] = [:], attachedBy: String? = nil, applications: Set<String>? = nil,
    expiresAt: Date? = nil
  ) {
    self.report = report
    self.id = id
    self.expected = expected
    self.createOnly = createOnly
    self.metadata = metadata
    self.attachedBy = attachedBy
    self.applications = applications
    self.expiresAt = expiresAt
  }
}

/// Refusals if the UUID of an attachment is taken: the same before and after the bytes have arrived, and in every
/// store.
extension Attachment {
  /// The refusal of an upload whose UUID is taken by another snapshot.
  package var taken: StoreError { createOnly ? .alreadyExists : .conflict }

  /// Throws ``taken`` unless the upload repeats an existing one: the same bytes for the same report, without
  /// ``createOnly``.
  /// - Parameter sha256: the digest of the upload's bytes; `nil` if it is not known yet.
  package func requireRepeat(of existing: SnapshotRecord, sha256: ContentDigest?) throws(StoreError) {
    guard id != nil, !createOnly, existing.report == report, existing.sha256 == sha256 ?? existing.sha256
    else {
      throw taken
    }
  }

  /// Returns `record` under a new UUID if `error` is the refusal of the manifest's UUID and the upload did not state
  /// one; otherwise throws `error`.
  package func renamed(
    _ record: SnapshotRecord, after error: StoreError
  ) throws(StoreError) -> SnapshotRecord {
    guard id == nil, record.manifestID == nil else { throw error }
    switch error {
    case .conflict, .alreadyExists, .deleted: return record.renamed()
    default: throw error
    }
  }
}

extension SnapshotRecord {
  /// The record under another UUID, by default a new one, with the present one as
  /// ``SnapshotFormat/SnapshotRecord/manifestID``.
  package func renamed(_ other: SnapshotID = SnapshotID()) -> SnapshotRecord {
    var record = self
    (record.id, record.manifestID) = (other, id)
    return record
  }
}
