import Synchronization

/// Files that were read a short while ago, kept open: who asks for one again is spared its opening and closing.
///
/// A file that was removed, renamed, replaced or changed is never given out again: each time it is looked at whether
/// it still stands as it was opened. (Only that a folder above it was renamed is not seen.) But what was removed takes
/// up room on the disk until it is closed here: whoever removes a file calls ``forget(_:)`` afterwards. Safe to use from
/// any thread.
public final class OpenFiles: Sendable {
  fileprivate struct Entry {
    let file: File
    let state: FileState
    var lastUse: UInt64
  }

  fileprivate struct State {
    var entries: [String: Entry] = [:]
    var uses: UInt64 = 0
    /// How often something was forgotten.
    var changes = 0
  }

  /// How many files are kept open at most; who was given one may hold it for longer.
  public let limit: Int
  private let state = Mutex(State())

  /// Keeps at most `limit` files open, or a sixty-fourth of the descriptors that the process may have, where that is
  /// less: what a server holds back for files is not to be used up by those that nobody reads.
  public init(limit: Int = 16) { self.limit = min(limit, DescriptorLimit.current / 64) }

  /// How many files are kept open now.
  public var count: Int { state.withLock { $0.entries.count } }

  /// The file at `path`, open for reading, and its length in bytes; a link is not followed. Like ``File/init(cached:)``
  /// it never waits for a disk, so that an event loop may ask.
  ///
  /// `nil` where it would have to wait and where anything is wrong: ``File/init(_:_:)`` tells.
  public func file(cached path: String) -> (file: File, size: Int64)? {
    let (kept, changes) = state.withLock { state in (state.use(path), state.changes) }
    do throws(SystemError) {
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

  /// Closes the file at `path`, which has just been removed, renamed or replaced, as soon as nobody uses it.
  public func forget(_ path: String) {
    // What is let go of is closed after the lock is.
    _ = state.withLock { state in
      state.changes &+= 1
      return state.entries.removeValue(forKey: path)
    }
  }

  /// Closes all files as soon as nobody uses them.
  public func removeAll() {
    _ = state.withLock { state in
      state.changes &+= 1
      defer { state.entries = [:] }
      return state.entries
    }
  }

  /// Keeps what was opened, unless anything was forgotten since `changes`.
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
  /// What is kept under `path`, used once more.
  fileprivate mutating func use(_ path: String) -> OpenFiles.Entry? {
    guard let index = entries.index(forKey: path) else { return nil }
    uses += 1
    entries.values[index].lastUse = uses
    return entries.values[index]
  }
}
