import SnapshotStore
import Synchronization
import SystemIO

/// The folders in `bundles/`: made when they are first wanted, and flushed when what they hold has changed.
final class Folders: Sendable {
  private struct State {
    /// Those whose own names would survive a power cut.
    var lasting: Set<String>
    /// Those that were made since.
    var fresh: Set<String> = []
  }

  private let shelf: Shelf
  private let flusher: Flusher
  private let state: Mutex<State>

  init(_ shelf: Shelf, _ flusher: Flusher, lasting: Set<String>) {
    self.shelf = shelf
    self.flusher = flusher
    state = Mutex(State(lasting: lasting))
  }

  var lasting: Set<String> { state.withLock { $0.lasting } }

  func makeIfMissing(_ folder: String) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      guard !state.lasting.contains(folder), !state.fresh.contains(folder) else { return }
      do throws(SystemError) { try Folder.create(folder) } catch { throw StoreError(error) }
      state.fresh.insert(folder)
    }
  }

  /// Flushes the folders of one round's changes, and the folder above where one of them is new; blocks.
  /// - Returns: what failed, by folder.
  func flush(_ changed: [String]) -> [String: SystemError] {
    let fresh = state.withLock { $0.fresh }
    let names = Set(changed).sorted() + (fresh.isEmpty ? [] : [shelf.bundles])
    let flushes: [Flusher.Flush] = names.map { name in
      { () throws(SystemError) in try Folder.synchronize(name) }
    }
    var failures: [String: SystemError] = [:]
    for (name, failure) in zip(names, flusher.flush(flushes, .flushFolder, together: changed.count > 1)) {
      failures[name] = failure
    }
    if let failure = failures.removeValue(forKey: shelf.bundles) {
      for folder in fresh where failures[folder] == nil { failures[folder] = failure }
    } else {
      state.withLock { state in
        state.lasting.formUnion(fresh)
        state.fresh.subtract(fresh)
      }
    }
    return failures
  }
}
