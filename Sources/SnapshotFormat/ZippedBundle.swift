import Crypto
import Foundation
import SystemIO
import ZipArchive

/// A zip whose structure and manifest are those of a snapshot.
struct ZippedBundle {
  let reader: ZipReader
  let manifest: Manifest
  /// Where in the manifest the recording of each path is.
  private let places: [String: Int]

  /// Opens the zip and checks it to the depth ``SnapshotBundle/Depth/structure``.
  init(_ url: URL, limits: ZipLimits) throws(BundleError) {
    let file = try BundleError.disk(File(url.resolvingSymlinksInPath().path))
    let reader = try BundleError.zip(ZipReader(file, limits: limits))
    guard let entry = reader.entry(named: BundleLayout.manifest) else { throw .manifestMissing }
    let most = Manifest.Limits.default.size
    guard entry.size <= most else {
      throw .manifestMalformed("it has more than \(most) bytes")
    }
    let manifest = try Manifest(reading: ZippedBundle.pieces(of: entry, in: reader.file))
    for folder in reader.entries where folder.isFolder { try BundleLayout.checkPlace(folder.name) }
    try BundleLayout.check(
      reader.entries.lazy.filter { !$0.isFolder }.map { (name: $0.name, size: $0.size) }, against: manifest)
    places = Dictionary(uniqueKeysWithValues: zip(manifest.recordings.lazy.map(\.path), 0...))
    self.reader = reader
    self.manifest = manifest
  }

  /// What `entry` holds, piece by piece as it is asked for.
  static func pieces(
    of entry: ZipEntry, in file: File
  ) throws(BundleError) -> () throws(BundleError) -> [UInt8]? {
    let contents = try BundleError.zip(ZipContents(file, entry))
    return { () throws(BundleError) in try BundleError.zip(contents.next()) }
  }

  /// Inflates `entry` into `sink`, and checks its checksum and, where it is a recording, its digest.
  func read(
    _ entry: ZipEntry, into sink: (UnsafeRawBufferPointer) throws(SystemError) -> Void
  ) throws(BundleError) {
    let recording = places[entry.name].map { manifest.recordings[$0] }
    var hash = SHA256()
    var size: Int64 = 0
    do {
      try unsafe reader.read(entry) { bytes in
        try unsafe sink(bytes)
        if recording != nil { unsafe hash.update(bufferPointer: bytes) }
        size += Int64(bytes.count)
      }
    } catch let error as ZipError {
      throw BundleError(error)
    } catch let error as SystemError {
      throw .system(error)
    } catch {
      // Nothing else is thrown above; only the type of `read` allows for it.
      throw .system(SystemError(operation: "read", path: entry.name, code: EIO))
    }
    try recording?.check(size: size, sha256: ContentDigest(hash.finalize()))
  }
}
