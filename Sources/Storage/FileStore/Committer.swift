import Foundation
import SnapshotStore
import Synchronization
import SystemIO

/// Makes every change of names in `bundles/`, one after the other, and flushes once for all changes that wait at the
/// same time.
///
/// Rounds that run one at a time are what makes a check and the change that rests on it one step.
final class Committer: Sendable {
  /// A change whose names are in place but would not survive a power cut yet.
  struct Change<Outcome: Sendable>: Sendable {
    var outcome: Outcome
    /// Clears up once the change lasts.
    var settle: @Sendable () -> Void = {}
    /// Takes the change back where it can't be made to last.
    var undo: @Sendable () -> Void = {}
  }

  /// Ends a change after its folder was flushed, or could not be.
  private typealias Finish = @Sendable (SystemError?) -> Void

  private struct Waiting: Sendable {
    let folder: String
    /// Changes the names; `nil` where the change was refused, and answered, at once.
    let begin: @Sendable () -> Finish?
  }

  private let layout: StorageLayout
  private let faults: FaultInjection
  private let flusher: Flusher
  private let batches = BatchQueue<Waiting>("file-store.committer")
  /// The folders in `bundles/` whose own names would survive a power cut.
  private let folders: Mutex<Set<String>>

  /// - Parameters:
  ///   - folders: those in `bundles/` that would survive a power cut.
  ///   - flusher: one of the committer's own.
  init(_ layout: StorageLayout, faults: FaultInjection, folders: Set<String>, flusher: Flusher) {
    self.layout = layout
    self.faults = faults
    self.flusher = flusher
    self.folders = Mutex(folders)
  }

  /// Makes a change in `folder`, which is made when it is missing; returns when the change lasts.
  func perform<Outcome: Sendable>(
    in folder: String, _ change: @escaping @Sendable () throws(StoreError) -> Change<Outcome>
  ) async throws(StoreError) -> Outcome {
    let result: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      let waiting = Waiting(folder: folder) { [self] in
        do throws(StoreError) {
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

  /// How many changes wait.
  var waiting: Int { batches.waiting }

  /// Refuses every change from now on; returns when those that were accepted are done.
  func close() async { await batches.close() }

  /// The folders in `bundles/` that would survive a power cut.
  var lastingFolders: Set<String> { folders.withLock { $0 } }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) {
    if batches.isClosed { throw closed }
  }

  private var closed: StoreError {
    .system(SystemError(operation: "flock", path: layout.lock, code: POSIXErrorCode.EBADF.rawValue))
  }

  private func run(_ round: [Waiting]) {
    let begun = round.compactMap { waiting in waiting.begin().map { (folder: waiting.folder, finish: $0) } }
    let failures = flush(Set(begun.map(\.folder)))
    for (folder, finish) in begun { finish(failures[folder]) }
  }

  /// Makes a folder, and its name durable before anything is moved into it: a flush of the folder that a bundle comes
  /// from would else make it last that the bundle has left, and not where to.
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
  /// - Returns: what failed, by folder.
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
