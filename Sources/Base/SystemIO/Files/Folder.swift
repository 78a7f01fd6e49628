#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// Operations on names: creating folders; publishing, linking, renaming and removing files and folders; and
/// synchronizing folders.
public enum Folder {
  /// Creates the folder `path` and all missing parent folders. Existing folders are left unchanged; a link to a folder
  /// counts as a folder.
  public static func create(_ path: String, mode: UInt16 = 0o700) throws(SystemError) {
    do {
      try make(path, mode)
    } catch  where error.isNotFound {
      let parent = Self.parent(of: path)
      guard parent != path else { throw error }
      try create(parent, mode: mode)
      // Only one more attempt: in some folders, such as those of `/proc`, creating a folder always fails with `ENOENT`.
      try make(path, mode)
    }
  }

  private static func make(_ path: String, _ mode: UInt16) throws(SystemError) {
    do {
      try retryingInterrupts("mkdir", path) { mkdir(path, mode_t(mode)) }
      FileObserver.report(path) { .createFolder(path) }
    } catch  where error.isAlreadyThere {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw error }
    }
  }

  /// Waits until the names in the folder `path` are on stable storage and survive a power failure.
  public static func synchronize(_ path: String) throws(SystemError) {
    let folder = try Descriptor("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    try retryingInterrupts("fsync", path) { fsync(folder.number) }
    FileObserver.report(path) { .flushFolder(path) }
  }

  /// Renames `staged` to `final` without ever replacing an existing file or folder.
  ///
  /// The rename is atomic. Throws an error with ``SystemError/isAlreadyThere`` if `final` exists; then nothing has
  /// changed. The result is durable after the parent folders of both names have been synchronized.
  public static func publish(_ staged: String, as final: String) throws(SystemError) {
    #if canImport(Darwin)
      try retryingInterrupts("renamex_np", final) { renamex_np(staged, final, UInt32(RENAME_EXCL)) }
      FileObserver.report(final) { .rename(staged, to: final) }
    #else
      do {
        try retryingInterrupts("renameat2", final) {
          renameat2(AT_FDCWD, staged, AT_FDCWD, final, UInt32(SNAPSHOT_RENAME_NOREPLACE))
        }
        FileObserver.report(final) { .rename(staged, to: final) }
      } catch  where error.code == EINVAL || error.code == ENOSYS {
        // Not every file system supports this rename. For a file, a hard link fails as well if the name exists. A
        // folder cannot have hard links, but a plain rename can only replace an empty folder that another process
        // creates after the check.
        if isFolder(staged) {
          guard try !exists(final) else { throw SystemError(operation: "rename", path: final, code: EEXIST) }
          try replace(final, with: staged)
        } else {
          try link(staged, as: final)
          try remove(staged)
        }
      }
    #endif
  }

  /// Renames `staged` to `final` atomically. Replaces an existing file.
  public static func replace(_ final: String, with staged: String) throws(SystemError) {
    try retryingInterrupts("rename", final) { rename(staged, final) }
    FileObserver.report(final) { .rename(staged, to: final) }
  }

  /// Adds the hard link `name` to the file at `path`. Throws an error with ``SystemError/isAlreadyThere`` if `name`
  /// exists.
  public static func link(_ path: String, as name: String) throws(SystemError) {
    #if canImport(Darwin)
      try retryingInterrupts("link", name) { Darwin.link(path, name) }
    #else
      try retryingInterrupts("link", name) { Glibc.link(path, name) }
    #endif
    FileObserver.report(name) { .link(path, as: name) }
  }

  /// Removes a file or an empty folder.
  public static func remove(_ path: String) throws(SystemError) {
    try retryingInterrupts("remove", path) { Int(unlinkOrRemoveFolder(path)) }
    FileObserver.report(path) { .remove(path) }
  }

  /// Removes a file or an empty folder. Does nothing if it does not exist.
  public static func removeIfPresent(_ path: String) throws(SystemError) {
    do { try remove(path) } catch  where error.isNotFound {}
  }

  /// Removes `path` and everything below it. Does nothing if it does not exist. Links are removed, not followed.
  public static func removeTree(_ path: String) throws(SystemError) {
    do {
      if isFolder(path) {
        for name in try entries(path) { try removeTree(path + "/" + name) }
      }
      try remove(path)
    } catch  where error.isNotFound {}
  }

  /// The names in the folder `path`, sorted by their bytes, without `.` and `..`.
  public static func entries(_ path: String) throws(SystemError) -> [String] {
    try list(path).map(\.name)
  }

  /// The names in the folder `path` as ``entries(_:)`` returns them, each with the kind of the file. Links are not
  /// followed.
  public static func kinds(
    in path: String
  ) throws(SystemError) -> [(name: String, kind: OpenFolder.Status.Kind)] {
    var found: [(name: String, kind: OpenFolder.Status.Kind)] = []
    for (name, type) in try list(path) {
      let kind: OpenFolder.Status.Kind? =
        switch type {
        case UInt8(DT_REG): .file
        case UInt8(DT_DIR): .folder
        case UInt8(DT_LNK): .link
        // Not every file system lists the kinds.
        case UInt8(DT_UNKNOWN): try kind(of: "\(path)/\(name)")
        default: .other
        }
      if let kind { found.append((name, kind)) }
    }
    return found
  }

  /// The names in a folder, each with the `d_type` of readdir(3).
  private static func list(_ path: String) throws(SystemError) -> [(name: String, type: UInt8)] {
    guard let stream = opendir(path) else { throw SystemError(operation: "opendir", path: path) }
    defer { closedir(stream) }
    var names: [(name: String, type: UInt8)] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(operation: "readdir", path: path) }
        return names.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append((name, entry.pointee.d_type)) }
    }
  }

  /// Whether `path` is a folder; a link to one is not.
  public static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

  /// Whether there is a folder at `path`. Throws if something else has its name, such as a link (`ELOOP`) or a file
  /// (`ENOTDIR`).
  public static func hasFolder(_ path: String) throws(SystemError) -> Bool {
    switch try kind(of: path) {
    case nil: return false
    case .folder: return true
    case .link: throw SystemError(operation: "open", path: path, code: ELOOP)
    case .file, .other: throw SystemError(operation: "open", path: path, code: ENOTDIR)
    }
  }

  /// Whether `path` is a regular file; a link to one is not.
  public static func isRegularFile(_ path: String) -> Bool { kind(path) == S_IFREG }

  /// Whether `path` is a regular file that its owner may execute; a link to one is not.
  public static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_mode & S_IXUSR != 0
  }

  /// The size in bytes of the file at `path`; a link is not followed.
  public static func size(of path: String) throws(SystemError) -> Int64 {
    var status = stat()
    try retryingInterrupts("lstat", path) { lstat(path, &status) }
    return Int64(status.st_size)
  }

  /// The kind of file at `path`; `nil` if there is none. A link is not followed. Throws if the system cannot determine
  /// it: a disk error does not mean that the file is absent.
  public static func kind(of path: String) throws(SystemError) -> OpenFolder.Status.Kind? {
    var status = stat()
    do {
      try retryingInterrupts("lstat", path) { lstat(path, &status) }
    } catch  where error.isNotFound || error.code == ENOTDIR {
      return nil
    }
    return switch status.st_mode & S_IFMT {
    case S_IFREG: .file
    case S_IFDIR: .folder
    case S_IFLNK: .link
    default: .other
    }
  }

  /// Whether a file, folder or link exists at `path`; a broken link counts. Throws if the system cannot determine it: a
  /// disk error does not mean that the file is absent.
  public static func exists(_ path: String) throws(SystemError) -> Bool { try kind(of: path) != nil }

  /// The number of bytes that an unprivileged process can still write to the file system of `path`.
  public static func availableBytes(_ path: String) throws(SystemError) -> Int64 {
    var status = statvfs()
    try retryingInterrupts("statvfs", path) { statvfs(path, &status) }
    let (bytes, overflow) = UInt64(status.f_bavail).multipliedReportingOverflow(by: UInt64(status.f_frsize))
    return overflow ? .max : Int64(clamping: bytes)
  }

  private static func kind(_ path: String) -> mode_t? {
    var status = stat()
    return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : nil
  }

  private static func unlinkOrRemoveFolder(_ path: String) -> Int32 {
    isFolder(path) ? rmdir(path) : unlink(path)
  }

  /// The file or folder that `path` names, without the links that lead to it: `path` itself, unless its last component
  /// is a link. So a file or folder that a person names may be a link, and everything inside a folder need not be.
  /// Throws an error with ``SystemError/isNotFound`` if a link leads nowhere.
  public static func resolvingLink(_ path: String) throws(SystemError) -> String {
    var named = path
    while named.utf8.count > 1, named.utf8.last == UInt8(ascii: "/") { named.removeLast() }
    guard try kind(of: named) == .link else { return path }
    guard let resolved = realpath(named, nil) else { throw SystemError(operation: "realpath", path: named) }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  /// The last component of `path`. Ignores one trailing slash; does not access the file system.
  public static func name(of path: String) -> String {
    let trimmed = path.last == "/" ? path.dropLast() : path[...]
    return trimmed.lastIndex(of: "/").map { String(trimmed[trimmed.index(after: $0)...]) } ?? String(trimmed)
  }

  /// The parent folder of `path`: the text before its last slash, or `.` if it has none. Ignores one trailing slash;
  /// does not access the file system.
  public static func parent(of path: String) -> String {
    let trimmed = path.last == "/" ? String(path.dropLast()) : path
    // A slash and a following combining mark are one character.
    guard let slash = trimmed.utf8.lastIndex(of: UInt8(ascii: "/")) else {
      return trimmed.isEmpty ? path : "."
    }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}

extension Folder {
  /// Identifies a state of a folder's list of names. It changes when a name is added, removed or assigned to another
  /// file. Two changes within one clock tick of the system, up to 10 ms, can have the same stamp.
  public struct Stamp: Sendable, Hashable, CustomStringConvertible {
    private let device: UInt64
    private let inode: UInt64
    /// The time of the last change of the list of names, in nanoseconds since 1970.
    public let changedNanoseconds: Int64

    fileprivate init(_ status: stat) {
      device = UInt64(truncatingIfNeeded: status.st_dev)
      inode = UInt64(truncatingIfNeeded: status.st_ino)
      #if canImport(Darwin)
        let time = status.st_mtimespec
      #else
        let time = status.st_mtim
      #endif
      changedNanoseconds = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Differs if the stamps of two folders on one device differ. Does not name the device, whose number can change
    /// when the system is restarted.
    public var description: String { "\(inode) \(changedNanoseconds)" }
  }

  /// The stamp of the folder at `path`; `nil` if it does not exist.
  public static func stamp(_ path: String) throws(SystemError) -> Stamp? {
    var status = stat()
    do {
      try retryingInterrupts("stat", path) { stat(path, &status) }
    } catch  where error.isNotFound {
      return nil
    }
    return Stamp(status)
  }
}
