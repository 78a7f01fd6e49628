import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// A store opens without reading its bundles. After a crash it repairs each part before its first use.
@Suite struct FileBundleStoreOpeningTests {
  private let samples = ["3f000000", "40000000", "ff000000"].map { digits in
    SampleBundle(id: SnapshotID("\(digits)-0000-4000-8000-000000000000") ?? SnapshotID(), count: 1000)
  }

  private var usage: StoreUsage {
    StoreUsage(bundles: samples.count, bytes: samples.reduce(0) { $0 + Int64($1.bytes.count) })
  }

  /// A storage with the samples, whose store was closed.
  private func closed() async throws -> StorageFixture {
    let storage = try StorageFixture()
    let store = try await storage.open()
    for sample in samples { try await store.upload(sample) }
    await store.close()
    return storage
  }

  /// A copy of a storage with the samples, as a killed server left it.
  private func crashed() async throws -> (StorageFixture, copy: String) {
    let storage = try StorageFixture()
    let store = try await storage.open()
    for sample in samples { try await store.upload(sample) }
    return (storage, try storage.copyAfterCrash())
  }

  @Test func `after a clean stop no shard is read, and the usage is known`() async throws {
    let (storage, probe) = (try await closed(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    #expect(store.remainingRepairs == 0)
    #expect(store.seal != nil)
    #expect(probe.takeSeen() == [.repairInBackground, .repairUploads])
    #expect(store.usage == usage)
    for sample in samples { #expect(try await store.open(sample.id).contents == sample.bytes) }
    #expect(probe.takeSeen() == [])
  }

  @Test func `a new store needs no repair, also before its uploads are restored`()
    async throws
  {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    probe.fail(.repairInBackground)
    let store = try await storage.open(faults: probe.faults, waits: false)
    #expect(store.remainingRepairs == 0)
    #expect(store.usage == StoreUsage())
    #expect(await store.close() != nil)
    #expect(try await storage.open().seal != nil)
  }

  @Test func `after a crash every shard is repaired in the background`() async throws {
    let (storage, copy) = try await crashed()
    let probe = StepProbe()
    let store = try await storage.open(faults: probe.faults, at: copy)
    #expect(store.seal == nil)
    #expect(probe.takeSeen().count { $0 == .repairShard } == 3)
    #expect(store.usage == usage)
  }

  @Test func `a shard is repaired before its first use`() async throws {
    let (storage, copy) = try await crashed()
    let (id, probe) = (samples[0].id, StepProbe())
    // A deletion whose last steps were not done, and a record whose bundle was not published.
    try File("\(copy)/bundles/3f/\(id).deleted", .create(mode: 0o600)).synchronize()
    let other = "\(copy)/bundles/40/40000001-0000-4000-8000-000000000000.new"
    try File(other, .create(mode: 0o600)).synchronize()
    // Only operations repair shards here.
    for step in [Step.repairInBackground, .repairShard] { probe.fail(step) }
    let store = try await storage.open(faults: probe.faults, at: copy, waits: false)
    #expect(await failure { _ = try await store.record(id) } == "system")
    #expect(await failure { try await store.upload(samples[1]) } == "system")
    #expect(await failure { _ = try await store.ids(in: SnapshotShard(of: id)) } == "system")
    #expect(await failure { _ = try await store.records([id]) } == "system")
    #expect(store.remainingRepairs == 3)
    #expect(store.usage == StoreUsage())
    probe.stopFailing(.repairShard)
    #expect(await failure { _ = try await store.record(id) } == "deleted")
    #expect(try Folder.entries("\(copy)/bundles/3f") == ["\(id).deleted"])
    #expect(try Folder.exists(other))
    #expect(try await store.open(samples[1].id).contents == samples[1].bytes)
    #expect(try !Folder.exists(other))
    await store.close()
    // A store that was closed before it was repaired is repaired by the next one.
    #expect(try await storage.open(at: copy).usage.bundles == 2)
  }

  @Test func `with a quota an upload waits until all bundles are counted`() async throws {
    let (storage, copy) = try await crashed()
    let store = try await storage.open({ $0.quota = usage.bytes }, at: copy, waits: false)
    #expect(await failure { try await store.upload(SampleBundle()) } == "quotaExceeded")
    #expect(store.usage == usage)
  }

  @Test func `the uploads of a killed server are removed, and those that began since are not`() async throws {
    let storage = try StorageFixture()
    let sample = SampleBundle(count: 400_000)
    let killed = try await storage.open()
    let left = try await killed.beginUpload(expecting: nil)
    try await left.append(IOBuffer(sample.bytes))
    let resumable = try await killed.createUpload(.of(sample)).id
    let (copy, probe) = (try storage.copyAfterCrash(), StepProbe())
    probe.fail(.repairUploads)
    // An operation that joined a repair that fails in the background would fail with it.
    probe.fail(.repairInBackground)
    let store = try await storage.open(faults: probe.faults, at: copy, waits: false)
    #expect(await uploadFailure { _ = try await store.uploadSession(resumable) } == "store system")
    let upload = try await store.beginUpload(expecting: nil)
    try await upload.append(IOBuffer(sample.bytes))
    probe.stopFailing()
    #expect(try await store.uploadSession(resumable).offset == 0)
    _ = try await upload.commit(Attachment(report: .sample, id: sample.id))
    #expect(
      try Folder.entries(copy + "/uploads").allSatisfy { StorageLayout.upload(ofFile: $0) == resumable })
    await left.discard()
  }

  @Test func `the note of a clean stop is removed before the first change`() async throws {
    let (storage, probe) = (try await closed(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let note = storage.path + "/clean"
    _ = try await store.open(samples[0].id)
    #expect(try Folder.exists(note))
    probe.fail(.writeTombstone)
    #expect(await failure { try await store.delete(samples[0].id) } == "system")
    #expect(try !Folder.exists(note))
    await store.close()
    #expect(try Folder.exists(note))
  }

  @Test(arguments: ["added", "removed", "folder"])
  func `bundles that were changed by hand are found`(change: String) async throws {
    let storage = try await closed()
    let (id, copied) = (samples[0].id, "3f000001-0000-4000-8000-000000000000")
    switch change {
    case "added":
      for kind in ["zip", "json"] {
        try FileManager.default.copyItem(
          atPath: storage.file(id, kind), toPath: "\(storage.path)/bundles/3f/\(copied).\(kind)")
      }
    case "removed": for kind in ["zip", "json"] { try Folder.remove(storage.file(id, kind)) }
    default: try Folder.replace(storage.path + "/bundles/former", with: storage.path + "/bundles/3f")
    }
    let store = try await storage.open()
    #expect(store.seal == nil)
    #expect(store.usage.bundles == (change == "added" ? 4 : 2))
  }

  @Test func `a damaged note is ignored, and repairing can be requested`() async throws {
    let storage = try await closed()
    let probe = StepProbe()
    await (try storage.open({ $0.repairs = true }, faults: probe.faults)).close()
    #expect(probe.takeSeen().count { $0 == .repairShard } == 3)
    try File(storage.path + "/clean", .update).write([0xFF], at: 50)
    let store = try await storage.open(faults: probe.faults)
    #expect(probe.takeSeen().count { $0 == .repairShard } == 3)
    #expect(store.usage == usage)
  }

  @Test func `a failed cleanup is repaired by the next start`() async throws {
    let (storage, probe) = (try await closed(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    probe.fail(.removeBundle)
    try await store.delete(samples[0].id)
    #expect(await store.close() == nil)
    #expect(try await storage.open().usage.bundles == 2)
    #expect(try Folder.entries(storage.path + "/bundles/3f").count == 1)
  }

  @Test(arguments: [1, CleanStop.pendingLimit + 1])
  func `verifications that a clean stop left are resumed, also if there are many`(count: Int) async throws {
    let storage = try StorageFixture()
    let failing = try await storage.open { configuration in
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full {
          throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
        }
        return try SampleBundle.validate(zip, depth)
      }
    }
    try await withThrowingTaskGroup { group in
      for _ in 0..<count { group.addTask { _ = try await failing.upload(SampleBundle(), expected: true) } }
      try await group.waitForAll()
    }
    #expect(await failing.close() != nil)
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let probe = StepProbe()
    let store = try await storage.open({ $0.onVerification = { heard.yield($0) } }, faults: probe.faults)
    #expect(!probe.takeSeen().contains(.repairShard))
    var verified = 0
    for await record in records {
      #expect(record.verified == .intact)
      verified += 1
      if verified == count { break }
    }
    await store.close()
  }
}
