import Dispatch
public import Foundation
import Synchronization

/// Keeps a value in memory, and lets a JSON file follow.
///
/// **What holds:**
/// - `update` never waits for the disk. The file follows at once, on a thread of its own; of many commits in a row it
///   gets the newest. `flush()` waits for it: call it where the app goes to the background.
/// - A crash or a power cut loses at most the commits that the file had not followed yet, and never leaves half a file.
/// - Where the file can't be written, as on a full disk, memory goes on; one event (``RepositoryEvent/Kind/notSaved``)
///   tells. It is tried again with each commit and after every `retryInterval`; when the file has followed, one event
///   (``RepositoryEvent/Kind/savedAgain``) tells that.
/// - A file of an older schema is migrated, one of a newer schema or a corrupt one is set aside: see ``Migrations``.
public final class InMemoryStorageWithFilePersistence<Value: Codable & Sendable>: RepositoryStorage {
  private struct Waiting {
    /// What was committed last and is not in the file.
    var value: Value?
    var isWriteScheduled = false
    var isRetryScheduled = false
  }

  private let file: StoredFile<Value>
  private let retryInterval: Duration
  private let queue = DispatchQueue(label: "data-snapshots.repository", qos: .utility)
  private let waiting = Mutex(Waiting())

  /// A storage in memory and in `file`; its folder is made when there is something to keep.
  /// - Parameters:
  ///   - file: the file; others whose names begin with its name and a dot stand beside it.
  ///   - migrations: the way from every older schema to that of `Value`.
  ///   - retryInterval: how long to wait after a failure before the file is tried again.
  ///   - onEvent: is told, on any thread, what an app should hear of.
  public convenience init(
    file: URL, migrations: Migrations = [], retryInterval: Duration = .seconds(10),
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) {
    self.init(
      file: file, migrations: migrations, retryInterval: retryInterval, disk: .real, onEvent: onEvent)
  }

  package init(
    file: URL, migrations: Migrations = [], retryInterval: Duration = .seconds(10), disk: Disk,
    onEvent: @escaping @Sendable (RepositoryEvent) -> Void = { _ in }
  ) {
    self.file = StoredFile(path: file.path, migrations: migrations, disk: disk, onEvent: onEvent)
    self.retryInterval = retryInterval
  }

  /// What is in the file, migrated.
  public func load(_ check: (Value) throws -> Void) throws(RepositoryError) -> Value? {
    guard let loaded = try file.load(check) else { return nil }
    if loaded.isMigrated { save(loaded.value) }
    return loaded.value
  }

  /// Hands the value over to be written.
  public func save(_ value: Value) {
    let isFirst = waiting.withLock { waiting in
      waiting.value = value
      defer { waiting.isWriteScheduled = true }
      return !waiting.isWriteScheduled
    }
    // The queue holds on to the storage: what was committed is written although the repository is gone.
    if isFirst { queue.async { [self] in writeWaiting() } }
  }

  /// Waits until the file has followed every commit that came before.
  public func flush() async throws(RepositoryError) {
    let result: Result<Void, RepositoryError> = await withCheckedContinuation { continuation in
      queue.async { [self] in continuation.resume(returning: writeWaiting()) }
    }
    try result.get()
  }

  /// Waits, blocking, until the file has followed every commit that came before; for the last moment of an app.
  @available(*, noasync, message: "Use the asynchronous form")
  public func flush() throws(RepositoryError) { try queue.sync { writeWaiting() }.get() }

  /// The files that were set aside beside this one, with the reasons of those that are corrupt.
  public var setAside: [URL] { file.setAside }

  /// On ``queue`` only.
  @discardableResult
  private func writeWaiting() -> Result<Void, RepositoryError> {
    let value = waiting.withLock { waiting in
      defer { waiting.value = nil }
      waiting.isWriteScheduled = false
      return waiting.value
    }
    guard let value else { return .success(()) }
    do throws(RepositoryError) {
      try file.write(value)
      return .success(())
    } catch {
      keep(value, isWorthRetrying: error.code != .notEncodable)
      return .failure(error)
    }
  }

  private func keep(_ value: Value, isWorthRetrying: Bool) {
    let isFirst = waiting.withLock { waiting in
      // What was committed meanwhile is newer, and its own write is on its way.
      waiting.value = waiting.value ?? value
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
