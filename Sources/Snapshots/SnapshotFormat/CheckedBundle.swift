public import SystemIO
public import ZipArchive

/// Reads a bundle that was fully checked when it was received. Memory and time hardly depend on the bundle's size,
/// because only the data that is read is checked again. Thread-safe; every call blocks while reading.
///
/// Use ``OpenSnapshot`` for bundles that have not been checked.
public struct CheckedBundle: Sendable {
  /// A file of the bundle.
  public struct Entry: Sendable {
    /// The size in bytes.
    public var size: Int64 { entry.size }

    fileprivate let file: File
    fileprivate let entry: ZipEntry

    /// Starts reading the file. Each call of the returned function returns the next bytes, or `nil` at the end, after
    /// they were verified.
    public func pieces() throws(BundleError) -> () throws(BundleError) -> [UInt8]? {
      try ZippedBundle.pieces(of: entry, in: file)
    }
  }

  private let directory: ZipDirectory
  private let manifest: ZipEntry
  private var located: [String: ZipEntry] = [:]

  /// Locates the directory and the manifest of the bundle in `file`.
  public init(_ file: File, limits: ZipLimits = .default) throws(BundleError) {
    directory = try BundleError.zip(ZipDirectory(file, limits: limits))
    guard let entry = try BundleError.zip(directory.entry(named: BundleLayout.manifest)) else {
      throw .manifestMissing
    }
    guard entry.size <= Manifest.Limits.default.size else {
      throw .manifestMalformed("it has more than \(Manifest.Limits.default.size) bytes")
    }
    manifest = entry
  }

  /// The file at `path`; `nil` if it does not exist or is a folder.
  public func entry(at path: String) throws(BundleError) -> Entry? {
    if let entry = located[path] { return Entry(file: directory.file, entry: entry) }
    let entry = try BundleError.zip(directory.entry(named: path))
    guard let entry, !entry.isFolder else { return nil }
    return Entry(file: directory.file, entry: entry)
  }

  /// The manifest's description of the recording at `path`; `nil` if there is none.
  public func recording(at path: String) throws(BundleError) -> Manifest.Recording? {
    guard path.hasPrefix(BundleLayout.recordings) else { return nil }
    var found: Manifest.Recording?
    _ = try readManifest { if $0.path == path { found = $0 } }
    return found
  }
}

extension CheckedBundle: ReadableSnapshot {
  /// Reads the manifest and calls `body` with each recording, in order.
  public func readManifest(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) -> Manifest {
    var reader = ManifestReader(
      limits: .default, source: try ZippedBundle.pieces(of: manifest, in: directory.file))
    return try reader.read(body)
  }

  /// Calls `body` with each file except the manifest.
  public func readMembers(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError) {
    try read(directory.listing, body)
  }

  /// Calls `body` with each attachment and each file of the app's container. Fast even if most files are recordings.
  public func readExtras(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError) {
    let listing = directory.listing(under: [BundleLayout.attachments, BundleLayout.appData])
    try read(listing) { member throws(BundleError) in
      if member.isExtra { try body(member) }
    }
  }

  private func read(
    _ listing: ZipListing, _ body: (SnapshotMember) throws(BundleError) -> Void
  ) throws(BundleError) {
    var listing = listing
    while let line = try BundleError.zip(listing.next()) {
      guard !line.isFolder, line.name != BundleLayout.manifest else { continue }
      try body(SnapshotMember(name: line.name, size: line.size, crc32: line.crc32))
    }
  }

  /// A copy of the bundle that has already located the files with these names.
  public func locating(_ names: Set<String>) throws(BundleError) -> CheckedBundle {
    var bundle = self
    bundle.located = try BundleError.zip(directory.entries(named: names))
    return bundle
  }

  /// The contents of a recording, verified against its digest.
  public func contents(of recording: Manifest.Recording) throws(BundleError) -> [UInt8] {
    guard let entry = try entry(at: recording.path) else {
      throw .recordingMissing(identifier: recording.identifier, path: recording.path)
    }
    guard entry.size == recording.size else { throw recording.differing(size: entry.size) }
    var bytes: [UInt8] = []
    let next = try entry.pieces()
    while let piece = try next() { bytes += piece }
    try recording.check(size: Int64(bytes.count), sha256: .of(bytes))
    return bytes
  }

  /// The digest of a file's contents.
  public func digest(of member: SnapshotMember) throws(BundleError) -> ContentDigest {
    guard let entry = try entry(at: member.name) else { throw .unexpectedEntry(member.name) }
    var digest = DigestComputation()
    let next = try entry.pieces()
    while let piece = try next() { digest.update(piece) }
    return digest.digest
  }
}
