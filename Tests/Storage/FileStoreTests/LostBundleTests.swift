import Foundation
import Logging
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// A bundle was published, and its file is gone.
@Suite struct LostBundleTests {
  private let storage: StorageFixture
  private let samples = ["3f000000", "3f000001", "40000000"].map { digits in
    SampleBundle(id: SnapshotID("\(digits)-0000-4000-8000-000000000000") ?? SnapshotID(), count: 1000)
  }
  private var lost: SampleBundle { samples[0] }
  /// The usage while ``lost`` is known to be lost.
  private var remaining: StoreUsage {
    StoreUsage(
      bundles: 2, bytes: Int64(samples[1].bytes.count + samples[2].bytes.count), lost: 1)
  }

  init() throws { storage = try StorageFixture() }

  /// Leaves a storage with the samples.
  private func fill() async throws {
    let store = try await storage.open()
    for sample in samples { try await store.upload(sample) }
    await store.close()
  }

  private func removeBundle() throws { try Folder.remove(storage.file(lost.id, "zip")) }

  @Test func `every start reports it, its record stays, and the same bytes repair it`() async throws {
    try await fill()
    try removeBundle()
    // The second start finds what the first one has left.
    for _ in 0..<2 {
      let (log, (records, heard)) = (CapturedLog(), AsyncStream<SnapshotRecord>.makeStream())
      var configuration = FileBundleStore.Configuration(path: storage.path, validator: .samples, reserve: 0)
      configuration.onVerification = { heard.yield($0) }
      let store = try await FileBundleStore.open(configuration, logger: Logger(label: "test") { _ in log })
      await store.recovered()
      #expect(
        log.lines.contains { $0.hasPrefix("error The files of published") && $0.contains("\(lost.id)") })
      #expect(store.usage == remaining)
      #expect(await failure { _ = try await store.open(lost.id) } == "damaged")
      let record = try await store.record(lost.id)
      #expect(record.verified == .damaged)
      // The catalogue learns about it.
      #expect(await records.first { _ in true } == record)
      #expect(try await store.ids(in: SnapshotShard(of: lost.id)) == samples.prefix(2).map(\.id))
      #expect(try await store.allRecords().count == 3)
      #expect(await store.close() == nil)
    }

