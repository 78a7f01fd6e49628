import FileStore
import Foundation
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite struct ScrubberTests {
  /// The findings of the scrubber, and how long it waited to limit its rate.
  private final class Probe: ScrubObserver {
    private let state = Lock<(findings: [ScrubFinding], time: Duration)>(([], .zero))

    func scrubbed(_ finding: ScrubFinding) { state.withLock { $0.findings.append(finding) } }
    var findings: [ScrubFinding] { state.withLock { $0.findings } }
    var time: Duration { state.withLock { $0.time } }
    func pass(_ duration: Duration) { state.withLock { $0.time += duration } }
  }

  private static func scrubber(
    _ store: any BundleStore, _ catalog: any Catalog = InMemoryCatalog(), rate: Int64 = 1 << 30,
    progress: (any ScrubProgressStore)? = nil, probe: Probe = Probe(),
    onFailure: @escaping @Sendable (SnapshotID?, any Error) -> Void = { _, _ in }
  ) -> Scrubber {
    Scrubber(
      .init(
        bytesPerSecond: rate, progress: progress, now: { Date(timeIntervalSince1970: 1_800_000_000) },
        sleep: { probe.pass($0) }, clock: { probe.time }),
      store: store, catalog: catalog, observer: probe, onFailure: onFailure)
  }

  private static func flip(_ bit: Int, of path: String) throws {
    let file = try File(path)
    var bytes = try file.read(upTo: Int(file.size), at: 0)
    bytes[bit / 8] ^= 1 << (bit % 8)
    try file.setMode(0o640)
    try File(path, .update).write(bytes, at: 0)
  }

  @Test(arguments: StoreKind.allCases)
  func `a store that is intact remains unchanged`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let samples = (0..<10).map { SampleBundle(filling: "\($0)", count: $0 * 50_000) }
      for sample in samples { try await store.upload(sample) }
      let probe = Probe()
      let report = try #require(try await Self.scrubber(store, probe: probe).run())
      #expect(report.bundles == 10)
      #expect(report.bytes == samples.reduce(0) { $0 + Int64($1.bytes.count) })
      #expect(report.damaged == 0 && report.damagedSnapshots.isEmpty && report.unreadable == 0)
      #expect(!report.isRunning && report.endedAt != nil)
      #expect(probe.findings.map(\.id) == samples.map(\.id).sorted())
      #expect(probe.findings.allSatisfy { $0.verdict == .intact })
      for sample in samples { #expect(try await store.open(sample.id).contents == sample.bytes) }
    }
  }

  @Test(arguments: [0, 100, 8 * 1000 - 1])
  func `a flipped bit is found, and the bundle can't be opened any more`(bit: Int) async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 1000) }
    let catalog = InMemoryCatalog()
    for sample in samples { try await catalog.insert(try await store.upload(sample).record) }
    let bad = samples[1].id
    _ = try await store.open(bad)
    try Self.flip(bit, of: storage.file(bad, "zip"))
    let probe = Probe()
    let report = try #require(try await Self.scrubber(store, catalog, probe: probe).run())
    #expect(report.bundles == 3 && report.damaged == 1 && report.damagedSnapshots == [bad])
    #expect(probe.findings.filter { $0.verdict != .intact }.map(\.verdict) == [.setAside])
    #expect(await failure { _ = try await store.open(bad) } == "damaged")
    #expect(try await store.record(bad).verified == .damaged)
    let listed = try await catalog.records(of: nil, page: PageRequest()).records
    #expect(listed.first { $0.id == bad }?.verified == .damaged)
    #expect(try Folder.exists(storage.file(bad, "damaged")) && !Folder.exists(storage.file(bad, "zip")))
    let again = Probe()
    #expect(try await Self.scrubber(store, catalog, probe: again).run()?.damaged == 1)
    #expect(again.findings.filter { $0.verdict != .intact }.map(\.verdict) == [.damaged])
  }

  @Test(arguments: [-1, 1]) func `a bundle that is too short or too long is found`(difference: Int)
    async throws
  {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    let file = try File(storage.file(sample.id, "zip"))
    try file.setMode(0o640)
    try File(file.path, .update).truncate(to: file.size + Int64(difference))
    #expect(try await Self.scrubber(store).run()?.damagedSnapshots == [sample.id])
  }

  @Test func `lost bytes of an object store are found, and can be attached again`() async throws {
    try await withFakeS3 { server in
      let node = try await S3Node(server)
      let (sample, catalog) = (SampleBundle(count: 1000), InMemoryCatalog())
      try await catalog.insert(try await node.store.upload(sample).record)
      let key = try #require(server.keys.first { $0.contains("bytes/") })
      server[key] = nil
      #expect(try await Self.scrubber(node.store, catalog).run()?.damagedSnapshots == [sample.id])
      #expect(catalog.record(sample.id)?.verified == .damaged)
      #expect(try await node.store.upload(sample).record.verified == .intact)
      #expect(try await node.store.open(sample.id).contents == sample.bytes)
      await node.store.close()
    }
  }

  @Test func `a damaged record is found, and its bundle remains`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    let json = storage.file(sample.id, "json")
    try Self.flip(Int(try Folder.size(of: json)) * 4, of: json)
    let report = try #require(try await Self.scrubber(store).run())
    #expect(report.damagedSnapshots == [sample.id])
    #expect(try File(storage.file(sample.id, "zip")).read(upTo: 10_000, at: 0) == sample.bytes)
  }

  @Test(arguments: [10_000, 100_000, 1_000_000] as [Int64])
  func `no more bytes are read per second than allowed`(rate: Int64) async throws {
    let store = InMemoryStore(validator: .samples)
    for _ in 0..<4 { try await store.upload(SampleBundle(count: 100_000)) }
    let probe = Probe()
    let report = try #require(try await Self.scrubber(store, rate: rate, probe: probe).run())
    let expected = Duration.seconds(Double(report.bytes) / Double(rate))
    #expect(probe.time > expected * 0.999 && probe.time < expected * 1.001)
  }

  @Test
  func `an interrupted pass continues where it stopped, and a complete one is not repeated immediately`()
    async throws
  {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let ids = try (0..<4).map { try #require(SnapshotID("\($0)0000000-0000-4000-8000-000000000000")) }
    for id in ids { try await store.upload(SampleBundle(id: id)) }
    let file = storage.path + "/scrubbed"
    try DurableFile.replace(file, with: Array(ids[1].description.utf8))
    let probe = Probe()
    #expect(
      try await Self.scrubber(store, progress: ScrubProgressFile(file), probe: probe).run()?.bundles == 2)
    #expect(probe.findings.map(\.id) == Array(ids[2...]))
    #expect(
      String(decoding: try File(file).read(upTo: 64, at: 0), as: UTF8.self) == "2027-01-15T08:00:00.000Z")
    #expect(try await Self.scrubber(store, progress: ScrubProgressFile(file)).run()?.bundles == 4)
    try DurableFile.replace(file, with: Array("2027-01-15T07:00:00.000Z".utf8))
    let (waits, waited) = AsyncStream<Duration>.makeStream()
    let scrubber = Scrubber(
      .init(
        bytesPerSecond: 1 << 30, progress: ScrubProgressFile(file),
        now: { Date(timeIntervalSince1970: 1_800_000_000) },
        sleep: { wait in
          waited.yield(wait)
          throw CancellationError()
        }), store: store, catalog: InMemoryCatalog())
    var waiting = waits.makeAsyncIterator()
    for (delay, wait) in [(0, 7200), (7199, 7200), (7201, 7201)] {
      await scrubber.run(every: try #require(TimeSpan("3h")), after: .seconds(delay))
      #expect(await waiting.next() == .seconds(wait))
    }
  }

  @Test func `the progress is saved after a shard was checked, and not before`() async throws {
    let store = InMemoryStore(validator: .samples)
    let ids = try ["10000000", "10000001", "20000000"]
      .map { try #require(SnapshotID("\($0)-0000-4000-8000-000000000000")) }
    for id in ids { try await store.upload(SampleBundle(id: id)) }
    let events = ScrubEvents()
    let scrubber = Scrubber(
      .init(bytesPerSecond: 1 << 30, progress: events, now: { Date(timeIntervalSince1970: 1_800_000_000) }),
      store: store, catalog: InMemoryCatalog(), observer: events)
    try await scrubber.run()
    #expect(
      events.all == [
        "checked \(ids[0])", "checked \(ids[1])", "saved \(ids[1])", "checked \(ids[2])", "saved \(ids[2])",
        "saved 2027-01-15T08:00:00.000Z",
      ])
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `a running pass is not started twice, and can be stopped`() async throws {
    let store = InMemoryStore(validator: .samples)
    try await store.upload(SampleBundle(count: 100_000))
    let (waits, waited) = AsyncStream<Void>.makeStream()
    let scrubber = Scrubber(
      .init(
        bytesPerSecond: 4096,
        sleep: { _ in
          waited.yield()
          try await Signal.waitForCancellation()
        }), store: store, catalog: InMemoryCatalog())
    scrubber.start()
    #expect(scrubber.report.isRunning)
    _ = await waits.first { _ in true }
    scrubber.start()
    #expect(try await scrubber.run() == nil)
    await scrubber.stop()
    #expect(!scrubber.report.isRunning && scrubber.report.bundles == 0)
  }

  @Test func `a pass over an object store is continued by another server`() async throws {
    try await withFakeS3 { server in
      let ids = try (0..<4).map { try #require(SnapshotID("\($0)0000000-0000-4000-8000-000000000000")) }
      let (first, probe) = (try await S3Node(server), Probe())
      for id in ids { try await first.store.upload(SampleBundle(id: id)) }
      try await first.store.scrubProgress.save(.reached(ids[1]))
      await first.store.close()
      let other = try await S3Node(server)
      let progress = other.store.scrubProgress
      #expect(try await Self.scrubber(other.store, progress: progress, probe: probe).run()?.bundles == 2)
      #expect(probe.findings.map(\.id) == Array(ids[2...]))
      #expect(try await progress.load() == .ended(Date(timeIntervalSince1970: 1_800_000_000)))
      await other.store.close()
    }
  }

  @Test func `an unusable progress file is ignored`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    try await store.upload(SampleBundle())
    let file = try storage.folder.write(Data("x".utf8), to: "progress").path
    #expect(try await Self.scrubber(store, progress: ScrubProgressFile(file)).run()?.bundles == 1)
  }
}

/// Records in which order bundles are checked and the progress is saved.
private final class ScrubEvents: ScrubObserver, ScrubProgressStore {
  private let events = Lock<[String]>([])

  var all: [String] { events.withLock { $0 } }

  func scrubbed(_ finding: ScrubFinding) { events.withLock { $0.append("checked \(finding.id)") } }
  func load() async throws -> ScrubProgress? { nil }
  func save(_ progress: ScrubProgress) async throws { events.withLock { $0.append("saved \(progress)") } }
}
