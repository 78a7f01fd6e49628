/// What may lie where in a snapshot; one rule for folders and zips.
enum BundleLayout {
  static let manifest = "manifest.json"
  static let recordings = "recordings/"
  static let appData = "app-data/"
  static let attachments = "attachments/"
  private static let folders = [recordings, appData, attachments]
  /// Left by macOS in every folder that somebody looked into; passed over, never packed.
  static let finderFile = ".DS_Store"
  /// The most bytes of a file's name, of all of it and of each part: what Darwin takes as a path, and what every
  /// file system takes as a name.
  static let nameLength = 1024
  static let partLength = 255

  /// Checks that the files of a snapshot are the ones that `manifest` promises, by name and size.
  /// - Parameter files: names from the top of the snapshot, parts separated by `/`, without folders.
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

  /// Checks that `name`, of a file or with a trailing `/` of a folder, is in one of the folders that there may be,
  /// and can be written there.
  static func checkPlace(_ name: String) throws(BundleError) {
    guard folders.contains(where: name.hasPrefix) else { throw .unexpectedEntry(name) }
    let parts = name.utf8.split(separator: UInt8(ascii: "/"))
    guard name.utf8.count <= nameLength, parts.allSatisfy({ $0.count <= partLength }) else {
      throw .nameTooLong(name)
    }
  }
}

extension Manifest.Recording {
  /// The error that says that the recording has `size` bytes instead.
  func differing(size: Int64) -> BundleError {
    .recordingDiffers(
      identifier: identifier, path: path, "it has \(size) bytes where \(self.size) are promised")
  }

  /// Checks what came out of the bundle under the recording's path.
  func check(size: Int64, sha256: ContentDigest) throws(BundleError) {
    guard size == self.size else { throw differing(size: size) }
    guard sha256 == self.sha256 else {
      throw .recordingDiffers(
        identifier: identifier, path: path, "its SHA-256 is \(sha256) where \(self.sha256) is promised")
    }
  }
}
