import Foundation
import SystemIO
import ZipArchive

/// A zip with the structure and the manifest of a snapshot. Checks and reads it in about fifty bytes of memory for each
/// recording, independently of the length of names and identifiers.
struct ZippedBundle {
  let directory: ZipDirectory
  let summary: BundleSummary
  /// The number of exchanges that failed, and of what was not recorded.
  let problemCount: Int

  private let manifestEntry: ZipEntry
  /// Hashes of each recording's path and its digest in the manifest, each with its ``Expectation``.
  private let digests: HashTable

  /// What the manifest says about the contents of a recording.
  private enum Expectation: UInt8 {
    case contents, emptiness
    /// The exchange failed, which is counted already.
    case failed

    init(_ recording: Manifest.Recording) {
      self =
        if recording.exchangeProblem != nil { .failed } else if recording.mayBeEmpty { .emptiness } else {
          .contents
        }
    }
  }

  /// Opens the zip and checks it to the depth ``SnapshotBundle/Depth/structure``.
  init(
    _ url: URL, limits zipLimits: ZipLimits, profile: ZipProfile = .strict
  ) throws(BundleError) {
    let file = try BundleError.disk(Self.open(url))
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
    var failures = 0
    var reader = try Self.reader(of: entry, in: file)
    let manifest = try reader.read { recording in
      // Excess recordings are only counted. The reader throws after the last one.
      guard recordings.count < limits.recordings else { return }
      recordings.take(recording)
      identifiers.append(recording.identifier)
      members.promise(recording)
      let expectation = Expectation(recording)
      if expectation == .failed { failures += 1 }
      digests.mark(recording.path.hash(with: recording.sha256), as: expectation.rawValue)
    }
    try recordings.finish()
    self.digests = digests
    problemCount = failures + manifest.dropped.count
    summary = BundleSummary(
      manifest: manifest, recordingCount: manifest.sealed?.recordingCount ?? recordings.count,
      identifiers: manifest.sealed?.identifiers ?? identifiers.identifiers)
    if manifest.sealed != nil { try checkSealed() } else { try check(&members) }
  }

  /// Throws ``BundleError/sealed(_:)`` if the bundle is sealed.
  func requireClear() throws(BundleError) {
    if let sealed = summary.manifest.sealed { throw .sealed(sealed) }
  }

  /// Opens the zip, or the one that a link leads to.
  static func open(_ url: URL) throws(SystemError) -> File {
    do { return try File(url.path) } catch  where error.code == ELOOP {
      return try File(url.resolvingSymlinksInPath().path)
    }
  }

  private static func reader(of entry: ZipEntry, in file: File) throws(BundleError) -> ManifestReader {
    ManifestReader(limits: .default, source: try pieces(of: entry, in: file))
  }

  /// Calls `body` with the description of each recording in the manifest.
  private func forEachRecording(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) {
    var reader = try Self.reader(of: manifestEntry, in: directory.file)
    _ = try reader.read(body)
  }

  /// Checks that the entries are those that the manifest describes, by name and size.
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

  /// The whole manifest, which is read again.
  func manifest() throws(BundleError) -> Manifest {
    var recordings: [Manifest.Recording] = []
    try forEachRecording { recordings.append($0) }
    var manifest = summary.manifest
    manifest.recordings = recordings
    return manifest
  }

  /// Calls `body` with each entry, in directory order.
  func forEachEntry(_ body: (ZipEntry) throws(BundleError) -> Void) throws(BundleError) {
    var listing = directory.listing
    while let entry = try BundleError.zip(listing.nextEntry()) { try body(entry) }
  }

  /// The contents of `entry`. Each call of the returned function returns the next piece.
  static func pieces(
    of entry: ZipEntry, in file: File
  ) throws(BundleError) -> () throws(BundleError) -> [UInt8]? {
    let contents = try BundleError.zip(ZipContents(file, entry))
    return { () throws(BundleError) in try BundleError.zip(contents.next()) }
  }

