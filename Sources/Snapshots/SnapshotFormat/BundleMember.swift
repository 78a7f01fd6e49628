import SystemIO

/// A file on the disk that belongs into a bundle.
struct BundleMember {
  /// Its name in the bundle.
  let name: String
  /// Its path on the disk.
  let source: String
  /// What the manifest says of it, where it is a recording.
  let recording: Manifest.Recording?
  /// Whether it is marked as executable.
  var isExecutable = false

  /// Checks that a regular file is there and, where it is a recording, that it is the one that was described.
  func verify() throws(BundleError) {
    let file = try BundleError.disk(File(source))
    guard try BundleError.disk(file.isRegular) else { throw .unexpectedEntry(name) }
    guard let recording else { return }
    let (size, sha256) = try BundleError.disk(ContentDigest.measure(file))
    try recording.check(size: size, sha256: sha256)
  }
}
