import Dispatch
public import Foundation
import SystemIO

/// Keeps a value in memory and writes it to a JSON file asynchronously.
///
/// **Guarantees:**
/// - `update` never waits for the disk. The file is written immediately afterwards on a background queue; if several
///   commits are pending, only the newest value is written. `flush()` waits for the write: call it when the app enters
///   the background.
/// - A crash or a power failure loses at most the commits that are not in the file yet, and never leaves a partial
///   file.
/// - If the file can't be written, for example because the disk is full, the value in memory stays valid, and one event
///   (``RepositoryEvent/Kind/notSaved``) reports the failure. Writing is retried with each commit and after
///   `retryInterval`; when it succeeds, one event (``RepositoryEvent/Kind/savedAgain``) reports that.
/// - A file of an older schema is migrated; a corrupt file, or one that this version of the app can't decode, is set
///   aside: see ``Migrations``.
public final class InMemoryStorageWithFilePersistence<Value: Codable & Sendable>: RepositoryStorage {
  private struct Waiting {
    /// The last committed value, if it is not in the file yet.
    var contents: StoredFile<Value>.Contents?
    var isWriteScheduled = false
    var isRetryScheduled = false
  }

  /// The JSON file.
  public let file: URL
  private let stored: StoredFile<Value>
  private let retryInterval: Duration
  private let queue = DispatchQueue(label: "data-snapshots.repository", qos: .utility)
  private let waiting = Lock(Waiting())

  /// Creates a storage in memory and in `file`. The file's folder is created when the first value is written.
  /// - Parameters:
  ///   - file: the JSON file; by default one in Application Support that is named after `Value`: see
  ///     ``RepositoryFile``. Related files in the same folder have this file's name, a dot and a suffix as their names.
  ///   - migrations: the migrations from every older schema to that of `Value`.
  ///   - retryInterval: the delay before a failed write is retried.
  ///   - onEvent: called on any thread with events that the app should know about.
  ///   - onRollback: decides after a roll-back between what the older and what the newer app wrote; by default the
  ///     newest write. It must not use the repository.
  public convenience init(
    file: URL? = nil, migrations: Migrations = [], retryInterval: Duration = .seconds(10),
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in },
    onRollback: @escaping RollbackConflict<Value>.Decision = { $0.newestWrite }
  ) {
    self.init(
      file: file, migrations: migrations, retryInterval: retryInterval,
      disk: file == nil ? RepositoryFile.disk(for: Value.self) : .real, onEvent: onEvent,
      onRollback: onRollback)
  }

  package init(
    file: URL?, migrations: Migrations = [], retryInterval: Duration = .seconds(10),
    disk: Disk, onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in },
    onRollback: @escaping RollbackConflict<Value>.Decision = { $0.newestWrite }
  ) {
    let file = file ?? RepositoryFile.folder.appending(path: RepositoryFile.name(for: Value.self))
    self.file = file
    stored = StoredFile(file, migrations: migrations, disk: disk, onEvent: onEvent, onRollback: onRollback)
    self.retryInterval = retryInterval
  }

  /// Loads the value from the file and migrates it if necessary.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? {
    try load(elementwise: false, check)?.value
  }

  /// Loads the models from the file and migrates them if necessary.
  public func load(
    undecoded: inout [UndecodedElement], _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> Value? {
    let contents = try load(elementwise: true, check)
    undecoded = contents?.undecoded ?? []
    return contents?.value
  }

  private func load(
    elementwise: Bool, _ check: (Value) throws -> Void
  ) throws(RepositoryError) -> StoredFile<Value>.Contents? {
    guard let loaded = try stored.load(elementwise: elementwise, check) else { return nil }
    if loaded.isChanged { save(loaded.contents.value, undecoded: loaded.contents.undecoded) }
    return loaded.contents
  }

  /// Schedules a write of the value, and returns immediately.
  public func save(_ value: Value) { save(value, undecoded: []) }

  /// Schedules a write of the value and of the elements that could not be decoded, and returns immediately.
  public func save(_ value: Value, undecoded: [UndecodedElement]) {
    let contents = StoredFile<Value>.Contents(value: value, undecoded: undecoded)
    let isFirst = waiting.withLock { waiting in
      waiting.contents = contents
      defer { waiting.isWriteScheduled = true }
      return !waiting.isWriteScheduled
    }
    // The queue retains the storage, so that the last commit is written even if the repository was deinitialized.
    if isFirst { queue.async { [self] in writeWaiting() } }
  }

  /// Waits until every earlier commit is in the file.
  public func flush() async throws(RepositoryError) {
    let result: Result<Void, RepositoryError> = await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: writeWaiting()) }
    }
    try result.get()
  }

  /// Blocks until every earlier commit is in the file; for example when the app terminates.
  @available(*, noasync, message: "Use the asynchronous form")
  public func flush() throws(RepositoryError) { try queue.sync { writeWaiting() }.get() }

  /// The files that were set aside in the same folder, including files with the reasons.
  public var setAside: [URL] { stored.setAside }

  /// Must run on ``queue``.
  @discardableResult
  private func writeWaiting() -> Result<Void, RepositoryError> {
    let contents = waiting.withLock { waiting in
      defer { waiting.contents = nil }
      waiting.isWriteScheduled = false
      return waiting.contents
    }
    guard let contents else { return .success(()) }
    do {
      try stored.write(contents)
      return .success(())
    } catch {
      keep(contents, isWorthRetrying: error.code != .notEncodable)
      return .failure(error)
    }
  }

  private func keep(_ contents: StoredFile<Value>.Contents, isWorthRetrying: Bool) {
    let isFirst = waiting.withLock { waiting in
      // A value committed in the meantime is newer, and its write is already scheduled.
      waiting.contents = waiting.contents ?? contents
      guard isWorthRetrying, !waiting.isRetryScheduled else { return false }
      waiting.isRetryScheduled = true
      return true
    }
    guard isFirst else { return }
    let (seconds, attoseconds) = retryInterval.components
    let delay = Double(seconds) + Double(attoseconds) * 1e-18
    queue.asyncAfter(deadline: .now() + delay) { [self] in
      waiting.withLock { $0.isRetryScheduled = false }
      writeWaiting()
    }
  }
}
