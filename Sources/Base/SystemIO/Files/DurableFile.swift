#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Folder {
  /// Creates `path` and all missing parent folders, as ``create(_:mode:)`` does, and synchronizes the folders that hold
  /// the new names, so that they survive a power failure.
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

/// Replaces small files atomically and durably.
public enum DurableFile {
  /// Replaces the file at `path` with one that contains `bytes`. The bytes are written to a temporary file in the same
  /// folder, synchronized, and renamed to `path`; then the folder is synchronized.
  ///
  /// A reader of `path` sees either the old or the new contents, also after a crash or an error at any point. If
  /// several calls run concurrently, the file has the contents of one of them. A crash can leave a temporary file
  /// behind; its name is that of `path`, a dot, the process's identifier, a hyphen, a number and `.staged`.
  public static func replace(_ path: String, with bytes: [UInt8], mode: UInt16 = 0o600) throws(SystemError) {
    try OpenFolder(Folder.parent(of: path)).replaceDurably(Folder.name(of: path), with: bytes, mode: mode)
  }

  fileprivate static let count = Lock<UInt64>(0)
}

extension OpenFolder {
  /// Replaces the file `name` as ``DurableFile/replace(_:with:mode:)`` does.
  public func replaceDurably(
    _ name: String, with bytes: [UInt8], mode: UInt16 = 0o600
  ) throws(SystemError) {
    let number = DurableFile.count.add(1)
    let staged = "\(name).\(getpid())-\(number).staged"
    // An earlier process with the same process identifier may have left this file.
    try removeTree(staged)
    do {
      let file = try file(staged, .create(mode: mode))
      try file.write(bytes, at: 0)
      try file.synchronize()
      try replace(name, with: staged)
    } catch {
      // An error while removing the temporary file must not hide the first error.
      do throws(SystemError) { try removeTree(staged) } catch {}
      throw error
    }
    try synchronize()
  }
}
