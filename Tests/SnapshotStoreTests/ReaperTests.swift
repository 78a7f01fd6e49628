import Foundation
import SnapshotFormat
import SnapshotStore
import Synchronization
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct ReaperTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_100)

  private static func reaper(
    _ store: any BundleStore, _ catalog: any Catalog = InMemoryCatalog(),
    _ limits: RetentionRules.Limits = RetentionRules.Limits(age: TimeSpan("1m")),
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in },
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in }
  ) -> Reaper {
    Reaper(
      RetentionRules(limits), store: store, catalog: catalog, now: { now }, onExpiration: onExpiration,
      onFailure: onFailure)
  }

  private static func ids(_ catalog: InMemoryCatalog) async throws -> [SnapshotID] {
    try await catalog.records(of: nil, page: PageRequest()).records.map(\.id)
  }

  @Test(arguments: StoreKind.allCases)
  func `what is to go goes from store and catalogue, what is pinned stays`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let catalog = InMemoryCatalog()
      var samples = (0..<4).map { SampleBundle(filling: "\($0)") }
      for sample in samples { try await catalog.insert(try await store.upload(sample).record) }
      try await store.change(RecordChange(isPinned: true), of: samples[0].id)
      let kept = samples.removeFirst()
      let told = Mutex<[Expiration]>([])
      let reaper = Self.reaper(
        store, catalog, onExpiration: { expiration in told.withLock { $0.append(expiration) } })
      let plan = try await reaper.plan().expirations
      #expect(plan.map(\.id) == samples.map(\.id).sorted())
      #expect(try await Self.ids(catalog).count == 4, "a plan changes nothing")
      #expect(try await reaper.run(limit: 1) == Reaper.Outcome(expired: [plan[0]], remaining: 2))
      #expect(try await reaper.run() == Reaper.Outcome(expired: Array(plan[1...]), remaining: 0))
      #expect(try await reaper.run() == Reaper.Outcome())
      #expect(told.withLock { $0 } == plan)
      #expect(try await store.allRecords().map(\.id) == [kept.id])
      #expect(try await Self.ids(catalog) == [kept.id])
      for sample in samples { #expect(await failure { _ = try await store.open(sample.id) } == "deleted") }
    }
  }

  @Test func `a pin or a later end that comes between plan and deletion keeps`() async throws {
    let storage = try StorageFixture()
    let (first, second, third) = (SampleBundle(), SampleBundle(), SampleBundle())
    let store = try await storage.open()
    for sample in [first, second, third] {
      try await store.upload(sample)
      try await store.change(RecordChange(end: .at(Self.now)), of: sample.id)
    }
    let changing = ChangingStore(
      store,
      before: { id in
        if id == first.id { try await store.change(RecordChange(isPinned: true), of: id) }
        if id == second.id {
          try await store.change(RecordChange(end: .at(Self.now.addingTimeInterval(1))), of: id)
        }
      })
    let outcome = try await Self.reaper(changing, InMemoryCatalog(), .init()).run()
    #expect(outcome.expired.map(\.id) == [third.id])
    #expect(outcome.remaining == 0)
    for sample in [first, second] { #expect(try await store.open(sample.id).contents == sample.bytes) }
  }

  @Test(arguments: [
    (0, 0, false), (99, 99, false), (99, 100, false), (100, 100, true), (100, 499, true), (100, 500, false),
    (101, 500, true), (101, 505, false), (101, 504, true), (200_000, 1_000_000, false),
    (200_001, 1_000_000, true),
  ])
  func `more than a fifth of all, and at least 100, need a confirmation`(due: Int, total: Int, isHeld: Bool) {
    let expiration = Expiration(
      id: SnapshotID(), receivedAt: Self.now, size: 1, rule: .age, reason: "It is old.")
    let plan = RetentionPlan(expirations: Array(repeating: expiration, count: due), total: total)
    #expect(plan.needsConfirmation == isHeld)
  }

  @Test func `a run that a jump of the clock made too large stops, until it is confirmed`() async throws {
    let (store, catalog) = (InMemoryStore(admission: .samples), InMemoryCatalog())
    for number in 0..<100 {
      try await catalog.insert(try await store.upload(SampleBundle(filling: "\(number)")).record)
    }
    let time = Mutex(Self.now)
    let told = Mutex<[Int?]>([])
    let reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("30d"))), store: store, catalog: catalog,
      now: { time.withLock { $0 } }, onHold: { held in told.withLock { $0.append(held?.due) } })
    #expect(try await reaper.run() == Reaper.Outcome())
    time.withLock { $0 += 31 * 86_400 }
    for limit in [Int.max, 1] {
      await #expect(throws: ExpirationHeld.self) { try await reaper.run(limit: limit) }
    }
    let passes = Mutex(0)
    await reaper.run(every: .seconds(3600), after: .zero) { _ in
      if passes.withLock({ passes in
        passes += 1
        return passes > 2
      }) {
        throw CancellationError()
      }
    }
    #expect(try await store.allRecords().count == 100)
    #expect(told.withLock { $0 } == [nil, 100, 100, 100, 100])
    #expect(try await reaper.run(isConfirmed: true).expired.count == 100)
    #expect(try await store.allRecords().isEmpty)
    #expect(told.withLock { $0.last } == .some(nil))
  }

  @Test func `what can't go is told, and goes by the next pass`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let samples = [SampleBundle(), SampleBundle()]
    for sample in samples { try await store.upload(sample) }
    probe.fail(.bury)
    let failed = Mutex<Set<SnapshotID>>([])
    let reaper = Self.reaper(
      store, onFailure: { id, _ in _ = failed.withLock { $0.insert(id ?? SnapshotID()) } })
    #expect(try await reaper.run() == Reaper.Outcome(expired: [], remaining: 2))
    #expect(failed.withLock { $0 } == Set(samples.map(\.id)))
    probe.stopFailing()
    #expect(try await reaper.run().expired.count == 2)
  }

  @Test func `an expiry that is cut short at any step is done or not begun, and the next pass ends it`()
    async throws
  {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 1000) }.sorted { $0.id < $1.id }
    for sample in samples { try await store.upload(sample) }
    try await store.change(RecordChange(isPinned: true), of: samples[2].id)
    // The state before each step of the second deletion, when the first is done.
    _ = try await Self.reaper(store).run(limit: 1)
    _ = probe.takeSeen()
    probe.copyStates(of: storage.path, below: storage.folder.path)
    _ = try await Self.reaper(store).run(limit: 1)
    let steps: [Step] = [.bury, .flushFolder, .removeBundle, .removeRecord]
    #expect(probe.takeSeen() == steps)
    for step in steps {
      let path = "\(storage.folder.path)/\(step)"
      let reopened = try await storage.open(at: path)
      let catalog = InMemoryCatalog()
      for record in try await reopened.allRecords() { try await catalog.insert(record) }
      #expect(try await Self.ids(catalog).count == (step == .bury ? 2 : 1))
      if step == .bury {
        #expect(try await reopened.open(samples[1].id).contents == samples[1].bytes)
      } else {
        #expect(await failure { _ = try await reopened.open(samples[1].id) } == "deleted")
      }
      #expect(try await Self.reaper(reopened, catalog).run().remaining == 0)
      #expect(try await Self.ids(catalog) == [samples[2].id])
      #expect(try await reopened.open(samples[2].id).contents == samples[2].bytes)
      // Of what went there is an empty file whose name is the id, and nothing else.
      for sample in samples[..<2] {
        let left = try storage.entries(of: path).filter { $0.contains("\(sample.id)") }
        #expect(left.map { $0.hasSuffix(".deleted") } == [true])
        #expect(try Folder.size(of: "\(path)/\(left[0])") == 0)
      }
    }
  }

  /// Nothing is flushed once the tombstone is: a power cut may bring back any of what was removed then.
  @Test(arguments: [[], ["zip"], ["json"], ["zip", "json"]])
  func `whatever of an expiry reached the disk before a power cut, the next start ends it`(removed: [String])
    async throws
  {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(seams: probe.seams)
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    probe.copyStates(of: storage.path, below: storage.folder.path)
    #expect(try await Self.reaper(store).run().expired.map(\.id) == [sample.id])
    let path = "\(storage.folder.path)/\(Step.removeBundle)"
    let files = { try storage.entries(of: path).filter { $0.contains("\(sample.id)") } }
    #expect(try files().count == 3)
    for file in try files() where removed.contains(where: file.hasSuffix) {
      try Folder.remove("\(path)/\(file)")
    }
    let reopened = try await storage.open(at: path)
    #expect(await failure { _ = try await reopened.open(sample.id) } == "deleted")
    #expect(try await Self.reaper(reopened).run() == Reaper.Outcome())
    #expect(reopened.usage == StoreUsage())
    #expect(try files().map { $0.hasSuffix(".deleted") } == [true])
  }

  @Test func `it makes a pass every so often until it is cancelled`() async throws {
    let store = InMemoryStore(admission: .samples)
    let reaper = Self.reaper(store)
    let (pauses, paused) = AsyncStream<Duration>.makeStream()
    let (turns, turn) = AsyncStream<Void>.makeStream()
    let task = Task {
      await reaper.run(every: .seconds(3600), after: .seconds(60)) { pause in
        paused.yield(pause)
        for await _ in turns { return }
        throw CancellationError()
      }
    }
    var pause = pauses.makeAsyncIterator()
    #expect(await pause.next() == .seconds(60))
    for _ in 0..<2 {
      let sample = SampleBundle()
      try await store.upload(sample)
      turn.yield()
      #expect(await pause.next() == .seconds(3600))
      #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
    }
    task.cancel()
    turn.finish()
    await task.value
  }
}

