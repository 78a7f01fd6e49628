/// The temporary files and folders that exist until their work is done, so that a process that is interrupted can remove
/// them.
public enum TemporaryPaths {
  private static let paths = Lock<Set<String>>([])

  /// Creates the file or folder at `path` by `create`, and keeps its path until ``forget(_:)``.
  public static func create<Value: Sendable>(
    _ path: String, by create: () throws(SystemError) -> Value
  ) throws(SystemError) -> Value {
    // A file that is created while others are removed would remain.
    try paths.withLock { paths throws(SystemError) in
      let value = try create()
      paths.insert(path)
      return value
    }
  }

  /// Forgets the file or folder at `path`, which was removed or got its final name.
  public static func forget(_ path: String) { paths.withLock { _ = $0.remove(path) } }

  /// Removes all noted files and folders, and then calls `end`, which should end the process: until it returns, no others
  /// are created.
  public static func removeAll(before end: () -> Void) {
    paths.withLock { paths in
      for path in paths {
        let removed = path + ".removed"
        do {
          // Other threads can't add files to a folder that has another name.
          try Folder.replace(removed, with: path)
          try Folder.removeTree(removed)
        } catch {
          // The file got its final name in the meantime, or the disk fails. The process ends in any case.
        }
      }
      paths = []
      end()
    }
  }
}
