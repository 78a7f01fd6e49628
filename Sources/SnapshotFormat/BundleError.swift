public import SystemIO
public import ZipArchive

/// What is wrong with a snapshot bundle, in words that a developer can act on.
public enum BundleError: Error, Sendable, CustomStringConvertible {
  /// The zip itself is refused.
  case archive(ZipError)
  /// The zip or folder has no `manifest.json`.
  case manifestMissing
  /// `manifest.json` is no JSON, or lacks a key, or has one of the wrong type: where and what.
  case manifestMalformed(String)
  /// The bundle was made by a newer version of the format.
  case formatTooNew(found: Int, supported: Int)
  /// The manifest names a recording that is not there.
  case recordingMissing(identifier: String, path: String)
  /// A recording's size or digest is not what the manifest says.
  case recordingDiffers(identifier: String, path: String, String)
  /// Something is in the bundle that has no place there.
  case unexpectedEntry(String)
  /// The disk failed.
  case system(SystemError)

  /// One sentence.
  public var description: String { "\(self)" }
}