/// A store in which something happens just before each deletion on a condition.
private final class ChangingStore: BundleStore {
  private let store: FileBundleStore
  private let happen: @Sendable (SnapshotID) async throws -> Void

  init(_ store: FileBundleStore, before happen: @escaping @Sendable (SnapshotID) async throws -> Void) {
    self.store = store
    self.happen = happen
  }

  func delete(
    _ id: SnapshotID, if condition: @escaping @Sendable (SnapshotRecord) -> Bool
  ) async throws(StoreError) -> Bool {
    do { try await happen(id) } catch { Issue.record(error) }
    return try await store.delete(id, if: condition)
  }

  func beginUpload(expecting length: Int64?) async throws(StoreError) -> any BundleUpload {
    try await store.beginUpload(expecting: length)
  }
  func record(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord { try await store.record(id) }
  func open(_ id: SnapshotID) async throws(StoreError) -> StoredBundle { try await store.open(id) }
  func delete(_ id: SnapshotID) async throws(StoreError) { try await store.delete(id) }
  func change(_ change: RecordChange, of id: SnapshotID) async throws(StoreError) -> SnapshotRecord {
    try await store.change(change, of: id)
  }
  func setAside(_ id: SnapshotID) async throws(StoreError) -> SnapshotRecord { try await store.setAside(id) }
  func ids(in shard: SnapshotShard) async throws(StoreError) -> [SnapshotID] {
    try await store.ids(in: shard)
  }
  func records(_ ids: [SnapshotID]) async throws(StoreError) -> [SnapshotRecord] {
    try await store.records(ids)
  }
}
