import Foundation
import SnapshotStore
import SystemIO

/// Makes every change of names in `bundles/`, one at a time, and has each round of them flushed together with the files
/// that wait for a ``Flusher`` at the same time.
///
/// A change is durable or reverted before the next round, so a check and the change that depends on it are a single
/// step.
final class Committer: Sendable {
  /// A change whose names are in place but would not survive a power cut yet.
  struct Change<Outcome: Sendable>: Sendable {
    var outcome: Outcome
    /// Cleans up once the change is durable.
    var settle: @Sendable () -> Void = {}
    /// Reverts the change if it can't be made durable.
    var undo: @Sendable () -> Void = {}
  }

  private let layout: StorageLayout
  private let faults: FaultInjection
  private let flusher: Flusher
  private let count = Lock(0)
  /// The folders in `bundles/` whose own names are durable.
  private let folders: Lock<Set<String>>
  private let onFirstChange: @Sendable () throws(SystemError) -> Void
  private let isChanged = Lock(false)

  /// - Parameters:
  ///   - folders: the folders in `bundles/` that are durable.
  ///   - onFirstChange: called before the first change. If it throws, the change fails, and the next one calls it
  ///     again.
  init(
    _ layout: StorageLayout, faults: FaultInjection, folders: Set<String>, flusher: Flusher,
    onFirstChange: @escaping @Sendable () throws(SystemError) -> Void = {}
  ) {
    self.onFirstChange = onFirstChange
    self.layout = layout
    self.faults = faults
    self.flusher = flusher
    self.folders = Lock(folders)
  }

  /// Makes a change in `folder`, creating the folder if it is missing; returns when the change is durable.
  func perform<Outcome: Sendable>(
    in folder: String, _ change: @escaping @Sendable () throws(StoreError) -> Change<Outcome>
  ) async throws(StoreError) -> Outcome {
    let result: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      count.add(1)
      let isAccepted = flusher.add { [self] in
        count.add(-1)
        do throws(StoreError) {
          return try begin(in: folder, change) { continuation.resume(returning: $0) }
        } catch {
          continuation.resume(returning: .failure(error))
          return nil
        }
      }
      guard !isAccepted else { return }
      count.add(-1)
      continuation.resume(returning: .failure(closed))
    }
    return try result.get()
  }

  /// The number of changes that wait.
  var waiting: Int { count.value }

  /// Refuses all new changes, and closes the flusher; returns when the accepted ones are done.
  func close() async { await flusher.close() }

  /// Whether there may have been a change.
  var hasChanged: Bool { isChanged.withLock { $0 } }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) {
    if flusher.isClosed { throw closed }
  }

  private var closed: StoreError { .system(.closed(layout)) }

  /// Changes the names. Called by the flusher.
  /// - Parameter finish: called after the folder was flushed, or after the flush failed.
  private func begin<Outcome: Sendable>(
    in folder: String, _ change: () throws(StoreError) -> Change<Outcome>,
    _ finish: @escaping @Sendable (Result<Outcome, StoreError>) -> Void
  ) throws(StoreError) -> Flusher.Flush {
    try prepareFirstChange()
    try makeIfMissing(folder)
    let epoch = flusher.epoch
    let change = try change()
    do {
      try faults.before(.flushFolder)
    } catch {
      change.undo()
      throw StoreError(error)
    }
    return Flusher.Flush(targets: [.folder(folder)], epoch: epoch) { failure in
      if let failure {
        change.undo()
        finish(.failure(StoreError(failure)))
      } else {
        change.settle()
        finish(.success(change.outcome))
      }
    }
  }

  private func prepareFirstChange() throws(StoreError) {
    try isChanged.withLock { isChanged throws(StoreError) in
      guard !isChanged else { return }
      try StoreError.disk { () throws(SystemError) in try onFirstChange() }
      isChanged = true
    }
  }

  /// Creates a folder, and makes its name durable before a bundle is moved into it. Otherwise a flush of the source
  /// folder could make it durable that the bundle has left, but not where it went.
  private func makeIfMissing(_ folder: String) throws(StoreError) {
    try folders.withLock { folders throws(StoreError) in
      guard !folders.contains(folder) else { return }
      try StoreError.disk { () throws(SystemError) in
        // If `bundles/` itself is gone, its disk may be, and this would write to another one.
        let (bundles, name) = (try OpenFolder(layout.bundles), Folder.name(of: folder))
        do throws(SystemError) { try bundles.create(folder: name, mode: 0o700) } catch
          where error.isAlreadyThere
        {
          _ = try bundles.folder(name)
        }
        try bundles.synchronize()
      }
      folders.insert(folder)
    }
  }
}

extension SystemError {
  /// The error of a store that is closed.
  static func closed(_ layout: StorageLayout) -> SystemError {
    SystemError(operation: "flock", path: layout.lock, code: POSIXErrorCode.EBADF.rawValue)
  }
}
