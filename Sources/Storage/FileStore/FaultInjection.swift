import SystemIO

/// The steps of every change, each announced just before it is done.
enum Step: CaseIterable, Hashable, Sendable {
  case writeRecord, flushFiles, publishRecord, publishBundle, writeTombstone, flushFolder
  case removeBundle, removeRecord
  case stageRecord, flushRecord, replaceRecord, setAside
  case openUpload, flushUpload, flushPart, writeProgress, flushProgress, forgetUpload, removePart
}

/// Where tests look in: the steps, which they may let fail, and the free space.
struct FaultInjection: Sendable {
  var before: @Sendable (Step) throws(SystemError) -> Void = { _ in }
  var availableBytes: @Sendable (String) throws(SystemError) -> Int64 = { path throws(SystemError) in
    try Folder.availableBytes(path)
  }
}
