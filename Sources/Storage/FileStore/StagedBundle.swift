import SystemIO

/// The names under which a bundle and its record wait for their publication.
struct StagedBundle: Sendable {
  let bundle: String
  let record: String

  /// Removes whatever is left. Takes no descriptor: where there is none left, that is what ended the upload.
  func remove() throws(SystemError) {
    for path in [record, bundle] { try Folder.removeIfPresent(path) }
  }
}
