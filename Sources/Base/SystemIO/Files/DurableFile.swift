#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif
import Synchronization

extension Folder {
  /// Makes `path` and whatever is missing above it, as ``create(_:mode:)`` does; the names of all that was made would
  /// survive a power cut.
  public static func createDurably(_ path: String) throws(SystemError) {
    var missing: [String] = []
    var folder = path
    while try kind(of: folder) == nil {
      missing.append(folder)
      folder = parent(of: folder)
    }
    try create(path)
    for folder in missing { try synchronize(parent(of: folder)) }
  }
}

/// Writes of small files that a power cut can't tear.
public enum DurableFile {
  /// Replaces `path` by a file that holds `bytes`: written beside it, flushed, renamed over it, the folder
  /// flushed. Whoever reads `path` meanwhile, or after a crash or an error at any point, sees the old contents or
  /// the new, and of several calls at once those of one. A crash may leave a file behind whose name is that of
  /// `path` and ends in `.staged`.
  public static func replace(_ path: String, with bytes: [UInt8], mode: UInt16 = 0o600) throws(SystemError) {
    let staged = "\(path).\(getpid())-\(count.add(1, ordering: .relaxed).newValue).staged"
    // A process of the same number may have left one long ago.
    try Folder.removeIfPresent(staged)
    do {
      let file = try File(staged, .create(mode: mode))
      try file.write(bytes, at: 0)
      try file.synchronize()
      try Folder.replace(path, with: staged)
    } catch {
      // The first failure is the one to tell.
      do { try Folder.removeIfPresent(staged) } catch {}
      throw error
    }
    try Folder.synchronize(Folder.parent(of: path))
  }

  private static let count = Atomic<UInt64>(0)
}
