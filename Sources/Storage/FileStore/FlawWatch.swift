import Logging
import SnapshotStore
import SystemIO

/// Looks for flaws of a storage folder while a store uses it, for example because a disk was unmounted. Logs when one
/// appears, and when it is gone.
final class FlawWatch: Sendable {
  private struct State {
    var hasKeys = false
    var flaw: StorageFlaw?
  }

  private let layout: StorageLayout
  private let logger: Logger
  private let state = Lock(State())

  init(_ layout: StorageLayout, logger: Logger) {
    self.layout = layout
    self.logger = logger
  }

  /// The first flaw; `nil` if there is none. Blocks.
  func fault() throws(SystemError) -> StorageFault? {
    let misplaced = try StorageFlaw.misplaced(in: layout.root)
    let hasBundles = try Folder.exists(layout.bundles)
    let hasKeys = try Folder.exists(layout.keys)
    return state.withLock { state in
      // The keys are made after the store was opened, and are never removed.
      state.hasKeys = state.hasKeys || hasKeys
      let missing = !hasBundles ? "bundles" : state.hasKeys && !hasKeys ? "keys" : nil
      let flaw = misplaced.first ?? missing.map { StorageFlaw($0, .missing, in: layout.root) }
      if flaw != state.flaw {
        if let flaw {
          logger.error("\(flaw)")
        } else {
          logger.notice("The storage folder is as it must be again")
        }
      }
      state.flaw = flaw
      return flaw.map { StorageFault($0.reason == .missing ? .missing : .misplaced, name: $0.name) }
    }
  }
}
