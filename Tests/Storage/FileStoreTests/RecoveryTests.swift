import Logging
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct RecoveryTests {
  @Test func `closing does not wait until all uploads are restored`() async throws {
    let (began, begin) = AsyncStream<Void>.makeStream()
    let recovery = try makeRecovery { requireOpen throws(SystemError) in
      begin.yield()
      // Without an end, as with very many uploads.
      while true { try requireOpen() }
    }
    let (ended, end) = AsyncStream<SystemError?>.makeStream()
    let repair = Task<Void, Never> { end.yield(await recovery.repairInBackground(.uploads)) }
    for await _ in began { break }
    await recovery.close(ending: repair)
    for await failure in ended {
      #expect(failure?.operation == "flock")
      break
    }
  }

  @Test func `uploads whose restoration was stopped are found by the next one`() throws {
    let folder = try TemporaryFolder()
    let layout = StorageLayout(root: folder.path)
    try Folder.create(layout.uploads)
    let names = ["a", "b", "c"]
    for name in names { _ = try File("\(layout.uploads)/\(name)", .create(mode: 0o600)) }
    let recovery = UploadRecovery(layout: layout, logger: .quiet, names: names)
    var steps = 0
    #expect(throws: SystemError.self) {
      try recovery.run { () throws(SystemError) in
        steps += 1
        if steps > 1 { throw .closed(layout) }
      }
    }
    #expect(try Folder.entries(layout.uploads).count == 2)
    _ = try recovery.run {}
    #expect(try Folder.entries(layout.uploads) == [])
  }

  private func makeRecovery(_ restoreUploads: @escaping Recovery.RestoreUploads) throws -> Recovery {
    let folder = try TemporaryFolder()
    let storage = StorageFolder(
      StorageLayout(root: folder.path), faults: FaultInjection(), logger: .quiet,
      flusher: Flusher(on: QueueSet("flusher", count: 1), flushAll: nil),
      quotaTracker: QuotaTracker(StoreUsage(), quota: nil),
      reserve: 0)
    return Recovery([.uploads], of: storage, on: ServerQueues(), restoreUploads: restoreUploads)
  }
}
