import SystemIO

/// A file on the disk that belongs into a bundle.
struct BundleMember {
  /// Its name in the bundle.
  let name: String
  /// Its path on the disk.
  let source: String
  /// What the manifest says of it, where it is a recording.
  let recording: Manifest.Recording?

  /// Opens the file, and checks a recording against its description.
  func open() throws(BundleError) -> File {
    let source = source
    let file = try BundleError.disk(File(source))
    guard try BundleError.disk(file.isRegular) else {
      throw .unexpectedEntry(name)
    }
    if let recording {
      let (size, sha256) = try BundleError.disk(ContentDigest.measure(file))
      try recording.check(size: size, sha256: sha256)
    }
    return file
  }
}
