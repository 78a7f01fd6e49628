public import SystemIO
public import ZipArchive

/// What is wrong with a snapshot bundle, in words that a developer can act on.
public enum BundleError: Error, Sendable, CustomStringConvertible {
  /// The zip itself is refused.
  case archive(ZipError)
  /// The zip or folder has no `manifest.json`.
  case manifestMissing
  /// `manifest.json` is no JSON, or lacks a key, or has one of the wrong type, or is over a limit: where and what.
  case manifestMalformed(String)
  /// The bundle was made by a newer version of the format.
  case formatTooNew(found: Int, supported: Int)
  /// The manifest names a recording that is not there.
  case recordingMissing(identifier: String, path: String)
  /// A recording's size or digest is not what the manifest says: what differs.
  case recordingDiffers(identifier: String, path: String, String)
  /// Something is in the bundle that has no place there: its name.
  case unexpectedEntry(String)
  /// A name is longer than file systems take, so that the bundle could never be unpacked.
  case nameTooLong(String)
  /// The disk failed.
  case system(SystemError)

  /// What is wrong and what to do about it, in a sentence or two.
  public var description: String {
    switch self {
    case .archive(let error):
      "The zip is refused. \(error)\(error.isAboutName ? " Rename it and zip it again." : "")"
    case .manifestMissing:
      "There is no manifest.json. A snapshot has one at its top level, not inside a folder of the zip."
    case .manifestMalformed(let problem):
      "manifest.json is refused: \(problem)."
    case .formatTooNew(let found, let supported):
      """
      The snapshot has format version \(found); this software reads versions up to \(supported). \
      Update it to open this snapshot.
      """
    case .recordingMissing(let identifier, let path):
      """
      The recording ‘\(abridged(identifier))’ should lie at ‘\(path)’, but nothing is there. \
      Put the file back or take the recording out of manifest.json.
      """
    case .recordingDiffers(let identifier, let path, let difference):
      """
      The recording ‘\(abridged(identifier))’ at ‘\(path)’ is not what manifest.json says: \(difference). \
      Fetch or record the snapshot again.
      """
    case .unexpectedEntry(let name):
      """
      ‘\(abridged(name))’ has no place in a snapshot. It holds manifest.json, the recordings that this names in \
      recordings/, and whatever is in app-data/ and attachments/; all of them regular files, no links.
      """
    case .nameTooLong(let name):
      """
      ‘\(abridged(name))’ has a longer name than file systems take: at most \(BundleLayout.partLength) bytes \
      between two slashes and \(BundleLayout.nameLength) in all. Shorten it.
      """
    case .system(let error):
      "The disk failed. \(error)"
    }
  }

  private func abridged(_ text: String) -> String { text.count > 200 ? text.prefix(200) + "…" : text }
}

extension ZipError {
  /// Whether the entry would be taken under another name.
  fileprivate var isAboutName: Bool {
    switch reason {
    case .name, .duplicateName, .fileAndFolder: true
    default: false
    }
  }
}

extension BundleError {
  /// Whether the bundle is only larger, or has more of something, than is taken: nothing in it has to be damaged.
  public var isOverLimit: Bool {
    guard case .archive(let error) = self, case .limit = error.reason else { return false }
    return true
  }

  /// What a reader or writer of zips threw; trouble with the disk stays recognizable as such.
  init(_ error: ZipError) {
    if case .system(let cause) = error.reason { self = .system(cause) } else { self = .archive(error) }
  }

  /// Runs `body`, whose failures are the disk's.
  static func disk<Value>(_ body: @autoclosure () throws(SystemError) -> Value) throws(BundleError) -> Value {
    do { return try body() } catch { throw .system(error) }
  }

  /// Runs `body`, whose failures are the zip's.
  static func zip<Value>(_ body: @autoclosure () throws(ZipError) -> Value) throws(BundleError) -> Value {
    do { return try body() } catch { throw BundleError(error) }
  }
}
