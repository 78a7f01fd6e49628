package import SystemIO

/// The steps of every change to the storage. Each is announced just before it is done.
package enum Step: CaseIterable, Hashable, Sendable {
  case writeRecord, flushFiles, announceRecord, publishBundle, publishRecord, writeTombstone, flushFolder
  case removeBundle, removeRecord
  case stageRecord, flushRecord, replaceRecord, setAside
  case repairShard, repairUploads, repairInBackground
  case openUpload, flushUpload, flushPart, writeProgress, flushProgress, forgetUpload, removePart
}

/// Hooks for tests: they can make a step fail, and simulate the free space and folders that were changed.
package struct FaultInjection: Sendable {
  private let failure: @Sendable (Step) -> SystemError?
  let availableBytes: @Sendable (String) throws(SystemError) -> Int64
  let stamp: @Sendable (String) throws(SystemError) -> String?

  /// Creates hooks that change nothing, except for those that are given.
  /// - Parameters:
  ///   - failure: is called before each step, and returns the error that the step fails with, if it fails.
  ///   - availableBytes: the free space of the volume of a folder.
  ///   - stamp: identifies a state of a folder's list of names; `nil` if there is no such folder.
  package init(
    failure: @escaping @Sendable (Step) -> SystemError? = { _ in nil },
    availableBytes: @escaping @Sendable (String) throws(SystemError) -> Int64 = {
      path throws(SystemError) in try Folder.availableBytes(path)
    },
    stamp: @escaping @Sendable (String) throws(SystemError) -> String? = { path throws(SystemError) in
      try Folder.stamp(path)?.description
    }
  ) {
    (self.failure, self.availableBytes, self.stamp) = (failure, availableBytes, stamp)
  }

  /// Announces a step, which fails if a test wants it to.
  func before(_ step: Step) throws(SystemError) {
    if let error = failure(step) { throw error }
  }
}
