/// A snapshot that can be looked into, as often as is needed. Every call blocks for the disk.
public protocol ReadableSnapshot: Sendable {
  /// Reads the manifest, and hands on each recording in its order.
  /// - Returns: The manifest without its recordings.
  func readManifest(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) -> Manifest

  /// Hands on each file, recordings included, but not the manifest.
  func readMembers(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError)

  /// Hands on each attachment and each file of the app's container.
  func readExtras(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError)

  /// The same snapshot, which will find the files of these names sooner than others.
  func locating(_ names: Set<String>) throws(BundleError) -> Self

  /// The bytes of a recording, checked against its digest.
  func contents(of recording: Manifest.Recording) throws(BundleError) -> [UInt8]

  /// The digest of the bytes of a file.
  func digest(of member: SnapshotMember) throws(BundleError) -> ContentDigest
}

extension ReadableSnapshot {
  /// Hands on the recordings in their order, as long as `body` answers that more are wanted. What is wrong with the rest
  /// of the manifest is not told then.
  package func readRecordings(_ body: (Manifest.Recording) -> Bool) throws(BundleError) {
    var isEnough = false
    do throws(BundleError) {
      _ = try readManifest { recording throws(BundleError) in
        isEnough = !body(recording)
        // Nobody sees it: it only ends the reading.
        if isEnough { throw .manifestMalformed("the rest is not wanted") }
      }
    } catch {
      guard isEnough else { throw error }
    }
  }

  /// Hands on those of all files.
  public func readExtras(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError) {
    try readMembers { member throws(BundleError) in
      if member.isExtra { try body(member) }
    }
  }

  /// The same snapshot: not all forms of one know a quicker way.
  public func locating(_ names: Set<String>) throws(BundleError) -> Self { self }
}

/// A file of a snapshot, other than the manifest.
public struct SnapshotMember: Hashable, Sendable {
  /// Where it lies, from the top of the snapshot: `attachments/log.txt`.
  public let name: String
  /// Its length in bytes.
  public let size: Int64
  /// The CRC-32 of its bytes, where the zip tells it.
  public let crc32: UInt32?

  /// Whether it came beside the recordings: a screenshot, a log.
  public var isAttachment: Bool { name.hasPrefix(BundleLayout.attachments) }
  /// Whether it is an attachment, or belongs to the app's container.
  var isExtra: Bool { isAttachment || isAppData }
  /// Whether it belongs to the app's container.
  public var isAppData: Bool { name.hasPrefix(BundleLayout.appData) }
}
