import Foundation
import SystemIO
import ZipArchive

/// A zip whose structure and manifest are those of a snapshot: checked, and then read, in some fifty bytes of memory for
/// each recording, however long their names and identifiers are.
struct ZippedBundle {
  let directory: ZipDirectory
  let summary: BundleSummary

  private let manifestEntry: ZipEntry
  /// What was promised of the bytes of each recording.
  private let digests: HashTable

  /// Opens the zip and checks it to the depth ``SnapshotBundle/Depth/structure``.
  init(
    _ url: URL, limits zipLimits: ZipLimits, profile: ZipProfile = .strict
  ) throws(BundleError) {
    let file = try BundleError.disk(File(url.resolvingSymlinksInPath().path))
    directory = try BundleError.zip(ZipDirectory(checking: file, limits: zipLimits, profile: profile))
    guard let entry = try BundleError.zip(directory.entry(named: BundleLayout.manifest)) else {
      throw .manifestMissing
    }
    let most = Manifest.Limits.default.size
    guard entry.size <= most else {
      throw .manifestMalformed("it has more than \(most) bytes")
    }
    manifestEntry = entry

    let limits = Manifest.Limits.default
    var recordings = RecordingCheck(limits)
    var identifiers = IdentifierSelection()
    var members = MemberCheck()
    var digests = HashTable()
    var reader = try Self.reader(of: entry, in: file)
    let manifest = try reader.read { recording in
      // Too many are counted, and refused behind the last.
      guard recordings.count < limits.recordings else { return }
      recordings.take(recording)
      identifiers.append(recording.identifier)
      members.promise(recording)
      digests.mark(recording.path.hash(with: recording.sha256))
    }
    try recordings.finish()
    self.digests = digests
    summary = BundleSummary(
      manifest: manifest, recordingCount: recordings.count, identifiers: identifiers.identifiers)
    try check(&members)
  }

  private static func reader(of entry: ZipEntry, in file: File) throws(BundleError) -> ManifestReader {
    ManifestReader(limits: .default, source: try pieces(of: entry, in: file))
  }

  /// Hands on what the manifest says of each recording.
  private func forEachRecording(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) {
    var reader = try Self.reader(of: manifestEntry, in: directory.file)
    _ = try reader.read(body)
  }

  /// Checks that the entries are those that the manifest promises, by name and size.
  private func check(_ members: inout MemberCheck) throws(BundleError) {
    var listing = directory.listing
    while let line = try BundleError.zip(listing.next()) {
      if line.name == BundleLayout.manifest { continue }
      try BundleLayout.checkPlace(line.name)
      guard !line.isFolder, line.name.hasPrefix(BundleLayout.recordings),
        !members.take(line.name, size: line.size)
      else { continue }
      try forEachRecording { recording throws(BundleError) in
        if recording.isAt(line.name) { throw recording.differing(size: line.size) }
      }
      throw .unexpectedEntry(line.name)
    }
    guard !members.isComplete else { return }
    let taken = members
    try forEachRecording { recording throws(BundleError) in
      guard taken.hasTaken(recording) else {
        throw .recordingMissing(identifier: recording.identifier, path: recording.path)
      }
    }
  }

  /// The whole manifest, read once more.
  func manifest() throws(BundleError) -> Manifest {
    var recordings: [Manifest.Recording] = []
    try forEachRecording { recordings.append($0) }
    var manifest = summary.manifest
    manifest.recordings = recordings
    return manifest
  }

  /// Hands on each entry, in the directory's order.
  func forEachEntry(_ body: (ZipEntry) throws(BundleError) -> Void) throws(BundleError) {
    var listing = directory.listing
    while let entry = try BundleError.zip(listing.nextEntry()) { try body(entry) }
  }

  /// What `entry` holds, piece by piece as it is asked for.
  static func pieces(
    of entry: ZipEntry, in file: File
  ) throws(BundleError) -> () throws(BundleError) -> [UInt8]? {
    let contents = try BundleError.zip(ZipContents(file, entry))
    return { () throws(BundleError) in try BundleError.zip(contents.next()) }
  }

  /// The bytes of one entry, which are inflated as they are asked for.
  struct Reading {
    fileprivate let bundle: ZippedBundle
    fileprivate let entry: ZipEntry
    fileprivate let pieces: () throws(BundleError) -> [UInt8]?
    /// That of a recording.
    fileprivate var digest: DigestComputation?

    /// The next bytes; `nil` once all came and had the checksum, and the digest of a recording, that they should have.
    mutating func next() throws(BundleError) -> [UInt8]? {
      guard let piece = try pieces() else {
        if let digest { try bundle.check(entry, digest.digest) }
        return nil
      }
      digest?.update(piece)
      return piece
    }
  }

  /// Begins to read `entry`, and to check it.
  func reading(of entry: ZipEntry) throws(BundleError) -> Reading {
    Reading(
      bundle: self, entry: entry, pieces: try Self.pieces(of: entry, in: directory.file),
      digest: entry.name.hasPrefix(BundleLayout.recordings) && !entry.isFolder ? DigestComputation() : nil)
  }

  /// Inflates `entry` into `sink`, and checks its checksum and, where it is a recording, its digest.
  func read(
    _ entry: ZipEntry, into sink: ([UInt8]) throws(SystemError) -> Void
  ) throws(BundleError) {
    var reading = try reading(of: entry)
    while let piece = try reading.next() { try BundleError.disk(sink(piece)) }
  }

  /// Throws where a recording does not have the digest that was promised.
  private func check(_ entry: ZipEntry, _ sha256: ContentDigest) throws(BundleError) {
    guard digests.mark(of: entry.name.hash(with: sha256)) == nil else { return }
    try forEachRecording { recording throws(BundleError) in
      if recording.isAt(entry.name) { try recording.check(size: entry.size, sha256: sha256) }
    }
  }
}

/// Holds the files in `recordings/` against what the manifest promises. Keeps hashes alone.
private struct MemberCheck {
  private var promised = HashTable()
  private var taken = 0

  /// Whether all that was promised has come.
  var isComplete: Bool { taken == promised.count }

  mutating func promise(_ recording: Manifest.Recording) {
    promised.mark(recording.path.hash(with: recording.size))
  }

  /// Whether a file of that name and size is promised.
  mutating func take(_ name: String, size: Int64) -> Bool {
    let hash = name.hash(with: size)
    guard let mark = promised.mark(of: hash) else { return false }
    if mark == 0 { taken += 1 }
    promised.mark(hash, as: 1)
    return true
  }

  func hasTaken(_ recording: Manifest.Recording) -> Bool {
    promised.mark(of: recording.path.hash(with: recording.size)) == 1
  }
}

extension Manifest.Recording {
  /// Whether its path is that one, byte by byte.
  fileprivate func isAt(_ name: String) -> Bool { path.utf8.elementsEqual(name.utf8) }
}

extension String {
  /// Of the text's bytes, not of all that it is equivalent to, and of something that is said of it.
  fileprivate func hash(with fact: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(fact)
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
