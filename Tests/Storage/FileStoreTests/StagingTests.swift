import Foundation
import Logging
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct StagingTests {
  @Test func `staged files are removed even if no descriptor is left`() async {
    await #expect(processExitsWith: .success) {
      let folder = try TemporaryFolder()
      let layout = StorageLayout(root: folder.path)
      try Folder.create(layout.uploads)
      let storage = StorageFolder(
        layout, faults: FaultInjection(), logger: .quiet,
        flusher: Flusher(on: QueueSet("flusher", count: 1), flushAll: nil),
        quotaTracker: QuotaTracker(StoreUsage(), quota: nil), reserve: 0)
      let staging = ArrivingBytes(
        layout.newStaged(), on: DispatchQueue(label: "test"), in: storage, isTransient: true)
      try staging.write(IOBuffer([1, 2, 3]))
      let record = try File(staging.names.record, .create(mode: 0o600))
      var limit = rlimit()
      getrlimit(openFiles, &limit)
      let former = limit.rlim_cur
      limit.rlim_cur = 0
      setrlimit(openFiles, &limit)
      #expect(throws: SystemError.self) { try File(record.path) }
      #expect(throws: Never.self) { try staging.names.remove() }
      limit.rlim_cur = former
      setrlimit(openFiles, &limit)
      #expect(try Folder.entries(layout.uploads) == [])
    }
  }
}

#if canImport(Darwin)
  private let openFiles = RLIMIT_NOFILE
#else
  private let openFiles = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
#endif
