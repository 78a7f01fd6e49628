public import SystemIO

/// An error while reading, packing or installing the data of an app's container. Paths of files are relative to the
/// container, such as `Documents/notes.json`.
public enum AppDataError: Error, Sendable, CustomStringConvertible {
  /// The kind of an item that blocks the destination.
  public enum Obstacle: String, Sendable, Hashable, CaseIterable {
    case link, folder, file, device
  }

  /// There is neither an `.xcappdata` bundle nor a snapshot at this path.
  case notAppData(String)
  /// The snapshot at this path is valid but contains no container.
  case noContainer(String)
  /// `AppDataInfo.plist` cannot be read, with the reason.
  case infoMalformed(String)
  /// The source contains a symbolic link.
  case link(String)
  /// The source contains a device, a socket or a pipe.
  case specialFile(String)
  /// The source contains a name that is not UTF-8.
  case unusableName(String)
  /// Two paths in the source differ only in letter case or Unicode normalization, and the destination's file system
  /// does not distinguish them.
  case sameName(String, String)
  /// The source exceeds one of ``ContainerLimits`` at this file.
  case limit(ContainerLimits.Name, String)
  /// The file changed while it was read.
  case changed(String)
  /// An existing item at the destination blocks this file or folder.
  case obstacle(Obstacle, at: String)
  /// The destination is inside the source.
  case destinationInSource(String)
  /// The snapshot is invalid.
  case snapshot(BundleError)
  /// The disk failed while accessing this file.
  case system(file: String, SystemError)

  /// The error and how to fix it, in one or two sentences.
  public var description: String {
    switch self {
    case .notAppData(let path):
      """
      ‘\(path)’ is not app data. App data is an .xcappdata bundle, a folder that contains a folder ‘AppData’, or a \
      snapshot, as a zip or as a folder.
      """
    case .noContainer(let path):
      "The snapshot ‘\(path)’ contains no app data: it has no app-data/."
    case .infoMalformed(let problem):
      "AppDataInfo.plist is refused: \(problem)."
    case .link(let path):
      "‘\(path)’ is a symbolic link, which can point outside the container. Replace it with its target."
    case .specialFile(let path):
      "‘\(path)’ is neither a file nor a folder. Remove it from the bundle."
    case .unusableName(let path):
      "‘\(path)’ has a name that is not UTF-8. Rename it."
    case .sameName(let path, let other):
      "‘\(path)’ and ‘\(other)’ have the same name on the destination's disk. Rename one of them."
    case .limit(let limit, let path):
      "The container exceeds the limit \(limit.rawValue) at ‘\(path)’."
    case .changed(let path):
      "‘\(path)’ changed while it was read. Try again."
    case .obstacle(.link, let path):
      "‘\(path)’ at the destination is a symbolic link, which is neither followed nor replaced. Remove it."
    case .obstacle(let obstacle, let path):
      "‘\(path)’ at the destination is a \(obstacle.rawValue), which is in the way. Remove it."
    case .destinationInSource(let path):
      "The destination ‘\(path)’ is inside the app data that is to be copied."
    case .snapshot(let error):
      error.description
    case .system(let path, let error):
      path.isEmpty ? "\(error.explanation)." : "\(error.explanation(of: "‘\(path)’"))."
    }
  }

  /// Whether the disk or the system failed, as opposed to an error in the data.
  public var isSystemFailure: Bool {
    switch self {
    case .system, .snapshot(.system): true
    default: false
    }
  }

  /// Runs `body` and reports its failures as disk errors at `file`.
  public static func disk<Value>(
    _ file: String, _ body: () throws(SystemError) -> Value
  ) throws(AppDataError) -> Value {
    do { return try body() } catch { throw .system(file: file, error) }
  }
}
