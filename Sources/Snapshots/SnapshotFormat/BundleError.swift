public import SnapshotSealing
public import SystemIO
public import ZipArchive

/// An error in a snapshot bundle, with a message that helps a developer to fix it.
public enum BundleError: Error, Sendable, CustomStringConvertible {
  /// The zip is invalid.
  case archive(ZipError)
  /// The zip or folder has no `manifest.json`.
  case manifestMissing
  /// `manifest.json` is not JSON, lacks a key, has a value of the wrong type, or exceeds a limit. Contains the location
  /// and the error.
  case manifestMalformed(String)
  /// The bundle has a newer version of the format.
  case formatTooNew(found: Int, supported: Int)
  /// The manifest names a recording that does not exist.
  case recordingMissing(identifier: String, path: String)
  /// The size or digest of a recording differs from the manifest. Contains the difference.
  case recordingDiffers(identifier: String, path: String, String)
  /// The bundle contains a file or folder with this name, which is not allowed.
  case unexpectedEntry(String)
  /// The name is too long for common file systems, so the bundle could not be unpacked.
  case nameTooLong(String)
  /// The bundle is sealed, and an identity is needed to read it.
  case sealed(SealedContents)
  /// The age file in a sealed bundle is wrong, or can't be opened.
  case sealing(SealingError)
  /// The bundle is sealed, and its clear head is not that of its contents.
  case headDiffers
  /// A sealed bundle contains another entry, or its entry has another size than its head says. Contains the difference.
  case sealedMalformed(String)
  /// The bundle is not sealed, which a server requires.
  case notSealed
  /// The manifest does not name these redaction rules, which a server requires.
  case redactionMissing([String])
  /// The disk failed.
  case system(SystemError)

  /// The error and how to fix it, in one or two sentences.
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
      The recording ‘\(abridged(identifier))’ should be at ‘\(path)’, but there is no such file. \
      Restore the file or remove the recording from manifest.json.
      """
    case .recordingDiffers(let identifier, let path, let difference):
      """
      The recording ‘\(abridged(identifier))’ at ‘\(path)’ does not match manifest.json: \(difference). \
      Fetch or record the snapshot again.
      """
    case .unexpectedEntry(let name):
      """
      ‘\(abridged(name))’ is not allowed in a snapshot. A snapshot contains manifest.json, the recordings named there in \
      recordings/, and any files in app-data/ and attachments/. All are regular files, not links.
      """
    case .nameTooLong(let name):
      """
      The name ‘\(abridged(name))’ is longer than file systems allow: at most \(BundleLayout.partLength) bytes \
      between two slashes and \(BundleLayout.nameLength) in total. Shorten it.
      """
    case .sealed(let contents):
      "The snapshot is sealed to \(abridged(contents.summary)). It is opened with an identity of a recipient."
    case .sealing(let error):
      "\(error)"
    case .headDiffers:
      """
      The clear head of the sealed bundle is not that of its contents: someone changed it, or put other contents below it. \
      Fetch the snapshot again.
      """
    case .sealedMalformed(let problem):
      "The sealed bundle is refused: \(problem)."
    case .notSealed:
      """
      This server accepts sealed bundles only. Seal it in the app, or by `snapshot pack --seal-to RECIPIENT`.
      """
    case .redactionMissing(let rules):
      """
      This server requires the redaction rules \(abridged(rules.joined(separator: ", "))), which the manifest does not \
      name. Add them to the app, or attach a copy made by `snapshot redact`.
      """
    case .system(let error):
      "\(error.explanation)."
    }
  }

  private func abridged(_ text: String) -> String { text.count > 200 ? text.prefix(200) + "…" : text }
}

extension ZipError {
  /// Whether renaming the entry would fix the error.
  fileprivate var isAboutName: Bool {
    switch reason {
    case .name, .duplicateName, .fileAndFolder: true
    default: false
    }
  }
}

extension BundleError {
  /// Whether the bundle exceeds a limit of size or number. It is not necessarily damaged.
  public var isOverLimit: Bool {
    guard case .archive(let error) = self, case .limit = error.reason else { return false }
    return true
  }

  /// Wraps an error of the zip reader or writer. Disk errors become ``system(_:)``.
  init(_ error: ZipError) {
    if case .system(let cause) = error.reason { self = .system(cause) } else { self = .archive(error) }
  }

  /// Runs `body` and reports its failures as disk errors.
  static func disk<Value>(_ body: @autoclosure () throws(SystemError) -> Value) throws(BundleError) -> Value {
    do { return try body() } catch { throw .system(error) }
  }

  /// Runs `body` and reports its failures as errors of the zip.
  static func zip<Value>(_ body: @autoclosure () throws(ZipError) -> Value) throws(BundleError) -> Value {
    do { return try body() } catch { throw BundleError(error) }
  }
}
