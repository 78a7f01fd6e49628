import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Whatever stops a store at whatever step of a change: the record is the old one or the new one, and whole.
@Suite struct FileBundleStoreChangeCrashTests {
  private static let change: [Step] = [.stageRecord, .flushRecord, .replaceRecord, .flushFolder]
  private static let pin = RecordChange(isPinned: true, end: .at(Date(timeIntervalSince1970: 1_900_000_000)))

  @Test func `a change that is cut short at any step is made or not begun`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle()
    let former = try await store.upload(sample).record
    _ = probe.takeSeen()
    probe.copyStates(of: storage.path, below: storage.folder.path)
    let changed = try await store.change(Self.pin, of: sample.id)
    #expect(changed.isPinned && changed != former)
    #expect(probe.takeSeen() == Self.change)
    for step in Self.change {
      let path = "\(storage.folder.path)/\(step)"
      let reopened = try await storage.open(at: path)
      let record = try await reopened.record(sample.id)
      #expect(record == (step == .flushFolder ? changed : former))
      #expect(try await reopened.open(sample.id).contents == sample.bytes)
      #expect(try Folder.entries(path + "/uploads").isEmpty)
      #expect(try await reopened.change(Self.pin, of: sample.id) == changed)
    }
  }

  @Test(arguments: change)
  func `a change that can't be kept leaves a record and nothing staged`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    #expect(await failure { try await store.change(Self.pin, of: sample.id) } == "system")
    #expect(try await store.record(sample.id).id == sample.id)
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    probe.stopFailing()
    #expect(try await store.change(Self.pin, of: sample.id).isPinned)
  }

  @Test func `a change that changes nothing writes nothing`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle()
    try await store.upload(sample)
    try await store.change(Self.pin, of: sample.id)
    _ = probe.takeSeen()
    try await store.change(Self.pin, of: sample.id)
    #expect(probe.takeSeen() == [.flushFolder])
  }

  @Test func `a pin that comes while checksums are looked at is not lost`() async throws {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let store = try await storage.open { configuration in
      configuration.onVerification = { heard.yield($0) }
      configuration.admission.validate = { zip, depth throws(BundleError) in
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

  @Test func `what is set aside is so after every crash, or not at all`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle()
    try await store.upload(sample)
    _ = probe.takeSeen()
    probe.copyStates(of: storage.path, below: storage.folder.path)
    try await store.setAside(sample.id)
    #expect(probe.takeSeen() == [.setAside, .flushFolder])
    for step in [Step.setAside, .flushFolder] {
      let reopened = try await storage.open(at: "\(storage.folder.path)/\(step)")
      let isAside = step == .flushFolder
      #expect(try await reopened.record(sample.id).verified == (isAside ? .damaged : .intact))
      #expect(await failure { _ = try await reopened.open(sample.id) } == (isAside ? "damaged" : nil))
      #expect(reopened.usage == StoreUsage(bundles: 1, bytes: Int64(sample.bytes.count)))
    }
  }

  @Test(arguments: [Step.setAside, .flushFolder])
  func `what can't be set aside for good stays in use`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    #expect(await failure { try await store.setAside(sample.id) } == "system")
    #expect(try await store.open(sample.id).contents == sample.bytes)
    #expect(try await store.record(sample.id).verified == .intact)
  }

  @Test func `a repair that is cut short at any step is made or not begun`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    try await store.setAside(sample.id)
    _ = probe.takeSeen()
    probe.copyStates(of: storage.path, below: storage.folder.path)
    try await store.upload(sample)
    let steps: [Step] = [.writeRecord, .flushFiles, .publishBundle, .flushFolder]
    #expect(probe.takeSeen() == steps)
    #expect(!Folder.exists(storage.file(sample.id, "damaged")))
    #expect(store.usage == StoreUsage(bundles: 1, bytes: Int64(sample.bytes.count)))
    for step in steps {
      let path = "\(storage.folder.path)/\(step)"
      let reopened = try await storage.open(at: path)
      #expect(
        await failure { _ = try await reopened.open(sample.id) } == (step == .flushFolder ? nil : "damaged"))
      #expect(reopened.usage == StoreUsage(bundles: 1, bytes: Int64(sample.bytes.count)))
      try await reopened.upload(sample)
      #expect(try await reopened.open(sample.id).contents == sample.bytes)
      #expect(try storage.entries(of: path).filter { $0.hasSuffix(".damaged") }.isEmpty)
    }
  }

  @Test(arguments: [Step.publishBundle, .flushFolder])
  func `a repair that fails leaves what was set aside`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
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

  @Test func `a damaged record is told so, is on no list, and can be deleted`() async throws {
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
