import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct CommitterTests {
  @Test func `changes and files that wait at the same time share one flush`() async throws {
    let storage = try StorageFixture()
    let flushes = Lock(0)
    let layout = StorageLayout(root: storage.path)
    try Folder.create(layout.bundles)
    let flusher = Flusher(on: QueueSet("flusher", count: 1)) { flushes.withLock { $0 += 1 } }
    let committer = Committer(layout, faults: FaultInjection(), folders: [], flusher: flusher)
    let folder = layout.bundles + "/3f"
    let missing = layout.bundles + "/none"
    let tasks = try await committer.perform(in: folder) { () throws(StoreError) in
      // Each of these is in the queue when `Task.immediate` returns, and the first round has already begun.
      let tasks = (0..<64).map { index in
        Task.immediate {
          if index % 2 == 0 {
            // A flush of its own would fail.
            try await flusher.flush([.folder(missing)], since: flusher.epoch)
            return index
          }
          return try await committer.perform(in: folder) { () throws(StoreError) in
            Committer.Change(outcome: index)
          }
        }
      }
      return Committer.Change(outcome: tasks)
    }
    var outcomes: [Int] = []
    for task in tasks { outcomes.append(try await task.value) }
    #expect(outcomes == Array(0..<64))
    #expect(flushes.withLock { $0 } == 1)
  }

  @Test func `a failed flush reverts every change of its round in that folder and none in others`()
    async throws
  {
    let storage = try StorageFixture()
    let layout = StorageLayout(root: storage.path)
    try Folder.create(layout.bundles)
    let committer = Committer(
      layout, faults: FaultInjection(), folders: [],
      flusher: Flusher(on: QueueSet("flusher", count: 1), flushAll: nil))
    let (gone, kept) = (layout.bundles + "/3f", layout.bundles + "/40")
    let (taken, taking) = AsyncStream<String>.makeStream()
    let tasks = try await committer.perform(in: kept) { () throws(StoreError) in
      let tasks = [gone, kept, gone].map { folder in
        Task.immediate {
          await failure {
            try await committer.perform(in: folder) { () throws(StoreError) in
              do throws(SystemError) { try Folder.removeTree(gone) } catch { throw StoreError(error) }
              return Committer.Change(outcome: ()) {
                taking.yield("settled")
              } undo: {
                taking.yield("undone")
              }
            }
          }
        }
      }
      return Committer.Change(outcome: tasks)
    }
    var outcomes: [String?] = []
    for task in tasks { outcomes.append(await task.value) }
    taking.finish()
    #expect(outcomes == ["system", nil, "system"])
    #expect(await taken.reduce(into: []) { $0.append($1) } == ["undone", "settled", "undone"])
  }

  @Test func `a closed committer refuses changes`() async throws {
    let storage = try StorageFixture()
    let committer = Committer(
      StorageLayout(root: storage.path), faults: FaultInjection(), folders: [],
      flusher: Flusher(on: QueueSet("flusher", count: 1), flushAll: nil))
    await committer.close()
    let outcome = await failure {
      try await committer.perform(in: storage.path) { () throws(StoreError) in Committer.Change(outcome: ()) }
    }
    #expect(outcome == "system")
    #expect(try !Folder.exists(storage.path))
  }
}
