import Foundation
import SnapshotStore
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

  private let shelf: Shelf
  private let folders: Folders
  private let rounds: Rounds<Waiting>

  /// - Parameter folders: those in `bundles/` that would survive a power cut.
  init(_ shelf: Shelf, flusher: Flusher, folders: Set<String>) {
    let folders = Folders(shelf, flusher, lasting: folders)
    self.shelf = shelf
    self.folders = folders
    rounds = Rounds("committer") { round in
      let begun = round.compactMap { waiting in waiting.begin().map { (folder: waiting.folder, finish: $0) } }
      let failures = folders.flush(begun.map(\.folder))
      for (folder, finish) in begun { finish(failures[folder]) }
    }
  }

  /// Makes a change in `folder`, which is made when it is missing; returns when the change lasts.
  func perform<Outcome: Sendable>(
    in folder: String, _ change: @escaping @Sendable () throws(StoreError) -> Change<Outcome>
  ) async throws(StoreError) -> Outcome {
    let result: Result<Outcome, StoreError> = await withCheckedContinuation { continuation in
      let waiting = Waiting(folder: folder) { [folders] in
        do throws(StoreError) {
          try folders.makeIfMissing(folder)
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
      if !rounds.add(waiting) { continuation.resume(returning: .failure(closed)) }
    }
    return try result.get()
  }

  /// Refuses every change from now on; returns when those that were accepted are done.
  func close() async {
    await rounds.close()
  }

  /// The folders in `bundles/` that would survive a power cut.
  var lastingFolders: Set<String> { folders.lasting }

  /// Throws once the store is closed.
  func requireOpen() throws(StoreError) {
    if rounds.isClosed { throw closed }
  }

  private var closed: StoreError {
    .system(SystemError(operation: "flock", path: shelf.lock, code: POSIXErrorCode.EBADF.rawValue))
  }
}
