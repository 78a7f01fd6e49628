public import Foundation
import SystemIO
public import ZipArchive

/// Reads a snapshot in a zip or in a folder. Thread-safe; every call blocks while reading.
public struct OpenSnapshot: Sendable {
  /// A file of a snapshot, other than the manifest.
  public typealias Member = SnapshotMember

  /// The location of the contents.
  private enum Form: Sendable {
    case zip(File, [String: ZipEntry])
    /// The path of each file by its name.
    case folder([String: String])
  }

  /// The manifest.
  public let manifest: Manifest
  /// The files, sorted by the bytes of their names.
  public let members: [Member]

  private let form: Form

  /// Opens a zip and checks it to the depth ``SnapshotBundle/Depth/structure``. Throws
  /// ``BundleError/sealed(_:)`` if it is sealed.
  public init(zip url: URL, limits: ZipLimits = .default) throws(BundleError) {
    let bundle = try ZippedBundle(url, limits: limits)
    try bundle.requireClear()
    manifest = try bundle.manifest()
    var entries: [String: ZipEntry] = [:]
    try bundle.forEachEntry { entry in
      if !entry.isFolder, entry.name != BundleLayout.manifest { entries[entry.name] = entry }
    }
    form = .zip(bundle.directory.file, entries)
    members = entries.values.map { Member(name: $0.name, size: $0.size, crc32: $0.crc32) }
      .sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Opens a snapshot's folder and checks the names and sizes of its files against its manifest.
  public init(folder url: URL) throws(BundleError) {
    let bundle = try FolderBundle(url)
    manifest = bundle.manifest
    form = .folder(Dictionary(uniqueKeysWithValues: bundle.members.map { ($0.name, $0.source) }))
    var members: [Member] = []
    for member in bundle.members {
      let size = try BundleError.disk(File(member.source).size)
      members.append(Member(name: member.name, size: size, crc32: nil))
    }
    self.members = members
  }

  /// The contents of a recording, verified against its digest.
  public func contents(of recording: Manifest.Recording) throws(BundleError) -> [UInt8] {
    var bytes: [UInt8] = []
    try read(recording.path) { bytes += $0 }
    try recording.check(size: Int64(bytes.count), sha256: .of(bytes))
    return bytes
  }

  /// What the contents of a recording are, and what is wrong with them. Reads them in constant memory.
  public func state(of recording: Manifest.Recording) throws(BundleError) -> ContentState {
    var examiner = ContentExaminer(expectsJSON: recording.isMeantAsJSON)
    try read(recording.path) { examiner.take($0) }
    return examiner.finish()
  }

  /// The digest of a file's contents.
  public func digest(of member: Member) throws(BundleError) -> ContentDigest {
    var digest = DigestComputation()
    try read(member.name) { digest.update($0) }
    return digest.digest
  }

  /// Starts reading the file `name`. Each call of the returned function returns the next bytes, at least one; `nil` at the
  /// end. Throws if there is no such file.
  package func pieces(of name: String) throws(BundleError) -> () throws(BundleError) -> [UInt8]? {
    switch form {
    case .zip(let file, let entries):
      guard let entry = entries[name] else { throw .unexpectedEntry(name) }
      return try ZippedBundle.pieces(of: entry, in: file)
    case .folder(let paths):
      guard let path = paths[name] else { throw .unexpectedEntry(name) }
      let file = try BundleError.disk(File(path))
      var offset: Int64 = 0
      return { () throws(BundleError) in
        let piece = try BundleError.disk(file.read(upTo: 1 << 17, at: offset))
        offset += Int64(piece.count)
        return piece.isEmpty ? nil : piece
      }
    }
  }

  /// Reads the contents of the file `name` piece by piece into `sink`.
  private func read(_ name: String, into sink: ([UInt8]) -> Void) throws(BundleError) {
    let next = try pieces(of: name)
    while let piece = try next() { sink(piece) }
  }
}

extension OpenSnapshot: ReadableSnapshot {
  /// Reads the manifest and calls `body` with each recording, in order.
  public func readManifest(
    _ body: (Manifest.Recording) throws(BundleError) -> Void
  ) throws(BundleError) -> Manifest {
    for recording in manifest.recordings { try body(recording) }
    var rest = manifest
    rest.recordings = []
    return rest
  }

  /// Calls `body` with each file except the manifest.
  public func readMembers(_ body: (SnapshotMember) throws(BundleError) -> Void) throws(BundleError) {
    for member in members { try body(member) }
  }
}
