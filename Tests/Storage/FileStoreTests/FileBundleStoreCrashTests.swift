import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// If any step of a store fails, a bundle exists completely or not at all.
@Suite struct FileBundleStoreCrashTests {
  static let commit: [Step] = [
    .writeRecord, .flushFiles, .announceRecord, .publishBundle, .publishRecord, .flushFolder,
  ]
  static let deletion: [Step] = [.writeTombstone, .flushFolder, .removeBundle, .removeRecord]

  @Test func `the steps of a commit are done in order`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    #expect(probe.takeSeen() == [.repairInBackground, .repairUploads])
    try await store.upload(sample)
    #expect(probe.takeSeen() == Self.commit)
    try await store.delete(sample.id)
    #expect(probe.takeSeen() == Self.deletion)
  }

  @Test(arguments: commit, [POSIXErrorCode.EIO, .ENOSPC, .EDQUOT, .EFBIG])
  func `a commit that fails at any step leaves nothing behind and can be retried`(
    step: Step, code: POSIXErrorCode
  ) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    probe.fail(step, with: code)
    #expect(await failure { try await store.upload(sample) } == (code == .EIO ? "system" : "outOfSpace"))
    #expect(try storage.entries().filter { $0.contains("\(sample.id)") || $0.hasPrefix("uploads/") } == [])
    #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    probe.stopFailing()
    guard case .created = try await store.upload(sample) else {
      Issue.record("something was left")
      return
    }
  }

  @Test(arguments: [Step.writeTombstone, .flushFolder])
  func `a deletion that can't be made durable is reverted`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    #expect(await failure { try await store.delete(sample.id) } == "system")
    #expect(try await store.open(sample.id).contents == sample.bytes)
    probe.stopFailing()
    try await store.delete(sample.id)
  }

  @Test(arguments: [Step.removeBundle, .removeRecord])
  func `files that a deletion could not remove are removed at the next start`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let sample = SampleBundle()
    try await store.upload(sample)
    probe.fail(step)
    try await store.delete(sample.id)
    #expect(try Folder.size(of: storage.file(sample.id, "deleted")) > 0)
    #expect(try Folder.exists(storage.file(sample.id, "zip")) == (step == .removeBundle))
    #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
    await store.close()
    _ = try await storage.open()
    #expect(try storage.entries().filter { $0.contains("\(sample.id)") }.count == 1)
    #expect(try Folder.size(of: storage.file(sample.id, "deleted")) == 0)
  }

  @Test func `a bundle whose record is lost can be deleted`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    try Folder.remove(storage.file(sample.id, "json"))
    try await store.delete(sample.id)
    #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
    #expect(try Folder.entries(storage.path + "/bundles/" + "\(sample.id)".prefix(2)).count == 1)
  }

  @Test func `a bundle without a record is set aside, not served and not lost`() async throws {
    let storage = try StorageFixture()
    let sample = SampleBundle()
    let store = try await storage.open()
    try await store.upload(sample)
    await store.close()
    try Folder.remove(storage.file(sample.id, "json"))
    let reopened = try await storage.open()
    #expect(await failure { _ = try await reopened.open(sample.id) } == "notFound")
    let aside = try Folder.entries(storage.path + "/set-aside")
    #expect(aside.count == 1)
    let name = try #require(aside.first)
    #expect(name.contains("\(sample.id)"))
    #expect(try File("\(storage.path)/set-aside/\(name)").read(upTo: 1000, at: 0) == sample.bytes)
  }

  @Test func `files that the store did not create are kept`() async throws {
    let storage = try StorageFixture()
    let sample = SampleBundle(id: try #require(SnapshotID("40000000-0000-4000-8000-000000000000")))
    let first = try await storage.open()
    try await first.upload(sample)
    await first.close()
    let names = [
      "bundles/3f/\(sample.id).json", "bundles/3f/\(sample.id).deleted",

      "bundles/3f/notes.txt", "bundles/3f/3F000000-0000-4000-8000-000000000000.zip", "bundles/README",
      "bundles/3f/3f000000-0000-4000-8000-000000000000.zip.bak",
    ]
    for name in names { try storage.folder.write(Data([1]), to: "Storage/" + name) }
    let store = try await storage.open()
    #expect(try await store.allRecords().map(\.id) == [sample.id])
    for name in names { #expect(try Folder.exists("\(storage.path)/\(name)")) }
  }
}