  /// The contents of one entry, inflated on demand.
  struct Reading {
    fileprivate let bundle: ZippedBundle
    fileprivate let entry: ZipEntry
    fileprivate let contents: ZipContents
    /// The digest so far, if the entry is a recording.
    fileprivate var digest: DigestComputation?
    /// What the manifest says about the contents; known when they were verified.
    private var expectation: Expectation?

    fileprivate init(
      _ bundle: ZippedBundle, _ entry: ZipEntry, _ contents: ZipContents, _ digest: DigestComputation?
    ) {
      (self.bundle, self.entry, self.contents, self.digest) = (bundle, entry, contents, digest)
    }

    /// Whether a problem of the contents, which were read completely, is not known from the manifest.
    func isNewProblem(_ problem: RecordingProblem?) -> Bool {
      guard let problem, let expectation else { return false }
      return expectation == .contents || expectation == .emptiness && problem != .empty
    }

    /// Calls `body` with the next bytes, which are valid only during the call, and returns its result; `nil` at the
    /// end, after the checksum and, for a recording, the digest were verified.
    mutating func next<Value>(_ body: (UnsafeRawBufferPointer) -> Value) throws(BundleError) -> Value? {
      let contents = contents
      var digest = digest.take()
      defer { self.digest = digest }
      let value = try BundleError.zip(
        unsafe contents.next { bytes in
          unsafe digest?.update(bytes)
          return unsafe body(bytes)
        })
      if value == nil, let digest { expectation = try bundle.check(entry, digest.digest) }
      return value
    }
  }

  /// Starts reading and verifying `entry`.
  func reading(of entry: ZipEntry) throws(BundleError) -> Reading {
    Reading(
      self, entry, try BundleError.zip(ZipContents(directory.file, entry)),
      Self.isRecording(entry) ? DigestComputation() : nil)
  }

  /// Examines the contents of `entry`; `nil` if it is no recording.
  static func examiner(of entry: ZipEntry) -> ContentExaminer? {
    guard isRecording(entry) else { return nil }
    let name = RecordingName(fileName: String(entry.name.dropFirst(BundleLayout.recordings.count)))
    return ContentExaminer(expectsJSON: name.map { ContentExaminer.isNamedAsJSON($0.stem) } ?? false)
  }

  private static func isRecording(_ entry: ZipEntry) -> Bool {
    entry.name.hasPrefix(BundleLayout.recordings) && !entry.isFolder
  }

  /// Inflates `entry` into `sink` and verifies its checksum and, for a recording, its digest.
  func read(
    _ entry: ZipEntry, into sink: ([UInt8]) throws(SystemError) -> Void
  ) throws(BundleError) {
    var reading = try reading(of: entry)
    while let piece = try unsafe reading.next({ unsafe Array($0) }) { try BundleError.disk(sink(piece)) }
  }

  /// What the manifest says about a recording. Throws if the digest of its contents differs.
  private func check(_ entry: ZipEntry, _ sha256: ContentDigest) throws(BundleError) -> Expectation? {
    if let mark = digests.mark(of: entry.name.hash(with: sha256)) { return Expectation(rawValue: mark) }
    try forEachRecording { recording throws(BundleError) in
      if recording.isAt(entry.name) { try recording.check(size: entry.size, sha256: sha256) }
    }
    return nil
  }
}

/// Compares the files in `recordings/` with the manifest. Keeps only hashes.
private struct MemberCheck {
  private var promised = HashTable()
  private var taken = 0

  /// Whether all files in the manifest were found.
  var isComplete: Bool { taken == promised.count }

  mutating func promise(_ recording: Manifest.Recording) {
    promised.mark(recording.path.hash(with: recording.size))
  }

  /// Whether the manifest contains a file with this name and size.
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
  /// Whether the path is equal to `name`, byte by byte.
  fileprivate func isAt(_ name: String) -> Bool { path.utf8.elementsEqual(name.utf8) }
}

extension String {
  /// A hash of the text's bytes, which does not treat canonically equivalent texts as equal, and of `fact`.
  fileprivate func hash(with fact: some Hashable) -> Int {
    var hasher = Hasher()
    hasher.combine(fact)
    var text = self
    text.withUTF8 { unsafe hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    return hasher.finalize()
  }
}
