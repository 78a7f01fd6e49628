#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A cache of recently read files that are kept open, so that reading one again needs no opening and closing.
///
/// A file that was removed, renamed, replaced or changed is never returned again: each use compares its current state
/// with the state at opening. (Renaming a parent folder is not detected.) A removed file occupies disk space until it
/// is closed here, so call ``forget(_:)`` after removing one. Thread-safe.
public final class OpenFiles: Sendable {
  fileprivate struct Entry {
    let file: File
    let state: FileState
    var lastUse: UInt64
  }

  fileprivate struct State {
    var entries: [String: Entry] = [:]
    var uses: UInt64 = 0
    /// The hash values of the last paths that ``OpenFiles/has(_:)`` looked up by their names.
    var lookedUp: [Int] = []
    /// The number of calls to ``OpenFiles/forget(_:)`` and ``OpenFiles/removeAll()``.
    var changes = 0
  }

  /// The maximum number of files that are kept open. Callers can hold files that they received for longer.
  public let limit: Int
  private let state = Lock(State())

  /// Keeps at most `limit` files open, and at most 1/64 of the process's descriptor limit, so that idle files do not
  /// use up the descriptors that a server reserves for files.
  public init(limit: Int = 16) { self.limit = min(limit, DescriptorLimit.current / 64) }

  /// The number of files that are kept open.
  public var count: Int { state.withLock { $0.entries.count } }

  /// The file at `path`, open for reading, and its length in bytes. A link is not followed. Like
  /// ``File/init(cached:)``, this never waits for a disk, so an event loop can call it.
  ///
  /// Returns `nil` if it would have to wait, and on every error; ``File/init(_:_:)`` then throws the error.
  public func file(cached path: String) -> (file: File, size: Int64)? {
    let (kept, changes) = state.withLock { state in (state.use(path), state.changes) }
    do {
      if let kept {
        if try kept.file.state == kept.state { return (kept.file, kept.state.size) }
        forget(path)
      }
      guard let file = File(cached: path) else { return nil }
      let found = try file.state
      if kept == nil, found.hasName { keep(file, found, readAt: changes) }
      return (file, found.size)
    } catch {
      return nil
    }
  }

  /// Whether there is a file at `path`. Never waits for a disk if the kernel has the names of the path in its caches.
  ///
  /// Comparing the state of an open file is several times as fast as looking up its path, so a file that is asked for
  /// repeatedly is kept open. A file that is asked for once does not displace another one.
  public func has(_ path: String) throws(SystemError) -> Bool {
    let (kept, isPopular) = state.withLock { state -> (Entry?, Bool) in
      if let kept = state.use(path) { return (kept, false) }
      return (nil, state.lookUp(path, among: limit))
    }
    if let kept {
      if try kept.file.state == kept.state { return true }
      forget(path)
    } else if isPopular, file(cached: path) != nil {
      return true
    }
    return try Folder.exists(path)
  }

  /// Removes the file at `path`, which was just removed, renamed or replaced, from the cache. It is closed as soon as
  /// no caller uses it.
  public func forget(_ path: String) {
    // The returned entry is released outside the lock, because that can close the file.
    _ = state.withLock { state in
      state.changes &+= 1
      return state.entries.removeValue(forKey: path)
    }
  }

  /// Removes all files from the cache. Each is closed as soon as no caller uses it.
  public func removeAll() {
    _ = state.withLock { state in
      state.changes &+= 1
      defer { state.entries = [:] }
      return state.entries
    }
  }

  /// Keeps `file` open, unless a file was forgotten since `changes` was read.
  private func keep(_ file: File, _ found: FileState, readAt changes: Int) {
    _ = state.withLock { state -> Entry? in
      guard limit > 0, state.changes == changes else { return nil }
      state.uses += 1
      let former = state.entries.updateValue(
        Entry(file: file, state: found, lastUse: state.uses), forKey: file.path)
      if former != nil || state.entries.count <= limit { return former }
      let oldest = state.entries.min { $0.value.lastUse < $1.value.lastUse }
      return oldest.flatMap { state.entries.removeValue(forKey: $0.key) }
    }
  }
}

extension OpenFiles.State {
  /// The entry for `path`. Updates the time of its last use.
  fileprivate mutating func use(_ path: String) -> OpenFiles.Entry? {
    guard let index = entries.index(forKey: path) else { return nil }
    uses += 1
    entries.values[index].lastUse = uses
    return entries.values[index]
  }

  /// Returns whether `path` is one of the last `count` paths of this method.
  fileprivate mutating func lookUp(_ path: String, among count: Int) -> Bool {
    let hash = path.hashValue
    if lookedUp.contains(hash) { return true }
    if lookedUp.count >= count { lookedUp.removeFirst(lookedUp.count - count + 1) }
    if count > 0 { lookedUp.append(hash) }
    return false
  }
}

/// The state of an open file. As long as it does not change, neither do the file's bytes and names.
struct FileState: Hashable {
  /// Whether the file still has a name: `false` after it was removed or replaced.
  let hasName: Bool
  /// The length in bytes.
  let size: Int64
  /// The time of the last change of bytes, names or permissions (`ctime`).
  private let seconds: Int64
  private let nanoseconds: Int64

  fileprivate init(_ status: stat) {
    hasName = status.st_nlink > 0
    size = Int64(status.st_size)
    #if canImport(Darwin)
      let time = status.st_ctimespec
    #else
      let time = status.st_ctim
    #endif
    seconds = Int64(time.tv_sec)
    nanoseconds = Int64(time.tv_nsec)
  }
}

extension File {
  /// The current state of the file. Never waits for a local disk.
  var state: FileState {
    get throws(SystemError) {
      var status = stat()
      try retryingInterrupts("fstat", path) { fstat(descriptor, &status) }
      return FileState(status)
    }
  }
}
