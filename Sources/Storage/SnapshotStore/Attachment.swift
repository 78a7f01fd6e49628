public import Foundation
public import SnapshotFormat

/// What a bundle is published as.
public struct Attachment: Sendable, Hashable, Codable {
  /// The report that it is attached to.
  public var report: ReportID
  /// The UUID that the bundle gets; `nil` lets the manifest's own be used.
  public var id: SnapshotID?
  /// The digest that the sender stated.
  public var expected: ContentDigest?
  /// Refuse a UUID that is taken, even by the same bytes.
  public var createOnly: Bool
  /// What came with the upload besides the bundle.
  public var metadata: [String: String]
  /// The id of the token that it is attached with.
  public var attachedBy: String?
  /// Identifiers of the applications of which one must have made the bundle; `nil` takes any.
  public var applications: Set<String>?
  /// When it is to go by itself; `nil` leaves that to the rules.
  public var expiresAt: Date?

  /// Describes how to publish.
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

/// What is answered where the UUID of an attachment is taken: the same before the bytes come and when they are there, and
/// in every store.
extension Attachment {
  /// The refusal of an upload whose UUID is taken by another snapshot.
  package var taken: StoreError { createOnly ? .alreadyExists : .conflict }

  /// Throws unless the upload brings again what is there: the same bytes for the same report, and not to create it.
  /// - Parameter sha256: the digest of the upload's bytes; `nil` where it is not known yet.
  package func requireRepeat(of existing: SnapshotRecord, sha256: ContentDigest?) throws(StoreError) {
    guard !createOnly, existing.report == report, existing.sha256 == sha256 ?? existing.sha256 else {
      throw taken
    }
  }
}
