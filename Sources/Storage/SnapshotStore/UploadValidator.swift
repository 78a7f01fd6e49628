public import Foundation
public import SnapshotFormat
package import SystemIO

/// The checks that a received bundle must pass before it is published. They are the same for every store.
public struct UploadValidator: Sendable {
  /// Starts checking the zip file at `zip` to the given depth. Throws if the zip is invalid.
  public typealias Validator =
    @Sendable (_ zip: URL, _ depth: SnapshotBundle.Depth) throws(BundleError) -> BundleCheck

  /// How much of a bundle is checked before the upload is answered.
  public enum Policy: String, Sendable, Hashable, CaseIterable {
    /// Only the structure, if the sender stated a digest, which detects a damaged transfer; everything if it stated
    /// none, or if the bundle is small.
    case automatic
    /// Always everything.
    case full
  }

  /// The most bytes of a small bundle, with its entries inflated. Checking all of it takes less time than recording the
  /// result later.
  public static let smallBundleBytes: Int64 = 1280 << 10
  /// The default limit for the inflated size of all entries of a bundle, in bytes.
  public static let inflatedBytes: Int64 = 4 << 30

  /// How much of a bundle is checked before the upload is answered.
  public var policy: Policy
  /// Bundles of at most this many bytes, with their entries inflated, are always checked in full.
  public var wholeUpTo: Int64
  /// Checks a bundle that has been received.
  public var validate: Validator { didSet { recheck = validate } }
  /// Checks a stored bundle. A rule that is newer than the bundle does not make the bundle damaged.
  package var recheck: Validator
  /// The redaction rules that a new bundle must name.
  public var redaction = RequiredRedaction()
  /// Whether a new bundle must be sealed.
  public var sealedOnly = false
  /// The time of day.
  public var now: @Sendable () -> Date

  /// Creates a validator.
  /// - Parameters:
  ///   - policy: how much of a bundle is checked before the upload is answered.
  ///   - wholeUpTo: bundles of at most this many bytes, with their entries inflated, are always checked in full.
  ///   - inflatedBytes: the limit for the inflated size of all entries of a bundle, in bytes. A bundle that declares
  ///     more is refused before anything is inflated. Ignored if `validate` is given.
  ///   - validate: checks a bundle; by default, ``/SnapshotFormat/BundleCheck`` does.
  ///   - now: returns the current time.
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

  /// How much of a bundle is checked before its upload is answered.
  /// - Parameters:
  ///   - attachment: what the sender stated.
  ///   - weight: the cost of a full check, in inflated bytes: see ``/SnapshotFormat/BundleCheck/weight(of:depth:)``.
  public func depth(for attachment: Attachment, weight: Int64) -> SnapshotBundle.Depth {
    policy == .full || attachment.expected == nil || weight <= wholeUpTo ? .full : .structure
  }

  /// Throws ``StoreError/digestMismatch(expected:actual:)`` if the sender stated another digest than `sha256`.
  public func requireDigest(_ sha256: ContentDigest, of attachment: Attachment) throws(StoreError) {
    guard let expected = attachment.expected, expected != sha256 else { return }
    throw .digestMismatch(expected: expected, actual: sha256)
  }

  /// Checks a zip file completely, and blocks until that is done.
  public func check(_ zip: URL, _ depth: SnapshotBundle.Depth) throws(StoreError) -> BundleSummary {
    do {
      var check = try validate(zip, depth)
      while try check.advance() {}
      return check.summary
    } catch {
      throw StoreError(error)
    }
  }

  /// The record under which a checked bundle is published. Throws ``StoreError/foreignApplication``, or
  /// ``StoreError/invalid(_:)`` without a required redaction or seal.
  /// - Parameters:
  ///   - summary: the summary of the bundle's contents.
  ///   - depth: how much of the bundle was checked.
  ///   - size: the length of the zip in bytes.
  ///   - sha256: the digest of the received bytes.
  ///   - attachment: the report, UUID and metadata under which the bundle is published.
  public func record(
    of summary: BundleSummary, _ depth: SnapshotBundle.Depth, size: Int64, sha256: ContentDigest,
    as attachment: Attachment
  ) throws(StoreError) -> SnapshotRecord {
    guard summary.manifest.sealed != nil || !sealedOnly else { throw .invalid(.notSealed) }
    guard attachment.applications?.contains(summary.manifest.application.identifier) ?? true else {
      throw .foreignApplication
    }
    let mark: [String: String]
    do { mark = try redaction.metadata(of: summary.manifest) } catch {
      throw .invalid(error)
    }
    return SnapshotRecord(
      id: attachment.id ?? summary.manifest.id, report: attachment.report, size: size, sha256: sha256,
      receivedAt: SnapshotJSON.milliseconds(of: now()), verified: depth == .full ? .intact : .pending,
      summary: summary,
      metadata: summary.manifest.metadata.merging(attachment.metadata) { $1 }.merging(mark) { $1 },
      attachedBy: attachment.attachedBy,
      expiresAt: attachment.expiresAt.map(SnapshotJSON.milliseconds))
  }
}

extension Manifest {
  /// What a record takes over as metadata.
  fileprivate var metadata: [String: String] {
    var metadata = fields
    if let note { metadata[SnapshotRecord.noteKey] = note }
    return metadata
  }
}

extension SnapshotRecord {
  /// The key of ``SnapshotFormat/SnapshotRecord/metadata`` under which the user's note is.
  package static let noteKey = "note"
}

extension StoreError {
  /// ``invalid(_:)``, or the system's failure if the bundle could not be read.
  public init(_ refusal: BundleError) {
    self = refusal.systemFailure.map { StoreError($0) } ?? .invalid(refusal)
  }
}

extension BundleError {
  /// The failure of the disk or system; `nil` if the bundle itself is invalid.
  package var systemFailure: SystemError? {
    if case .system(let failure) = self { failure } else { nil }
  }
}
