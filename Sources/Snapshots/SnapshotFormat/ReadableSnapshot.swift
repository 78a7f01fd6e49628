/// A snapshot that can be read repeatedly. Every call blocks while reading.
public protocol ReadableSnapshot: Sendable {
  /// Reads the manifest and calls `body` with each recording, in order.
  /// - Returns: The manifest without its recordings.
  func readManifest(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) -> Manifest

  /// Calls `body` with each file, including recordings but not the manifest.
  func readMembers(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError)

  /// Calls `body` with each attachment and each file of the app's container.
  func readExtras(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError)

  /// A copy of the snapshot that finds the files with these names faster.
  func locating(_ names: Set<String>) throws(BundleError) -> Self

  /// The contents of a recording, verified against its digest.
  func contents(of recording: Manifest.Recording) throws(BundleError) -> [UInt8]

  /// The digest of a file's contents.
  func digest(of member: SnapshotMember) throws(BundleError) -> ContentDigest
}

extension ReadableSnapshot {
  /// Calls `body` with each recording, in order, until it returns `false`. Errors in the rest of the manifest are then
  /// not detected.
  package func readRecordings(_ body: (Manifest.Recording) -> Bool) throws(BundleError) {
    var isEnough = false
    do {
      _ = try readManifest { recording throws(BundleError) in
        isEnough = !body(recording)
        // Only ends the reading. The error is caught below.
        if isEnough { throw .manifestMalformed("the rest is not wanted") }
      }
    } catch {
      guard isEnough else { throw error }
    }
  }

  /// Calls `body` with each attachment and each file of the app's container, by filtering all files.
  public func readExtras(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError) {
    try readMembers { member throws(BundleError) in
      if member.isExtra { try body(member) }
    }
  }

  /// The same snapshot. The default implementation has no faster way to find files.
  public func locating(_ names: Set<String>) throws(BundleError) -> Self { self }
}

/// A file of a snapshot, other than the manifest.
public struct SnapshotMember: Hashable, Sendable {
  /// The path relative to the snapshot, such as `attachments/log.txt`.
  public let name: String
  /// The size in bytes.
  public let size: Int64
  /// The CRC-32 of the contents, if the snapshot is a zip.
  public let crc32: UInt32?

  /// The path with the names that the user gave: ``name``, with encoded names decoded (``PortableName``).
  public var originalName: String { PortableName.decode(path: name) }
  /// Whether the file is an attachment, such as a screenshot or a log.
  public var isAttachment: Bool { name.hasPrefix(BundleLayout.attachments) }
  /// Whether the file is an attachment or belongs to the app's container.
  var isExtra: Bool { isAttachment || isAppData }
  /// Whether the file belongs to the app's container.
  public var isAppData: Bool { name.hasPrefix(BundleLayout.appData) }
}
