import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// On a full disk, snapshots can be deleted.
@Suite(.enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
struct FileBundleStoreFullDiskTests {
  private let disk: SmallDisk
  private let storage: StorageFixture
  private var path: String { disk.file("storage").path }

  init() async throws {
    disk = try await SmallDisk(bytes: 4 << 20, inodes: 100)
    storage = try StorageFixture()
  }

  private func files(of id: SnapshotID) throws -> [String: Int64] {
    let folder = "\(path)/bundles/\(id.description.prefix(2))"
    var sizes: [String: Int64] = [:]
    for name in try Folder.entries(folder) where name.hasPrefix(id.description) {
      sizes[String(name.dropFirst(id.description.count))] = try Folder.size(of: "\(folder)/\(name)")
    }
    return sizes
  }

  @Test func `without a free inode, snapshots are deleted, and that makes room for another`() async throws {
    let store = try await storage.open(at: path)
    let samples = [SampleBundle(), SampleBundle()]
    for sample in samples { try await store.upload(sample) }
    let third = SampleBundle(id: SnapshotID("\(samples[0].id)".dropLast(4) + "ffff") ?? SnapshotID())
    try disk.useInodes()
    #expect(await failure { try await store.upload(third) } == "outOfInodes")
    #expect(await store.fault() == .outOfInodes)
    try await store.delete(samples[0].id)
    #expect(try await store.delete(samples[1].id) { _ in true })
    for sample in samples {
      #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
      #expect(try files(of: sample.id) == [".deleted": 0])
    }
    try await store.upload(third)
    #expect(try await store.open(third.id).contents == third.bytes)
    await store.close()
  }

  @Test func `without a free byte, a snapshot is deleted, also if it is set aside`() async throws {
    let store = try await storage.open(at: path)
    let samples = [SampleBundle(), SampleBundle()]
    for sample in samples { try await store.upload(sample) }
    try await store.setAside(samples[1].id)
    try disk.fill()
    #expect(await failure { try await store.upload(SampleBundle(count: 100_000)) } == "outOfSpace")
    for sample in samples {
      try await store.delete(sample.id)
      #expect(try files(of: sample.id) == [".deleted": 0])
    }
    #expect(store.usage == StoreUsage())
    await store.close()
  }

  @Test func `a record that could not be removed for lack of an inode is removed by the next start`()
    async throws
  {
    let probe = StepProbe()
    let store = try await storage.open(faults: probe.faults, at: path)
    let sample = SampleBundle()
    try await store.upload(sample)
    try disk.useInodes()
    probe.fail(.removeRecord, with: .ENOSPC)
    try await store.delete(sample.id)
    #expect(try files(of: sample.id)[".deleted", default: 0] > 0)
    try disk.useInodes()
    #expect(await store.close() == nil)
    // There is still no inode, but the storage is in use.
    let full = try await storage.open(at: path)
    #expect(await failure { _ = try await full.record(sample.id) } == "deleted")
    await full.close()
    try disk.empty()
    let last = try await storage.open(at: path)
    #expect(try files(of: sample.id) == [".deleted": 0])
    await last.close()
  }
}
