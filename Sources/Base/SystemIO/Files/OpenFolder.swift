#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open folder whose entries are accessed through its descriptor: if a parent folder is renamed or replaced
/// meanwhile, all operations still apply to this folder. Links in it are never followed.
///
/// A name is a single path component. An empty name, `.`, `..`, and a name that contains `/` or NUL are rejected
/// (`EINVAL`).
public final class OpenFolder: Sendable {
  /// The path with which the folder was opened, for messages.
  public let path: String
  private let owned: Descriptor
  private var descriptor: Int32 { owned.number }

  /// The status of an entry.
  public struct Status: Sendable, Hashable {
    /// The kinds of entries.
    public enum Kind: Sendable, Hashable { case file, folder, link, other }
    /// The kind of the entry.
    public let kind: Kind
    /// The length in bytes.
    public let size: Int64
    /// The permission bits.
    public let permissions: UInt16
    /// Whether the owner may execute the file.
    public var isExecutable: Bool { permissions & 0o100 != 0 }
  }

  /// Opens the folder at `path`. Follows links.
  public convenience init(_ path: String) throws(SystemError) {
    self.init(path, try Descriptor("open", path) { open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC) })
  }

  private init(_ path: String, _ descriptor: consuming Descriptor) {
    self.path = path
    owned = descriptor
  }

  // MARK: - Reaching

  /// Opens the folder at `path`, relative to this folder, with components separated by `/`. An empty path returns
  /// this folder.
  public func folder(at path: String) throws(SystemError) -> OpenFolder {
    var folder = self
    for name in path.split(separator: "/", omittingEmptySubsequences: true) {
      folder = try folder.folder(String(name))
    }
    return folder
  }

  /// Opens the folder `name`.
  public func folder(_ name: String) throws(SystemError) -> OpenFolder {
    let path = try self.path(of: name)
    do {
      let child = try Descriptor("open", path) {
        openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
      }
      return OpenFolder(path, child)
    } catch  where error.code == ENOTDIR {
      // Linux does not tell a link from a file here.
      guard try status(name)?.kind == .link else { throw error }
      throw SystemError(operation: "open", path: path, code: ELOOP)
    }
  }

  /// Opens the folder at `path` as ``folder(at:)`` does. Creates the folders that are missing, and makes their names
  /// durable.
  public func makeFolder(at path: String, mode: UInt16 = 0o700) throws(SystemError) -> OpenFolder {
    var folder = self
    for name in path.split(separator: "/", omittingEmptySubsequences: true).map(String.init) {
      do {
        folder = try folder.folder(name)
      } catch  where error.isNotFound {
        do { try folder.create(folder: name, mode: mode) } catch
          where error.isAlreadyThere
        {}
        try folder.synchronize()
        folder = try folder.folder(name)
      }
    }
    return folder
  }

  /// Opens the file `name`.
  public func file(_ name: String, _ access: File.Access = .read) throws(SystemError) -> File {
    try File(path(of: name), named: name, in: descriptor, access)
  }

  /// The status of the entry `name`; `nil` if it does not exist.
  public func status(_ name: String) throws(SystemError) -> Status? {
    let path = try self.path(of: name)
    var status = stat()
    do {
      try retryingInterrupts("fstatat", path) { fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) }
    } catch  where error.isNotFound {
      return nil
    }
    let kind: Status.Kind =
      switch status.st_mode & S_IFMT {
      case S_IFREG: .file
      case S_IFDIR: .folder
      case S_IFLNK: .link
      default: .other
      }
    return Status(kind: kind, size: Int64(status.st_size), permissions: UInt16(status.st_mode & 0o7777))
  }

  /// The names in the folder, sorted by their bytes. Throws `EILSEQ` if a name is not UTF-8.
  public func entries() throws(SystemError) -> [String] {
    let (names, unusable) = try allEntries()
    if let name = unusable.first {
      throw SystemError(operation: "readdir", path: path + "/" + name, code: EILSEQ)
    }
    return names
  }

  /// The names in the folder, sorted by their bytes, and those that are not UTF-8, with U+FFFD for what is not.
  public func allEntries() throws(SystemError) -> (names: [String], unusable: [String]) {
    // A separate descriptor has its own position. The stream takes ownership of it and closes it.
    let copy = try Descriptor("open", path) {
      openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    }
    guard let stream = fdopendir(copy.number) else { throw SystemError(operation: "fdopendir", path: path) }
    _ = copy.release()
    defer { closedir(stream) }
    var (names, unusable): ([String], [String]) = ([], [])
    while true {
      errno = 0
      guard let entry = readdir(stream) else {
        if errno != 0 { throw SystemError(operation: "readdir", path: path) }
        return (names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }, unusable.sorted())
      }
      let (name, repaired) = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
        pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
          (String(validatingCString: $0), String(cString: $0))
        }
      }
      guard let name else {
        unusable.append(repaired)
        continue
      }
      if name != ".", name != ".." { names.append(name) }
    }
  }

  /// Whether this folder is `other` or below it. Returns `false` if a parent folder on the way up cannot be opened.
  public func isInside(_ other: OpenFolder) throws(SystemError) -> Bool {
    let wanted = try Self.identity(other.descriptor, other.path)
    var place = self
    while true {
      let here = try Self.identity(place.descriptor, place.path)
      if here == wanted { return true }
      let parent = openat(place.descriptor, "..", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard parent >= 0 else { return false }
      place = OpenFolder(place.path + "/..", Descriptor(taking: parent))
      if try Self.identity(parent, place.path) == here { return false }
    }
  }

  private static func identity(_ descriptor: Int32, _ path: String) throws(SystemError) -> [UInt64] {
    var status = stat()
    try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
    return [UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino)]
  }

  // MARK: - Changing

  /// Creates the folder `name`. Throws an error with ``SystemError/isAlreadyThere`` if the name exists.
  public func create(folder name: String, mode: UInt16) throws(SystemError) {
    let path = try self.path(of: name)
    try retryingInterrupts("mkdir", path) { mkdirat(descriptor, name, mode_t(mode)) }
    FileObserver.report(path) { .createFolder(path) }
  }

  /// Renames the file `staged`, which is in `folder` or else in this folder, to `final` in this folder atomically.
  /// Replaces an existing file or link.
  public func replace(
    _ final: String, with staged: String, from folder: OpenFolder? = nil
  ) throws(SystemError) {
    let source = folder ?? self
    let path = try self.path(of: final)
    let former = try source.path(of: staged)
    try retryingInterrupts("rename", path) { renameat(source.descriptor, staged, descriptor, final) }
    FileObserver.report(path) { .rename(former, to: path) }
  }

  /// Waits until the names in this folder are on stable storage and survive a power failure.
  public func synchronize() throws(SystemError) {
    try retryingInterrupts("fsync", path) { fsync(descriptor) }
    FileObserver.report(path) { .flushFolder(path) }
  }

  /// Removes the file or link `name`.
  public func remove(_ name: String) throws(SystemError) {
    let path = try self.path(of: name)
    try retryingInterrupts("remove", path) { unlinkat(descriptor, name, 0) }
    FileObserver.report(path) { .remove(path) }
  }

  /// Removes `name` and, if it is a folder, everything below it. Does nothing if it does not exist.
  public func removeTree(_ name: String) throws(SystemError) {
    guard try status(name)?.kind == .folder else {
      do { try remove(name) } catch  where error.isNotFound {}
      return
    }
    let child = try folder(name)
    for entry in try child.entries() { try child.removeTree(entry) }
    try retryingInterrupts("remove", child.path) { unlinkat(descriptor, name, AT_REMOVEDIR) }
    FileObserver.report(child.path) { .remove(child.path) }
  }

  private func path(of name: String) throws(SystemError) -> String {
    guard !name.isEmpty, name != ".", name != "..", !name.utf8.contains(UInt8(ascii: "/")),
      !name.utf8.contains(0)
    else { throw SystemError(operation: "open", path: path + "/" + name, code: EINVAL) }
    return path + "/" + name
  }
}
