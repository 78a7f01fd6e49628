public import SystemIO

/// What keeps the data of an app's container from being read, packed or put in place. Paths of files are those in
/// the container, such as `Documents/notes.json`.
public enum AppDataError: Error, Sendable, CustomStringConvertible {
  /// What stands in the way at the destination.
  public enum Obstacle: String, Sendable, Hashable, CaseIterable {
    case link, folder, file, device
  }

  /// There is neither an `.xcappdata` bundle nor a snapshot at that path.
  case notAppData(String)
  /// The snapshot at that path is fine but holds no container.
  case noContainer(String)
  /// `AppDataInfo.plist` can't be read: why.
  case infoMalformed(String)
  /// The source holds a symbolic link.
  case link(String)
  /// The source holds a device, a socket or a pipe.
  case specialFile(String)
  /// The source holds a name that is not UTF-8.
  case unusableName(String)
  /// Two paths of the source differ only in case or in the composition of characters, and the destination's disk
  /// does not tell them apart.
  case sameName(String, String)
  /// The source is over one of ``ContainerLimits``, with that file.
  case limit(ContainerLimits.Name, String)
  /// The file changed while it was read.
  case changed(String)
  /// Something stands at the destination where that file or folder has to go.
  case obstacle(Obstacle, at: String)
  /// The destination lies in the source.
  case destinationInSource(String)
  /// The snapshot is refused.
  case snapshot(BundleError)
  /// The disk failed while it was busy with that file.
  case system(file: String, SystemError)

  /// What is wrong and what to do about it, in a sentence or two.
  public var description: String {
    switch self {
    case .notAppData(let path):
      """
      ‘\(path)’ is no app data. That is an .xcappdata bundle, a folder that holds a folder ‘AppData’, or a \
      snapshot, as a zip or unpacked.
      """
    case .noContainer(let path):
      "The snapshot ‘\(path)’ holds no app data: there is nothing in its app-data/."
    case .infoMalformed(let problem):
      "AppDataInfo.plist is refused: \(problem)."
    case .link(let path):
      "‘\(path)’ is a symbolic link, which could lead out of the container. Put what it points at in its place."
    case .specialFile(let path):
      "‘\(path)’ is neither a file nor a folder. Remove it from the bundle."
    case .unusableName(let path):
      "‘\(path)’ has a name that is not UTF-8. Rename it."
    case .sameName(let path, let other):
      "‘\(path)’ and ‘\(other)’ have one and the same name on the destination's disk. Rename one of them."
    case .limit(let limit, let path):
      "With ‘\(path)’ the container is over the limit \(limit.rawValue)."
    case .changed(let path):
      "‘\(path)’ changed while it was read. Try again."
    case .obstacle(.link, let path):
      "‘\(path)’ at the destination is a symbolic link, which is never followed nor replaced. Remove it."
    case .obstacle(let obstacle, let path):
      "‘\(path)’ at the destination is a \(obstacle.rawValue), which is in the way. Remove it."
    case .destinationInSource(let path):
      "The destination ‘\(path)’ lies in the app data that is to be copied there."
    case .snapshot(let error):
      error.description
    case .system(let path, let error):
      path.isEmpty ? "The disk failed: \(error)." : "The disk failed at ‘\(path)’: \(error)."
    }
  }

  /// Whether the disk or the system failed, rather than the data being refused.
  public var isSystemFailure: Bool {
    switch self {
    case .system, .snapshot(.system): true
    default: false
    }
  }

  /// Runs `body`, whose failures are the disk's, over `file`.
  public static func disk<Value>(
    _ file: String, _ body: () throws(SystemError) -> Value
  ) throws(AppDataError) -> Value {
    do { return try body() } catch { throw .system(file: file, error) }
  }
}
