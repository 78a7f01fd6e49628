import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite struct ReaperTests {
  private static let now = Date(timeIntervalSince1970: 1_800_000_100)

  private static func reaper(
    _ store: any BundleStore, _ catalog: any Catalog = InMemoryCatalog(),
    _ limits: RetentionRules.Limits = RetentionRules.Limits(age: TimeSpan("1m")),
    onExpiration: @escaping @Sendable (Expiration) -> Void = { _ in },
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in }
  ) -> Reaper {
    Reaper(
      RetentionRules(limits), store: store, catalog: catalog,
      clock: DeletionClock(.init(now: { now })), onExpiration: onExpiration, onFailure: onFailure)
  }

  private static func ids(_ catalog: InMemoryCatalog) async throws -> [SnapshotID] {
    try await catalog.records(of: nil, page: PageRequest()).records.map(\.id)
  }

  @Test(arguments: StoreKind.allCases)
  func `expired snapshots are removed from store and catalogue, pinned ones remain`(kind: StoreKind)
    async throws
  {
    try await kind.withStore { store async throws in
      let catalog = InMemoryCatalog()
      var samples = (0..<4).map { SampleBundle(filling: "\($0)") }
      for sample in samples { try await catalog.insert(try await store.upload(sample).record) }
      try await store.change(RecordChange(isPinned: true), of: samples[0].id)
      let kept = samples.removeFirst()
      let told = Lock<[Expiration]>([])
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

  @Test func `a pin or a later expiration between plan and deletion keeps the snapshot`() async throws {
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
  func `more than a fifth of all snapshots, and at least 100, require a confirmation`(
    due: Int, total: Int, isHeld: Bool
  ) {
    let expiration = Expiration(
      id: SnapshotID(), receivedAt: Self.now, size: 1, rule: .age, reason: "It is old.")
    let plan = RetentionPlan(expirations: Array(repeating: expiration, count: due), total: total)
    #expect(plan.needsConfirmation == isHeld)
  }

  @Test func `a run that is too large stops until it is confirmed`() async throws {
    let (store, catalog) = (InMemoryStore(validator: .samples), InMemoryCatalog())
    for number in 0..<100 {
      try await catalog.insert(try await store.upload(SampleBundle(filling: "\(number)")).record)
    }
    let time = TestTime()
    let told = Lock<[Int?]>([])
    let reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("30d"))), store: store, catalog: catalog,
      clock: DeletionClock(time.configuration), onHold: { held in told.withLock { $0.append(held?.due) } })
    #expect(try await reaper.run() == Reaper.Outcome())
    time.run(31 * 86_400)
    for limit in [Int.max, 1] {
      await #expect(throws: ExpirationHeld.self) { try await reaper.run(limit: limit) }
    }
    let passes = Lock(0)
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

  @Test func `what expires within a day is announced once for each end, unless it is pinned`() async throws {
    let (store, time, announcer) = (InMemoryStore(validator: .samples), TestTime(), Announcer())
    let (old, pinned, dated) = (SampleBundle(), SampleBundle(), SampleBundle())
    for sample in [old, pinned, dated] { try await store.upload(sample) }
    try await store.change(RecordChange(isPinned: true), of: pinned.id)
    let (first, second) = (time.now + 86_400, time.now + 2 * 86_400)
    try await store.change(RecordChange(end: .at(first + 1)), of: dated.id)
    var reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("3d"))), store: store, catalog: InMemoryCatalog(),
      clock: DeletionClock(time.configuration))
    reaper.announcer = announcer
    func pass() async throws -> [SnapshotID: [Date]] {
      for _ in 0..<2 { try await reaper.run() }
      return announcer.ends.withLock { $0 }
    }
    #expect(try await pass() == [:])
    try await store.change(RecordChange(end: .at(first)), of: dated.id)
    #expect(try await pass() == [dated.id: [first]])
    try await store.change(RecordChange(end: .at(second)), of: dated.id)
    #expect(try await pass() == [dated.id: [first]])
    announcer.fails.set(true)
    time.run(86_400)
    #expect(try await pass() == [dated.id: [first]])
    announcer.fails.set(false)
    #expect(try await pass() == [dated.id: [first, second]])
    time.run(90_000)
    let end = try await store.record(old.id).receivedAt + 3 * 86_400
    #expect(try await pass() == [dated.id: [first, second], old.id: [end]])
    #expect(try await store.allRecords().count == 2)
    time.run(86_400)
    #expect(try await pass() == [dated.id: [first, second], old.id: [end]])
    #expect(try await store.allRecords().map(\.id) == [pinned.id])
  }

  /// Remembers which ends were announced.
  private final class Announcer: ChangeAnnouncer {
    let ends = Lock<[SnapshotID: [Date]]>([:])
    let fails = Lock(false)
    let announcesExpirations = true

    func expiring(_ record: SnapshotRecord, at end: Date) async throws(StoreError) {
      if fails.value { throw .unavailable("as it was told") }
      ends.withLock { $0[record.id, default: []].append(end) }
    }

    func attached(_ record: SnapshotRecord) async throws(StoreError) {}
    func commented(_ record: SnapshotRecord, at index: Int) async throws(StoreError) {}
    func willDelete(_ id: SnapshotID, _ record: SnapshotRecord?) async throws(StoreError) {}
    func deleted(_ id: SnapshotID) async throws(StoreError) {}
  }

  @Test(arguments: [3, 60], [378_432_000, -1_766_016_000] as [Double])
  func `a wrong clock deletes nothing, however few snapshots there are`(count: Int, jump: Double) async throws
  {
    let store = InMemoryStore(validator: .samples)
    for number in 0..<count {
      let sample = SampleBundle(filling: "\(number)")
      try await store.upload(sample)
      try await store.change(
        RecordChange(end: .at(Date(timeIntervalSince1970: 1_900_000_000))), of: sample.id)
    }
    let time = TestTime()
    let told = Lock<[Bool]>([])
    let reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("30d"), countPerReport: 1)), store: store,
      catalog: InMemoryCatalog(),
      clock: DeletionClock(time.configuration),
      onHold: { held in told.withLock { $0.append(held?.doubt != nil) } })
    #expect(try await reaper.plan().expirations.count == count - 1)
    time.jump(jump)
    for _ in 0..<2 { await #expect(throws: ExpirationHeld.self) { try await reaper.run() } }
    #expect(try await reaper.plan().needsConfirmation)
    #expect(try await store.allRecords().count == count)
    #expect(told.withLock { $0 } == [true, true])
    time.jump(-jump)
    await #expect(throws: ExpirationHeld.self) { try await reaper.run() }
    time.run(3600)
    #expect(try await reaper.run().expired.count == count - 1)
    #expect(told.withLock { $0.last } == false)
  }

  @Test func `a confirmation believes the clock`() async throws {
    let (store, time) = (InMemoryStore(validator: .samples), TestTime())
    for _ in 0..<3 { try await store.upload(SampleBundle()) }
    let clock = DeletionClock(time.configuration)
    let reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("30d"))), store: store, catalog: InMemoryCatalog(), clock: clock)
    #expect(try await reaper.run() == Reaper.Outcome())
    time.jump(31 * 86_400)
    await #expect {
      try await reaper.run()
    } throws: {
      "\($0)".contains("3 of 3 snapshots would be deleted") && "\($0)".contains("The clock shows 2027-02-15")
    }
    #expect(try await reaper.run(isConfirmed: true).expired.count == 3)
    #expect(clock.doubt == nil)
  }

  @Test func `snapshots whose time of receipt can't be right are reported`() async throws {
    let store = InMemoryStore(
      validator: UploadValidator(
        wholeUpTo: 0, validate: SampleBundle.validate, now: { Date(timeIntervalSince1970: 1000) }))
    for _ in 0..<3 { try await store.upload(SampleBundle()) }
    let told = Lock<[Int]>([])
    let reaper = Reaper(
      RetentionRules(.init(age: TimeSpan("30d"))), store: store, catalog: InMemoryCatalog(),
      clock: DeletionClock(.init(now: { Self.now })),
      onUndated: { count in told.withLock { $0.append(count) } })
    #expect(try await reaper.run() == Reaper.Outcome())
    #expect(told.withLock { $0 } == [3])
  }

  @Test func `a snapshot that another task has deleted leaves the catalogue`() async throws {
    let (storage, catalog) = (try StorageFixture(), InMemoryCatalog())
    let store = try await storage.open()
    let samples = [SampleBundle(), SampleBundle()]
    for sample in samples { try await catalog.insert(try await store.upload(sample).record) }
    // The task ended before it updated the catalogue.
    let changing = ChangingStore(
      store, before: { id in if id == samples[0].id { try await store.delete(id) } })
    let outcome = try await Self.reaper(changing, catalog).run()
    #expect(outcome.expired.map(\.id) == [samples[1].id] && outcome.remaining == 0)
    #expect(try await Self.ids(catalog).isEmpty)
  }

  @Test func `a failed deletion is reported, and the next pass retries it`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let samples = [SampleBundle(), SampleBundle()]
    for sample in samples { try await store.upload(sample) }
    probe.fail(.writeTombstone)
    let failed = Lock<Set<SnapshotID>>([])
    let reaper = Self.reaper(
      store, onFailure: { id, _ in _ = failed.withLock { $0.insert(id ?? SnapshotID()) } })
    #expect(try await reaper.run() == Reaper.Outcome(expired: [], remaining: 2))
    #expect(failed.withLock { $0 } == Set(samples.map(\.id)))
    probe.stopFailing()
    #expect(try await reaper.run().expired.count == 2)
  }

  @Test
  func
    `an expiration that a crash or a power cut interrupts is done or not begun, and the next pass completes it`()
    async throws
  {
    enum Phase { case preparing, ready, expiring, done }
    let disk = try PowerCutDisk(Phase.preparing)
    let store = try await StorageFixture.open(disk.path + "/Storage")
    let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 1000) }
    for sample in samples { try await store.upload(sample) }
    try await store.change(RecordChange(isPinned: true), of: samples[2].id)
    for phase in [Phase.ready, .expiring] { disk.promise { $0 = phase } }
    #expect(try await Self.reaper(store).run().expired.count == 2)
    disk.promise { $0 = .done }
    await store.close()
    try await disk.forEachCut { remains in
      guard remains.promise != .preparing else { return }
      let reopened = try await StorageFixture.open(remains.path + "/Storage")
      let catalog = InMemoryCatalog()
      for record in try await reopened.allRecords() { try await catalog.insert(record) }
      for sample in samples[..<2] {
        let refusal = await failure {
          let contents = try await reopened.open(sample.id).contents
          #expect(contents == sample.bytes, "\(remains.label)")
        }
        let allowed: [String?] =
          switch remains.promise {
          case .preparing, .ready: [nil]
          case .expiring: [nil, "deleted"]
          case .done: ["deleted"]
          }
        #expect(allowed.contains(refusal), "\(remains.label)")
      }
      let outcome = try await Self.reaper(reopened, catalog).run()
      #expect(outcome.remaining == 0, "\(remains.label)")
      let left = try await Self.ids(catalog)
      #expect(left == [samples[2].id], "\(remains.label)")
      let pinned = try await reopened.open(samples[2].id).contents
      #expect(pinned == samples[2].bytes, "\(remains.label)")
      #expect(reopened.usage == StoreUsage(bundles: 1, bytes: Int64(pinned.count)), "\(remains.label)")
      // Of a deleted snapshot only an empty file remains, whose name is the id.
      let root = remains.path + "/Storage/bundles"
      for sample in samples[..<2] {
        let folder = "\(root)/\(sample.id.description.prefix(2))"
        let files = try Folder.entries(folder).filter { $0.hasPrefix("\(sample.id)") }
        #expect(files == ["\(sample.id).deleted"], "\(remains.label)")
        let size = try Folder.size(of: "\(folder)/\(sample.id).deleted")
        #expect(size == 0, "\(remains.label)")
      }
      await reopened.close()
    }
  }

  @Test func `it makes a pass at every interval until it is cancelled`() async throws {
    let store = InMemoryStore(validator: .samples)
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

/// A store that calls a closure just before each conditional deletion.
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
