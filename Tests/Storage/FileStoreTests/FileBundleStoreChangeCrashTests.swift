import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// If any step of a change fails, the record is either the old one or the new one, and complete.
@Suite struct FileBundleStoreChangeCrashTests {
  private static let change: [Step] = [.stageRecord, .flushRecord, .replaceRecord, .flushFolder]
  private static let pin = RecordChange(isPinned: true, end: .at(Date(timeIntervalSince1970: 1_900_000_000)))

  @Test func `the steps of a change are done in order`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    _ = probe.takeSeen()
    #expect(try await store.change(Self.pin, of: sample.id).isPinned)
    #expect(probe.takeSeen() == Self.change)
  }

  @Test(arguments: change)
  func `a change that fails leaves a record and no staged files`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    #expect(await failure { try await store.change(Self.pin, of: sample.id) } == "system")
    #expect(try await store.record(sample.id).id == sample.id)
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    probe.stopFailing()
    #expect(try await store.change(Self.pin, of: sample.id).isPinned)
  }

  @Test func `a change without effect writes nothing`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    try await store.change(Self.pin, of: sample.id)
    _ = probe.takeSeen()
    try await store.change(Self.pin, of: sample.id)
    #expect(probe.takeSeen() == [.flushFolder])
  }

  @Test func `a pin that is set during a verification is not lost`() async throws {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let store = try await storage.open { configuration in
      configuration.onVerification = { heard.yield($0) }
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full { gate.wait() }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let sample = SampleBundle()
    try await store.upload(sample, expected: true)
    try await store.change(RecordChange(isPinned: true), of: sample.id)
    gate.signal()
    let verified = try #require(await records.first { _ in true })
    #expect(verified.isPinned && verified.verified == .intact)
    #expect(try await store.record(sample.id) == verified)
  }

  @Test(arguments: [Step.setAside, .flushFolder])
  func `a bundle that can't be set aside durably stays in use`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    #expect(await failure { try await store.setAside(sample.id) } == "system")
    #expect(try await store.open(sample.id).contents == sample.bytes)
    #expect(try await store.record(sample.id).verified == .intact)
  }

  @Test func `the steps of a repair are done in order, and the damaged file is removed`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    _ = probe.takeSeen()
    try await store.setAside(sample.id)
    #expect(probe.takeSeen() == [.setAside, .flushFolder])
    try await store.upload(sample)
    #expect(probe.takeSeen() == [.writeRecord, .flushFiles, .publishBundle, .flushFolder])
    #expect(try !Folder.exists(storage.file(sample.id, "damaged")))
    #expect(store.usage == StoreUsage(bundles: 1, bytes: Int64(sample.bytes.count)))
  }

  @Test(arguments: [Step.publishBundle, .flushFolder])
  func `a repair that fails leaves the bundle set aside`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    try await store.setAside(sample.id)
    probe.fail(step)
    #expect(await failure { try await store.upload(sample) } == "system")
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(try await store.record(sample.id).verified == .damaged)
    probe.stopFailing()
    try await store.upload(sample)
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `a damaged record is reported, is not listed, and can be deleted`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    let path = storage.file(sample.id, "json")
    var bytes = try File(path).read(upTo: 4096, at: 0)
    bytes[bytes.count / 2] ^= 1
    try File(path, .update).write(bytes, at: 0)
    #expect(await failure { _ = try await store.record(sample.id) } == "damaged")
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(await failure { try await store.change(Self.pin, of: sample.id) } == "damaged")
    #expect(try await store.allRecords().isEmpty)
    #expect(try await store.ids(in: SnapshotShard(of: sample.id)) == [sample.id])
    try await store.delete(sample.id)
    #expect(try storage.entries().filter { $0.contains("\(sample.id)") }.count == 1)
  }
}
