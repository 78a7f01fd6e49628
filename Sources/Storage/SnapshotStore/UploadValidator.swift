public import Foundation
public import SnapshotFormat
package import SystemIO

/// What a bundle that has arrived must pass before it may be published, the same for every store.
public struct UploadValidator: Sendable {
  /// Begins to check the zip at a place to a depth, or says what is wrong.
  public typealias Validator =
    @Sendable (_ zip: URL, _ depth: SnapshotBundle.Depth) throws(BundleError) -> BundleCheck

  /// How much is read before the answer.
  public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// The structure where a digest came along that shows a damaged transfer, everything where none did, or where
    /// the bundle is small.
    case automatic
    /// Always everything.
    case full
  }

  /// Up to which size, in bytes, a bundle is small: to read all of it takes less than to write down later that it was
  /// read.
  public static let smallBundleBytes: Int64 = 256 << 10
  /// To how many bytes all entries of a bundle inflate at most, where nothing else is said.
  public static let inflatedBytes: Int64 = 4 << 30

  /// How much is read before the answer.
  public var policy: Policy
  /// Bundles of so many bytes, and smaller ones, are read whole whatever came along.
  public var wholeUpTo: Int64
  /// What checks a bundle that has arrived.
  public var validate: Validator { didSet { recheck = validate } }
  /// What checks a bundle that is kept already: a rule that is newer than the bundle does not make it damaged.
  package var recheck: Validator
  /// The time of day.
  public var now: @Sendable () -> Date

  /// The rules for bundles, checked by ``SnapshotFormat/BundleCheck`` unless `validate` is given.
  /// - Parameter inflatedBytes: to how many bytes all entries of a bundle may inflate; one that declares more is refused
  ///   before anything is inflated.
  public init(
    policy: Policy = .automatic, wholeUpTo: Int64 = smallBundleBytes, inflatedBytes: Int64 = inflatedBytes,
    validate: Validator? = nil, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.policy = policy
    self.wholeUpTo = wholeUpTo
    if let validate {
      self.validate = validate
      recheck = validate
    } else {
      self.validate = { zip, depth throws(BundleError) in
        try BundleCheck(zip: zip, depth: depth, inflatedBytes: inflatedBytes)
      }
      recheck = { zip, depth throws(BundleError) in
        try BundleCheck(zip: zip, depth: depth, inflatedBytes: inflatedBytes, wasAccepted: true)
      }
    }
    self.now = now
  }

  /// How much of a bundle of `size` bytes is read before `attachment` is answered.
  public func depth(for attachment: Attachment, size: Int64) -> SnapshotBundle.Depth {
    policy == .full || attachment.expected == nil || size <= wholeUpTo ? .full : .structure
  }

  /// Throws where what arrived has another digest than the sender stated.
  public func requireDigest(_ sha256: ContentDigest, of attachment: Attachment) throws(StoreError) {
    guard let expected = attachment.expected, expected != sha256 else { return }
    throw .digestMismatch(expected: expected, actual: sha256)
  }

  /// Checks a zip from its beginning to its end. Blocks for as long as that takes.
  public func check(_ zip: URL, _ depth: SnapshotBundle.Depth) throws(StoreError) -> BundleSummary {
    do throws(BundleError) {
      var check = try validate(zip, depth)
      while try check.advance() {}
      return check.summary
    } catch {
      throw StoreError(error)
    }
  }

  /// The record under which a bundle that was checked may be published.
  /// - Parameters:
  ///   - summary: what the bundle says of itself.
  ///   - depth: how much of it was read.
  ///   - size: the zip's length in bytes.
  ///   - sha256: the digest of the bytes as they arrived.
  public func record(
    of summary: BundleSummary, _ depth: SnapshotBundle.Depth, size: Int64, sha256: ContentDigest,
    as attachment: Attachment
  ) throws(StoreError) -> SnapshotRecord {
    guard attachment.applications?.contains(summary.manifest.application.identifier) ?? true else {
      throw .foreignApplication
    }
    return SnapshotRecord(
      id: attachment.id ?? summary.manifest.id, report: attachment.report, size: size, sha256: sha256,
      receivedAt: SnapshotJSON.milliseconds(of: now()), verified: depth == .full ? .intact : .pending,
      summary: summary, metadata: attachment.metadata, attachedBy: attachment.attachedBy,
      expiresAt: attachment.expiresAt.map(SnapshotJSON.milliseconds))
  }
}

extension StoreError {
  /// A refused bundle, unless it was the disk that failed while it was read.
  public init(_ refusal: BundleError) {
    self = refusal.systemFailure.map { StoreError($0) } ?? .invalid(refusal)
  }
}

extension BundleError {
  /// The failure of the disk, where the bundle itself is not to blame.
  package var systemFailure: SystemError? {
    if case .system(let failure) = self { failure } else { nil }
  }
}
