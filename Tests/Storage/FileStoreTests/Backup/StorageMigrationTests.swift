import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Moving a storage to another folder.
@Suite struct StorageMigrationTests {
  private let fixture: StorageFixture
  private var target: String { fixture.folder.path + "/New" }
  private var migration: StorageMigration { StorageMigration(from: fixture.path, to: target) }

  init() throws { fixture = try StorageFixture() }

  @Test func `a storage is copied while it is used, and completed when it is not`() async throws {
    let store = try await fixture.open()
    let samples = (0..<12).map { SampleBundle(filling: "\($0)", count: $0 * 3000) }
    for sample in samples.prefix(8) { try await store.upload(sample) }
    #expect(try migration.copy().copiedBundles == 8)
    for sample in samples.dropFirst(8) { try await store.upload(sample) }
    try await store.delete(samples[0].id)
    #expect(try migration.copy().copiedBundles == 4)
    #expect(throws: TransferError.self) { _ = try migration.finish(leavingLosses: false) }
    try await store.change(RecordChange(isPinned: true), of: samples[1].id)
    let usage = store.usage
    await store.close()
    // An upload that is not complete goes on in the new storage.
    try DurableFile.replace(fixture.path + "/uploads/unfinished", with: [1, 2, 3])
    let report = try migration.finish(leavingLosses: false)
    #expect(report.problems.isEmpty && report.changedRecords == 1 && report.bundles == 11)
    for name in ["index", "backup.json", "incomplete"] { #expect(try !Folder.exists("\(target)/\(name)")) }
    #expect(try File(target + "/uploads/unfinished").size == 3)
    #expect(throws: TransferError.self) { _ = try migration.copy() }

    let moved = try await fixture.open(at: target)
    for sample in samples.dropFirst() { #expect(try await moved.open(sample.id).contents == sample.bytes) }
    #expect(try await moved.record(samples[1].id).isPinned)
    #expect(moved.usage == usage)
    await #expect(throws: StoreError.self) { _ = try await moved.record(samples[0].id) }
    await moved.close()
  }

  @Test func `a damaged bundle stops the completion, unless it is left out`() async throws {
    let store = try await fixture.open()
    let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 1000) }
    for sample in samples { try await store.upload(sample) }
    await store.close()
    let path = fixture.file(samples[1].id, "zip")
    try File(path).setMode(0o640)
    try File(path, .update).write([0], at: 500)
    let refused = try migration.finish(leavingLosses: false)
    #expect(refused.problems == [.init(id: samples[1].id, kind: .damaged)])
    #expect(try Folder.exists(target + "/backup.json"))
    #expect(try migration.finish(leavingLosses: true).bundles == 2)
    #expect(try !Folder.exists(target + "/backup.json"))
  }

  @Test func `damage of the copy is found at the end, and mended from the original`() async throws {
    let store = try await fixture.open()
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    _ = try migration.copy()
    await store.close()
    let path = target + "/bundles/\(sample.id.description.prefix(2))/\(sample.id).zip"
    try File(path).setMode(0o640)
    try File(path, .update).write([0], at: 500)
    let report = try migration.finish(leavingLosses: false)
    #expect(report.problems.isEmpty && report.copiedBundles == 1)
    #expect(try ContentDigest.of(contentsOf: File(path)) == sample.sha256)
    #expect(try fixture.mode(path) == 0o440)
  }
}