    let store = try await storage.open()
    let other = SampleBundle(id: lost.id, filling: "other")
    #expect(await failure { try await store.upload(other) } == "conflict")
    #expect(try await store.upload(lost, expected: true).record.verified == .intact)
    #expect(try await store.open(lost.id).contents == lost.bytes)
    #expect(store.usage.lost == 0 && store.usage.bundles == 3)
    #expect(await store.close() != nil)
    let next = try await storage.open()
    #expect(next.seal != nil && next.usage.bundles == 3)
  }

  @Test func `bytes that repair it stay in use, although its loss is recorded later`() async throws {
    try await fill()
    for sample in samples.prefix(2) { try Folder.remove(storage.file(sample.id, "zip")) }
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let isRepaired = Signal()
    let store = try await storage.open({ configuration in
      configuration.onVerification = { record in
        heard.yield(record)
        // The loss of the other one is recorded after this.
        await isRepaired.wait()
      }
    })
    var losses = records.makeAsyncIterator()
    let first = try #require(await losses.next())
    #expect(first.verified == .damaged)
    // The recovery has found the other loss, too, before the bytes are there again.
    await store.recovered()
    await store.verification.queue.perform {}
    let other = try #require(samples.prefix(2).first { $0.id != first.id })
    #expect(try await store.upload(other, expected: true).record.verified == .intact)
    isRepaired.fire()
    #expect(await losses.next()?.verified == .intact)
    #expect(try await store.open(other.id).contents == other.bytes)
    #expect(store.usage.lost == 1)
    await store.close()
  }

  @Test func `a scrub finds it, also if the catalogue and the note of the clean stop know nothing`()
    async throws
  {
    try await fill()
    let store = try await storage.open()
    try removeBundle()
    #expect(store.usage.lost == 0)
    let catalog = InMemoryCatalog()
    let scrubber = Scrubber(.init(bytesPerSecond: 1 << 30), store: store, catalog: catalog)
    let report = try #require(try await scrubber.run())
    #expect(report.damagedSnapshots == [lost.id] && report.bundles == 3)
    #expect(catalog.record(lost.id)?.verified == .damaged)
    #expect(store.usage == remaining)
    #expect(await store.close() == nil)
  }

  @Test func `a request finds it, and a file that was copied back ends it`() async throws {
    try await fill()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.file(lost.id, "zip"), toPath: copy)
    try removeBundle()
    for _ in 0..<2 { #expect(await failure { _ = try await store.open(lost.id) } == "damaged") }
    #expect(store.usage == remaining)
    #expect(await records.first { _ in true }?.verified == .damaged)

    try FileManager.default.copyItem(atPath: copy, toPath: storage.file(lost.id, "zip"))
    #expect(try await store.open(lost.id).contents == lost.bytes)
    _ = try await store.openAnew(lost.id)
    #expect(await records.first { _ in true }?.verified == .intact)
    #expect(store.usage.lost == 0 && store.usage.bundles == 3)
    #expect(await store.close() != nil)
  }

  @Test(arguments: [true, false])
  func `it can be deleted, and is not counted then`(isKnown: Bool) async throws {
    try await fill()
    let store = try await storage.open()
    try removeBundle()
    if isKnown { _ = await failure { _ = try await store.open(lost.id) } }
    try await store.delete(lost.id)
    #expect(await failure { _ = try await store.record(lost.id) } == "deleted")
    var usage = remaining
    usage.lost = 0
    #expect(store.usage == usage)
    #expect(try Folder.entries(storage.path + "/bundles/3f").filter { $0.contains("\(lost.id)") }.count == 1)
    #expect(await store.close() != nil)
  }

  @Test func `a repair of it is counted once, also if nothing has noticed it before`() async throws {
    try await fill()
    let store = try await storage.open()
    let usage = store.usage
    try removeBundle()
    try await store.upload(lost)
    #expect(store.usage == usage)
  }

  @Test func `bytes that were checked before a bundle went out of use do not repair it unchecked`()
    async throws
  {
    try await fill()
    let path = (storage.file(lost.id, "zip"), storage.file(lost.id, "damaged"))
    let changes = Lock(1)
    // The bundle is set aside when the upload has been checked in part, and before it is published.
    let faults = FaultInjection(failure: { step in
      guard step == .flushFiles,
        changes.withLock({ left in
          defer { left -= 1 }
          return left > 0
        })
      else { return nil }
      do throws(SystemError) { try Folder.publish(path.0, as: path.1) } catch { return error }
      return nil
    })
    let store = try await storage.open(faults: faults)
    #expect(await failure { try await store.upload(lost, expected: true) } == "damaged")
    #expect(await failure { _ = try await store.open(lost.id) } == "damaged")
    #expect(try await store.upload(lost, expected: true).record.verified == .intact)
    #expect(try await store.open(lost.id).contents == lost.bytes)
  }

  @Test func `the names of a storage tell it, also beside a server`() async throws {
    try await fill()
    #expect(try LostBundles(in: storage.path, naming: 5).count == 0)
    for sample in samples.prefix(2) { try Folder.remove(storage.file(sample.id, "zip")) }
    // A bundle that is set aside, a deleted one and one that is being published are not lost.
    try Folder.publish(storage.file(samples[2].id, "zip"), as: storage.file(samples[2].id, "damaged"))
    for (digits, suffixes) in [("40000001", ["new"]), ("40000002", ["json", "deleted"])] {
      for suffix in suffixes {
        _ = try File(
          "\(storage.path)/bundles/40/\(digits)-0000-4000-8000-000000000000.\(suffix)", .create(mode: 0o600))
      }
    }
    let found = try LostBundles(in: storage.path, naming: 1)
    #expect(found.count == 2 && found.first == [lost.id])
  }

  // MARK: Publication

  @Test func `a bundle is not published before its record has its name`() async throws {
    let layout = StorageLayout(root: storage.path)
    let id = lost.id
    let seen = Lock<[Step: String]>([:])
    let store = try await storage.open(
      faults: FaultInjection(failure: { step in
        do throws(StoreError) {
          try layout.requirePublished(id)
          seen.withLock { $0[step] = "published" }
        } catch {
          seen.withLock { $0[step] = error.word }
        }
        return nil
      }))
    try await store.upload(lost)
    #expect(seen.withLock { $0[.publishBundle] } == "notFound")
    #expect(seen.withLock { $0[.publishRecord] } == "notFound")
    #expect(seen.withLock { $0[.flushFolder] } == "published")
  }

  @Test func `a publication that a crash has interrupted is completed, or leaves nothing`() async throws {
    try await fill()
    for sample in samples.prefix(2) {
      try Folder.publish(storage.file(sample.id, "json"), as: storage.file(sample.id, "new"))
    }
    try removeBundle()
    let store = try await storage.open()
    #expect(await failure { _ = try await store.record(lost.id) } == "notFound")
    #expect(try await store.open(samples[1].id).contents == samples[1].bytes)
    #expect(store.usage == StoreUsage(bundles: remaining.bundles, bytes: remaining.bytes))
    #expect(
      try Folder.entries(storage.path + "/bundles/3f") == ["\(samples[1].id).json", "\(samples[1].id).zip"])
    guard case .created = try await store.upload(lost) else {
      Issue.record("the UUID was taken")
      return
    }
  }

  @Test func `a resumable upload whose publication was interrupted has its outcome`() async throws {
    let probe = StepProbe()
    let store = try await storage.open(faults: probe.faults)
    let id = try await store.createUpload(.of(lost)).id
    try await store.append(lost.bytes, to: id)
    probe.fail(.flushProgress)
    _ = try await store.commitUpload(id, as: .of(lost))
    let copy = try storage.copyAfterCrash()
    let record = "\(copy)/bundles/3f/\(lost.id)"
    try Folder.publish(record + ".json", as: record + ".new")
    // The upload is restored before its shard is repaired.
    let restoring = StepProbe()
    restoring.fail(.repairInBackground)
    let reopened = try await storage.open(faults: restoring.faults, at: copy, waits: false)
    #expect(try await reopened.uploadSession(id).outcome == .published(lost.id, isNew: true))
    #expect(try await reopened.open(lost.id).contents == lost.bytes)
    await reopened.close()
  }
}
