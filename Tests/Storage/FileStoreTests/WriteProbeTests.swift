import Dispatch
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

@testable import FileStore

/// Whether a store can write, and what it reports about files if the disk fails.
@Suite struct WriteProbeTests {
  @Test func `a store that can write has no fault, and leaves nothing behind`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    #expect(await store.fault() == nil)
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    await store.close()
  }

  @Test(arguments: [
    (EROFS, StorageFault.readOnly), (EIO, .failing), (ENOSPC, .outOfSpace), (EDQUOT, .outOfSpace),
  ])
  func `each failure has its fault`(code: Int32, fault: StorageFault) async {
    let probe = WriteProbe(on: DispatchQueue(label: "probe")) { () throws(StoreError) in
      throw StoreError(SystemError(operation: "open", path: "/secret", code: code))
    }
    #expect(await probe.fault() == fault)
  }

  @Test(arguments: [99, 100, 101] as [Int64]) func `the reserve counts as full`(available: Int64) async throws
  {
    let storage = try StorageFixture()
    let faults = FaultInjection(availableBytes: { _ in available })
    let store = try await storage.open({ $0.reserve = 100 }, faults: faults)
    #expect(await store.fault() == (available < 100 ? .outOfSpace : nil))
    await store.close()
  }

  @Test func `a folder that accepts no file is a fault, until it does`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let uploads = storage.path + "/uploads"
    try Folder.remove(uploads)
    #expect(await store.fault() == .failing)
    await store.close()
    let again = try await storage.open()
    #expect(await again.fault() == nil)
    await again.close()
  }

  @Test func `a result is reused for a while`() async {
    let writes = Lock(0)
    let kept = WriteProbe(on: DispatchQueue(label: "probe"), lifetime: .seconds(600)) {
      () throws(StoreError) in
      writes.add(1)
    }
    for _ in 0..<3 { #expect(await kept.fault() == nil) }
    #expect(writes.value == 1)
    let fresh = WriteProbe(on: DispatchQueue(label: "probe"), lifetime: .zero) { () throws(StoreError) in
      writes.add(1)
    }
    for _ in 0..<3 { #expect(await fresh.fault() == nil) }
    #expect(writes.value == 4)
  }

  @Test func `a disk that does not respond is reported, and probed once`() async {
    let gate = DispatchSemaphore(value: 0)
    let writes = Lock(0)
    let probe = WriteProbe(on: DispatchQueue(label: "probe"), lifetime: .zero, patience: .milliseconds(10)) {
      () throws(StoreError) in
      writes.add(1)
      gate.wait()
    }
    for _ in 0..<3 { #expect(await probe.fault() == .notAnswering) }
    #expect(writes.value == 1)
    gate.signal()
  }

  /// `lstat` of a path below a symbolic link to itself fails with `ELOOP`, for every user.
  @Test func `a file whose state is unknown is neither absent nor deleted`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    await store.close()
    let reopened = try await storage.open()
    let shard = "\(storage.path)/bundles/\(sample.id.description.prefix(2))"
    try Folder.replace(shard + ".away", with: shard)
    try #require(symlink(shard, shard) == 0)
    #expect(await failure { _ = try await reopened.record(sample.id) } == "system")
    #expect(await failure { _ = try await reopened.open(sample.id) } == "system")
    #expect(await failure { try await reopened.delete(sample.id) } == "system")
    #expect(await failure { try await reopened.setAside(sample.id) } == "system")
    #expect(await failure { try await reopened.upload(sample) } == "system")
    try Folder.remove(shard)
    try Folder.replace(shard, with: shard + ".away")
    #expect(try await reopened.open(sample.id).contents == sample.bytes)
    await reopened.close()
  }
}
