#if canImport(Darwin)
  import Darwin
#else
  import CPlatform
  import Glibc
#endif

/// What is done to names rather than to contents: making, publishing, moving, removing, and making that last.
public enum Folder {
  /// Makes `path` and whatever is missing above it; what is there already stays as it is, and a link to a folder
  /// will do.
  public static func create(_ path: String, mode: UInt16 = 0o700) throws(SystemError) {
    do {
      try make(path, mode)
    } catch  where error.isNotFound {
      let parent = Self.parent(of: path)
      guard parent != path else { throw error }
      try create(parent, mode: mode)
      // Once more and no further: some folders, such as those of `/proc`, are there and take in nothing.
      try make(path, mode)
    }
  }

  private static func make(_ path: String, _ mode: UInt16) throws(SystemError) {
    do {
      try retryingInterrupts("mkdir", path) { mkdir(path, mode_t(mode)) }
      FileObserver.note(path) { .createFolder(path) }
    } catch  where error.isAlreadyThere {
      var status = stat()
      guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw error }
    }
  }

  /// Waits until the names in `path` would survive a power cut.
  public static func synchronize(_ path: String) throws(SystemError) {
    let folder = try Descriptor("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
    try retryingInterrupts("fsync", path) { fsync(folder.number) }
    FileObserver.note(path) { .flushFolder(path) }
  }

  /// Gives `staged` its final name without ever overwriting what stands there.
  ///
  /// One atomic step. Throws an error that is ``SystemError/isAlreadyThere`` where the name is taken, and then
  /// nothing has changed. Durable once the folders of both names are synchronized.
  public static func publish(_ staged: String, as final: String) throws(SystemError) {
    #if canImport(Darwin)
      try retryingInterrupts("renamex_np", final) { renamex_np(staged, final, UInt32(RENAME_EXCL)) }
      FileObserver.note(final) { .rename(staged, to: final) }
    #else
      do {
        try retryingInterrupts("renameat2", final) {
          renameat2(AT_FDCWD, staged, AT_FDCWD, final, UInt32(SNAPSHOT_RENAME_NOREPLACE))
        }
        FileObserver.note(final) { .rename(staged, to: final) }
      } catch  where error.code == EINVAL || error.code == ENOSYS {
        // Some file systems have no such rename. For a file, a hard link refuses a taken name as well; a folder
        // has no links, but a plain rename replaces at most an empty folder that appears after the look.
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

  /// Gives `staged` its final name in one atomic step; a file that stands there is replaced.
  public static func replace(_ final: String, with staged: String) throws(SystemError) {
    try retryingInterrupts("rename", final) { rename(staged, final) }
    FileObserver.note(final) { .rename(staged, to: final) }
  }

  /// Gives the file at `path` a second name; refuses one that is taken (`isAlreadyThere`).
  public static func link(_ path: String, as name: String) throws(SystemError) {
    #if canImport(Darwin)
      try retryingInterrupts("link", name) { Darwin.link(path, name) }
    #else
      try retryingInterrupts("link", name) { Glibc.link(path, name) }
    #endif
    FileObserver.note(name) { .link(path, as: name) }
  }

  /// Removes a file or an empty folder.
  public static func remove(_ path: String) throws(SystemError) {
    try retryingInterrupts("remove", path) { Int(unlinkOrRemoveFolder(path)) }
    FileObserver.note(path) { .remove(path) }
  }

  /// Removes a file, if it is there.
  public static func removeIfPresent(_ path: String) throws(SystemError) {
    do { try remove(path) } catch  where error.isNotFound {}
  }

  /// Removes `path` and all below it, if it is there. Links are removed, never followed.
  public static func removeTree(_ path: String) throws(SystemError) {
    do {
      if isFolder(path) {
        for name in try entries(path) { try removeTree(path + "/" + name) }
      }
      try remove(path)
    } catch  where error.isNotFound {}
  }

  /// The names in `path`, sorted by their bytes, without `.` and `..`.
  public static func entries(_ path: String) throws(SystemError) -> [String] {
    guard let stream = opendir(path) else { throw SystemError(operation: "opendir", path: path) }
    defer { closedir(stream) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(operation: "readdir", path: path) }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
      }
      let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { String(cString: $0) }
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// Whether `path` is a folder; a link to one is not.
  public static func isFolder(_ path: String) -> Bool { kind(path) == S_IFDIR }

  /// Whether `path` is a regular file; a link to one is not.
  public static func isRegularFile(_ path: String) -> Bool { kind(path) == S_IFREG }

  /// Whether `path` is a regular file that its owner may run; a link to one is not.
  public static func isExecutableFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG && status.st_mode & S_IXUSR != 0
  }

  /// The length in bytes of what stands under `path`; a link is not followed.
  public static func size(of path: String) throws(SystemError) -> Int64 {
    var status = stat()
    try retryingInterrupts("lstat", path) { lstat(path, &status) }
    return Int64(status.st_size)
  }

  /// What has the name `path`; `nil` where nothing does. A link is not followed. Throws where the system can't tell: a disk
  /// that fails does not make a file absent.
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

  /// Whether anything has the name `path`, a broken link included. Throws where the system can't tell: a disk that fails
  /// does not make a file absent.
  public static func exists(_ path: String) throws(SystemError) -> Bool { try kind(of: path) != nil }

  /// The bytes that an unprivileged process may still write on the file system of `path`.
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

  /// The folder that holds `path`: the text before its last slash, or `.` where it has none. One slash at the end
  /// doesn't count; nothing is looked up.
  public static func parent(of path: String) -> String {
    let trimmed = path.last == "/" ? String(path.dropLast()) : path
    guard let slash = trimmed.lastIndex(of: "/") else { return trimmed.isEmpty ? path : "." }
    return slash == trimmed.startIndex ? "/" : String(trimmed[..<slash])
  }
}
