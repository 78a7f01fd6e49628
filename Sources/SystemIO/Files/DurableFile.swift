/// Writes of small files that a power cut can't tear.
public enum DurableFile {
  /// Replaces `path` by a file that holds `bytes`: written beside it, flushed, renamed over it, the folder
  /// flushed. Whoever reads `path` meanwhile, or after a crash at any point, sees the old contents or the new.
  public static func replace(_ path: String, with bytes: [UInt8], mode: UInt16 = 0o600) throws(SystemError) {
    let staged = path + ".staged"
    try Folder.removeIfPresent(staged)
    do {
      let file = try File(staged, .create(mode: mode))
      try file.write(bytes, at: 0)
      try file.synchronize()
      try Folder.replace(path, with: staged)
    } catch {
      // The first failure is the one to tell; what is left over is removed by the next call.
      do { try Folder.removeIfPresent(staged) } catch {}
      throw error
    }
    try Folder.synchronize(folder(of: path))
  }

  /// The folder that holds `path`.
  public static func folder(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
