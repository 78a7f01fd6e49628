import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// After a crash or a power cut at any time, every acknowledged operation has its effect, and every other bundle exists
/// completely or not at all.
@Suite struct FileBundleStorePowerCutTests {
  /// A state of a bundle that a store can report.
  private enum Finding: Hashable, Sendable {
    case absent
    case kept(SnapshotRecord, [UInt8])
    case setAside(SnapshotRecord)
    case deleted
    case other(String)
  }

  /// The states that each bundle can be in after the cut.
  private typealias Promise = [SnapshotID: [Finding]]

  private func finding(_ id: SnapshotID, in store: FileBundleStore) async -> Finding {
    do {
      let record = try await store.record(id)
      if record.verified == .damaged {
        return await failure { _ = try await store.open(id) } == "damaged"
          ? .setAside(record) : .other("open")
      }
      let bundle = try await store.open(id)
      return .kept(record, try bundle.contents)
    } catch StoreError.notFound {
      return .absent
    } catch StoreError.deleted {
      return .deleted
    } catch {
      return .other("\(error)")
    }
  }

  private static let pin = RecordChange(isPinned: true, end: .at(Date(timeIntervalSince1970: 1_900_000_000)))
  /// Two bundles of one shard, and one of another.
  private let samples = ["3f000000", "3f000001", "40000000"].map { digits in
    SampleBundle(
      id: SnapshotID("\(digits)-0000-4000-8000-000000000000") ?? SnapshotID(), filling: digits, count: 2000)
  }

  /// A further bundle of the first shard.
  private let later = SampleBundle(
    id: SnapshotID("3f000002-0000-4000-8000-000000000000") ?? SnapshotID(), filling: "later", count: 500)

  /// Attaches, changes, sets aside, repairs and deletes bundles.
  private func work(on disk: PowerCutDisk<Promise>) async throws {
    let store = try await open(disk.path)
    for sample in samples {
      // The bytes under a UUID are always the same.
      let record = try await expectedRecord(of: sample)
      disk.promise { $0[sample.id] = [.absent, .kept(record, sample.bytes)] }
      let answer = try await store.upload(sample).record
      #expect(answer == record)
      disk.promise { $0[sample.id] = [.kept(record, sample.bytes)] }
    }
    let (first, second) = (samples[0], samples[1])
    let former = try await store.record(first.id)
    var pinned = former
    try Self.pin.apply(to: &pinned)
    disk.promise { $0[first.id] = [.kept(former, first.bytes), .kept(pinned, first.bytes)] }
    #expect(try await store.change(Self.pin, of: first.id) == pinned)
    disk.promise { $0[first.id] = [.kept(pinned, first.bytes)] }

    var damaged = pinned
    damaged.verified = .damaged
    disk.promise { $0[first.id] = [.kept(pinned, first.bytes), .setAside(damaged)] }
    #expect(try await store.setAside(first.id) == damaged)
    disk.promise { $0[first.id] = [.setAside(damaged)] }
    disk.promise { $0[first.id] = [.setAside(damaged), .kept(pinned, first.bytes)] }
    try await store.upload(first)
    disk.promise { $0[first.id] = [.kept(pinned, first.bytes)] }

    disk.promise { $0[second.id]?.append(.deleted) }
    try await store.delete(second.id)
    disk.promise { $0[second.id] = [.deleted] }
    await store.close()
  }

  private func expectedRecord(of sample: SampleBundle) async throws -> SnapshotRecord {
    try await InMemoryStore(validator: .samples).upload(sample).record
  }

  private func open(_ path: String) async throws -> FileBundleStore {
    try await StorageFixture.open(path + "/Storage", faults: .unchangedFolders)
  }

  /// Compares the state of a store after a cut with the acknowledged operations.
  private func check(_ remains: PowerCutDisk<Promise>.Remains) async throws {
    let store = try await open(remains.path)
    var usage = StoreUsage()
    for (id, allowed) in remains.promise {
      let found = await finding(id, in: store)
      #expect(allowed.contains(found), "\(remains.label): \(id)")
      if case .kept(_, let bytes) = found {
        usage.bundles += 1
        usage.bytes += Int64(bytes.count)
      } else if case .setAside(let record) = found {
        usage.bundles += 1
        usage.bytes += record.size
      }
    }
    await store.recovered()
    #expect(store.usage == usage, "\(remains.label)")
    let uploads = try Folder.entries(remains.path + "/Storage/uploads")
    #expect(uploads.isEmpty, "\(remains.label)")
    for sample in samples {
      switch await finding(sample.id, in: store) {
      case .absent, .setAside:
        try await store.upload(sample)
        let contents = try await store.open(sample.id).contents
        #expect(contents == sample.bytes, "\(remains.label)")
      case .kept:
        guard case .alreadyThere = try await store.upload(sample) else {
          Issue.record("\(remains.label): published twice")
          continue
        }
      default: break
      }
    }
    await store.close()
  }

  @Test func `acknowledged operations survive a crash or a power cut at any time`() async throws {
    let disk = try PowerCutDisk(Promise())
    try await work(on: disk)
    try await disk.forEachCut(check)
  }

  @Test func `the state after a crash survives a power cut`() async throws {
    let first = try PowerCutDisk(Promise())
    try await work(on: first)
    for moment in first.moments {
      let disk = try PowerCutDisk(after: moment)
      let store = try await open(disk.path)
      var found: Promise = [:]
      for id in moment.promise.keys { found[id] = [await finding(id, in: store)] }
      disk.promise { [found] in $0 = found }
      // Later operations are durable too, also in a folder that the killed process created.
      let record = try await expectedRecord(of: later)
      disk.promise { $0[later.id] = [.absent, .kept(record, later.bytes)] }
      try await store.upload(later)
      disk.promise { $0[later.id] = [.kept(record, later.bytes)] }
      await store.close()
      try await disk.forEachCut(check)
    }
  }

  @Test func `uploads that share one flush of the volume are durable too`() async throws {
    let disk = try PowerCutDisk(Promise())
    let store = try await open(disk.path)
    try await withThrowingTaskGroup { group in
      for _ in 0..<12 {
        group.addTask {
          let sample = SampleBundle()
          let record = try await store.upload(sample).record
          disk.promise { $0[sample.id] = [.kept(record, sample.bytes)] }
        }
      }
      try await group.waitForAll()
    }
    await store.close()
    // The other bundles are those of uploads that were not answered yet.
    try await disk.forEachCut { remains in
      let store = try await open(remains.path)
      for (id, allowed) in remains.promise {
        let found = await finding(id, in: store)
        #expect(allowed.contains(found), "\(remains.label): \(id)")
      }
      await store.close()
    }
  }
}
