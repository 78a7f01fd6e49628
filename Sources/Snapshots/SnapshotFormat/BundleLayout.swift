/// The layout of a snapshot, shared by folders and zips.
enum BundleLayout {
  static let manifest = "manifest.json"
  static let recordings = "recordings/"
  static let appData = "app-data/"
  static let attachments = "attachments/"
  /// The bodies of recorded requests. Older readers take them for attachments.
  static let requestBodies = attachments + "exchange-requests/"
  /// The age file of a sealed bundle, which contains the whole inner bundle.
  static let sealed = "sealed.age"
  private static let folders = [recordings, appData, attachments]
  /// A file that macOS creates in every folder opened in Finder. Ignored in folders, never packed.
  static let finderFile = ".DS_Store"
  /// The maximum length in bytes of a file's whole name, and of each of its components: the limits of a path on Darwin
  /// and of a file name on common file systems.
  static let nameLength = 1024
  static let partLength = 255

  /// Checks that the files of a snapshot are those that `manifest` describes, by name and size.
  /// - Parameter files: The names relative to the snapshot, with components separated by `/`, without folders.
  static func check(
    _ files: some Sequence<(name: String, size: Int64)>, against manifest: Manifest
  ) throws(BundleError) {
    let named = Set(manifest.recordings.map(\.path))
    var sizes: [String: Int64] = [:]
    for (name, size) in files where name != Self.manifest {
      try checkPlace(name)
      guard !name.hasPrefix(recordings) || named.contains(name), sizes.updateValue(size, forKey: name) == nil
      else { throw .unexpectedEntry(name) }
    }
    for recording in manifest.recordings {
      guard let size = sizes[recording.path] else {
        throw .recordingMissing(identifier: recording.identifier, path: recording.path)
      }
      guard size == recording.size else { throw recording.differing(size: size) }
    }
  }

  /// Checks that `name` is in one of the allowed folders and short enough to be written. The name of a folder ends in
  /// `/`.
  static func checkPlace(_ name: String) throws(BundleError) {
    guard folders.contains(where: name.hasPrefix) else { throw .unexpectedEntry(name) }
    guard isShort(name) else { throw .nameTooLong(name) }
  }

  /// Whether `name` is short enough to be written.
  static func isShort(_ name: String) -> Bool {
    name.utf8.count <= nameLength
      && name.utf8.split(separator: UInt8(ascii: "/")).allSatisfy { $0.count <= partLength }
  }
}

extension Manifest.Recording {
  /// The path of the file with the body of the ``exchange``'s request: the file exists if there is a body.
  public var requestBodyPath: String {
    BundleLayout.requestBodies + path.dropFirst(BundleLayout.recordings.count)
  }

  /// The error for a recording whose actual size is `size`.
  func differing(size: Int64) -> BundleError {
    .recordingDiffers(
      identifier: identifier, path: path, "it has \(size) bytes instead of \(self.size)")
  }

  /// Checks the recording's actual size and digest.
  func check(size: Int64, sha256: ContentDigest) throws(BundleError) {
    guard size == self.size else { throw differing(size: size) }
    guard sha256 == self.sha256 else {
      throw .recordingDiffers(
        identifier: identifier, path: path, "its SHA-256 is \(sha256) instead of \(self.sha256)")
    }
  }
}
