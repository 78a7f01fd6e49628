import Dispatch
import Foundation
import SnapshotStore
import Synchronization
import SystemIO

/// Makes every change of names in `bundles/`, one after the other, and flushes each folder once for all changes
/// that wait at the same time.
///
/// One serial queue is what makes a check and the change that rests on it one step.
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

  private struct State {
    var waiting: [Waiting] = []
    var isScheduled = false
    var isClosed = false
  }

  /// Folders whose own names last, and those that were made since.
  private struct Folders {
    var lasting: Set<String>
    var fresh: Set<String> = []
  }

  private let shelf: Shelf
  private let seams: Seams
  private let flushers: QueueSet
  private let queue = DispatchQueue(label: "file-store.committer", qos: .userInitiated)
  private let state = Mutex(State())
  private let folders: Mutex<Folders>

  /// - Parameter folders: those in `bundles/` that would survive a power cut.
  init(_ shelf: Shelf, seams: Seams, folders: Set<String>, flushers: Int = 1) {
    self.shelf = shelf
    self.flushers = QueueSet("folder-flusher", count: flushers)
    self.seams = seams
    self.folders = Mutex(Folders(lasting: folders))
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
      if !enqueue(waiting) { continuation.resume(returning: .failure(closed)) }
    }
    return try result.get()
  }

  /// Refuses every change from now on; returns when those that were accepted are done.
  func close() async {
    state.withLock { $0.isClosed = true }
    await queue.perform {}
  }

  /// The folders in `bundles/` that would survive a power cut.
  var lastingFolders: Set<String> { folders.withLock { $0.lasting } }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) {
    if state.withLock({ $0.isClosed }) { throw closed }
  }

  private var closed: StoreError {
    .system(SystemError(operation: "flock", path: shelf.lock, code: POSIXErrorCode.EBADF.rawValue))
  }

  private func enqueue(_ waiting: Waiting) -> Bool {
    state.withLock { state in
      guard !state.isClosed else { return false }
      state.waiting.append(waiting)
      if !state.isScheduled {
        state.isScheduled = true
        queue.async { self.run() }
      }
      return true
    }
  }

  private func run() {
    while let round = takeRound() {
      let begun = round.compactMap { waiting in waiting.begin().map { (folder: waiting.folder, finish: $0) } }
      let failures = flush(Set(begun.map(\.folder)))
      for (folder, finish) in begun { finish(failures[folder]) }
    }
  }

  private func takeRound() -> [Waiting]? {
    state.withLock { state in
      guard !state.waiting.isEmpty else {
        state.isScheduled = false
        return nil
      }
      defer { state.waiting = [] }
      return state.waiting
    }
  }

  private func makeIfMissing(_ folder: String) throws(StoreError) {
    try folders.withLock { folders throws(StoreError) in
      guard !folders.lasting.contains(folder), !folders.fresh.contains(folder) else { return }
      do throws(SystemError) { try Folder.create(folder) } catch { throw StoreError(error) }
      folders.fresh.insert(folder)
    }
  }

  /// Flushes folders, several at once: the disk does what waits together in one go.
  /// - Returns: what failed, by folder.
  private func flushEach(_ folders: Set<String>) -> [String: SystemError] {
    let failures = Mutex<[String: SystemError]>([:])
    let group = DispatchGroup()
    for folder in folders {
      flushers.next.async(group: group) { [seams] in
        do throws(SystemError) {
          try seams.before(.flushFolder)
          try Folder.synchronize(folder)
        } catch {
          failures.withLock { $0[folder] = error }
        }
      }
    }
    group.wait()
    return failures.withLock { $0 }
  }

  /// Flushes the folders of one round, and the folder above where one of them is new.
  /// - Returns: what failed, by folder.
  private func flush(_ changed: Set<String>) -> [String: SystemError] {
    var failures = flushEach(changed)
    folders.withLock { folders in
      guard !folders.fresh.isEmpty else { return }
      do throws(SystemError) {
        try Folder.synchronize(shelf.bundles)
        folders.lasting.formUnion(folders.fresh)
        folders.fresh = []
      } catch {
        for folder in folders.fresh where failures[folder] == nil { failures[folder] = error }
      }
    }
    return failures
  }
}
