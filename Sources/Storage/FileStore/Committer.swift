import Foundation
import SnapshotStore
import Synchronization
import SystemIO

/// Makes every change of names in `bundles/`, one at a time, and flushes once for all changes that wait at the same
/// time.
///
/// Rounds of changes run one at a time, so a check and the change that depends on it are a single step.
final class Committer: Sendable {
  /// A change whose names are in place but would not survive a power cut yet.
  struct Change<Outcome: Sendable>: Sendable {
    var outcome: Outcome
    /// Cleans up once the change is durable.
    var settle: @Sendable () -> Void = {}
    /// Reverts the change if it can't be made durable.
    var undo: @Sendable () -> Void = {}
  }

  /// Completes a change after its folder was flushed, or after the flush failed.
  private typealias Finish = @Sendable (SystemError?) -> Void

  private struct Waiting: Sendable {
    let folder: String
    /// Changes the names; `nil` if the change was refused. Its caller has been answered then.
    let begin: @Sendable () -> Finish?
  }

  private let layout: StorageLayout
  private let faults: FaultInjection
  private let flusher: Flusher
  private let batches = BatchQueue<Waiting>("file-store.committer")
  /// The folders in `bundles/` whose own names are durable.
  private let folders: Mutex<Set<String>>
  private let onFirstChange: @Sendable () throws(SystemError) -> Void
  private let isChanged = Mutex(false)

  /// - Parameters:
  ///   - folders: the folders in `bundles/` that are durable.
  ///   - flusher: used by this committer only.
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
    self.folders = Mutex(folders)
  }

  /// Makes a change in `folder`, creating the folder if it is missing; returns when the change is durable.
  func perform<Outcome: Sendable>(
    in folder: String, _ change: @escaping @Sendable () throws(StoreError) -> Change<Outcome>
  ) async throws(StoreError) -> Outcome {
    let result: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      let waiting = Waiting(folder: folder) { [self] in
        do throws(StoreError) {
          try prepareFirstChange()
          try makeIfMissing(folder)
          let change = try change()
          return { failure in
            if failure == nil { change.settle() } else { change.undo() }
            continuation.resume(
              returning: failure.map { .failure(StoreError($0)) } ?? .success(change.outcome))
          }
        } catch {
          continuation.resume(returning: .failure(error))
          return nil
        }
      }
      if !batches.add(waiting, run(_:)) { continuation.resume(returning: .failure(closed)) }
    }
    return try result.get()
  }

  /// The number of changes that wait.
  var waiting: Int { batches.waiting }

  /// Refuses all new changes; returns when the accepted ones are done.
  func close() async { await batches.close() }

  /// Whether there may have been a change.
  var hasChanged: Bool { isChanged.withLock { $0 } }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) {
    if batches.isClosed { throw closed }
  }

  private var closed: StoreError { .system(.closed(layout)) }

  private func run(_ round: [Waiting]) {
    let begun = round.compactMap { waiting in waiting.begin().map { (folder: waiting.folder, finish: $0) } }
    let failures = flush(Set(begun.map(\.folder)))
    for (folder, finish) in begun { finish(failures[folder]) }
  }

  private func prepareFirstChange() throws(StoreError) {
    try isChanged.withLock { isChanged throws(StoreError) in
      guard !isChanged else { return }
      do throws(SystemError) { try onFirstChange() } catch { throw StoreError(error) }
      isChanged = true
    }
  }

  /// Creates a folder, and makes its name durable before a bundle is moved into it. Otherwise a flush of the source
  /// folder could make it durable that the bundle has left, but not where it went.
  private func makeIfMissing(_ folder: String) throws(StoreError) {
    try folders.withLock { folders throws(StoreError) in
      guard !folders.contains(folder) else { return }
      do throws(SystemError) {
        try Folder.create(folder)
        try Folder.synchronize(layout.bundles)
      } catch {
        throw StoreError(error)
      }
      folders.insert(folder)
    }
  }

  /// Flushes the folders of one round.
  /// - Returns: the failures, by folder.
  private func flush(_ changed: Set<String>) -> [String: SystemError] {
    var failures: [String: SystemError] = [:]
    let due = changed.filter { folder in
      do throws(SystemError) {
        try faults.before(.flushFolder)
        return true
      } catch {
        failures[folder] = error
        return false
      }
    }
    for (folder, failure) in zip(due, flusher.flush(due.map { [.folder($0)] })) {
      if let failure { failures[folder] = failure }
    }
    return failures
  }
}

extension SystemError {
  /// The error of a store that is closed.
  static func closed(_ layout: StorageLayout) -> SystemError {
    SystemError(operation: "flock", path: layout.lock, code: POSIXErrorCode.EBADF.rawValue)
  }
}
