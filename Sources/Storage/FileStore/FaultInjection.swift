import SystemIO

/// The steps of every change to the storage. Each is announced just before it is done.
enum Step: CaseIterable, Hashable, Sendable {
  case writeRecord, flushFiles, announceRecord, publishBundle, publishRecord, writeTombstone, flushFolder
  case removeBundle, removeRecord
  case stageRecord, flushRecord, replaceRecord, setAside
  case repairShard, repairUploads, repairInBackground
  case openUpload, flushUpload, flushPart, writeProgress, flushProgress, forgetUpload, removePart
}

/// Hooks for tests: they can make a step fail, and simulate the free space and folders that were changed.
struct FaultInjection: Sendable {
  var before: @Sendable (Step) throws(SystemError) -> Void = { _ in }
  var availableBytes: @Sendable (String) throws(SystemError) -> Int64 = { path throws(SystemError) in
    try Folder.availableBytes(path)
  }
  /// Identifies a state of a folder's list of names; `nil` if there is no such folder.
  var stamp: @Sendable (String) throws(SystemError) -> String? = { path throws(SystemError) in
    try Folder.stamp(path)?.description
  }
}
