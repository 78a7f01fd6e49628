import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// If any step of an upload fails, acknowledged bytes are durable, and the upload is published at most once.
@Suite struct FileUploadCrashTests {
  private let sample = SampleBundle(count: 9000)

  @Test func `the steps of an upload`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    #expect(probe.takeSeen() == [.repairInBackground, .repairUploads])
    let id = try await store.createUpload(.of(sample)).id
    #expect(probe.takeSeen() == [.openUpload, .writeProgress, .flushUpload])
    try await store.append(sample.bytes, to: id)
    #expect(probe.takeSeen() == [.flushPart, .writeProgress, .flushProgress])
    _ = try await store.commitUpload(id, as: .of(sample))
    #expect(
      probe.takeSeen() == [
        .writeRecord, .writeProgress, .flushFiles, .announceRecord, .publishBundle, .publishRecord,
        .flushFolder,
        .writeProgress, .flushProgress,
      ])
    try await store.removeUpload(id)
    #expect(probe.takeSeen() == [.forgetUpload, .removePart, .flushUpload])
  }

  @Test(arguments: [Step.openUpload, .writeProgress, .flushUpload])
  func `an upload that can't be created leaves nothing behind`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    probe.fail(step, with: .ENOSPC)
    #expect(await uploadFailure { _ = try await store.createUpload(.of(sample)) } == "store outOfSpace")
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    #expect(await store.uploadSessions().isEmpty)
    probe.stopFailing()
    _ = try await store.createUpload(.of(sample))
  }

  @Test(arguments: [Step.flushPart, .writeProgress, .flushProgress], [POSIXErrorCode.EIO, .ENOSPC])
  func `bytes that can't be made durable do not count, and the upload can continue`(
    step: Step, code: POSIXErrorCode
  ) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes[..<3000], to: id)
    probe.fail(step, with: code)
    let word = code == .EIO ? "store system" : "store outOfSpace"
    #expect(await uploadFailure { try await store.append(sample.bytes[3000..<6000], to: id) } == word)
    #expect(try await store.uploadSession(id).offset == 3000)
    probe.stopFailing()
    // The client may send other bytes now, since the failed ones were not acknowledged.
    try await store.append(sample.bytes[3000..<3500], to: id)
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
    #expect(try await StorageFixture.open(copy).uploadSession(id).offset == 3500)
    try await store.append(sample.bytes[3500...], to: id)
    _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `bytes that do not count are not hashed`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let id = try await store.createUpload(.of(sample)).id
    probe.fail(.flushProgress)
    let others = [UInt8](repeating: 0, count: 3000)
    #expect(await uploadFailure { try await store.append(others, to: id) } == "store system")
    probe.stopFailing()
    try await store.append(sample.bytes, to: id)
    let ended = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
    #expect(ended.outcome == .published(sample.id, isNew: true))
  }

  @Test(
    arguments: [
      Step.writeRecord, .writeProgress, .flushFiles, .announceRecord, .publishBundle, .publishRecord,
      .flushFolder,
    ],
    [POSIXErrorCode.EIO, .ENOSPC])
  func `a publication that fails at any step can be retried`(step: Step, code: POSIXErrorCode)
    async throws
  {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes, to: id)
    probe.fail(step, with: code)
    let word = code == .EIO ? "store system" : "store outOfSpace"
    #expect(await uploadFailure { _ = try await store.commitUpload(id, as: .of(sample)) } == word)
    #expect(try await store.uploadSession(id).isDue)
    #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
    let reopened = try await StorageFixture.open(copy)
    for store in [store, reopened] {
      probe.stopFailing()
      #expect(try await store.commitUpload(id, as: .of(sample)).outcome == .published(sample.id, isNew: true))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
  }

  @Test func `a publication whose recording failed is recorded at the next start`() async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes, to: id)
    probe.fail(.flushProgress)
    #expect(try await store.commitUpload(id, as: .of(sample)).outcome == .published(sample.id, isNew: true))
    try await store.delete(sample.id)
    await store.close()
    let reopened = try await storage.open()
    #expect(try await reopened.uploadSession(id).outcome == .published(sample.id, isNew: true))
  }

  @Test(arguments: [Step.writeProgress, .flushProgress])
  func `a refusal that can't be recorded is repeated later`(step: Step) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    let broken = SampleBundle(.broken)
    let id = try await store.createUpload(.of(broken)).id
    try await store.append(broken.bytes, to: id)
    probe.fail(step)
    #expect(await uploadFailure { _ = try await store.commitUpload(id, as: .of(broken)) } == "store system")
    probe.stopFailing()
    guard case .refused = try await store.commitUpload(id, as: .of(broken)).outcome else {
      Issue.record("not refused")
      return
    }
    await store.close()
    let reopened = try await storage.open()
    guard case .refused = try await reopened.uploadSession(id).outcome else {
      Issue.record("forgotten")
      return
    }
    #expect(try Folder.entries(storage.path + "/uploads") == ["\(id).upload"])
  }

  @Test(arguments: [false, true])
  func `under which UUID it was published may be written down later`(isTaken: Bool) async throws {
    let (storage, probe) = (try StorageFixture(), StepProbe())
    let store = try await storage.open(faults: probe.faults)
    if isTaken { try await store.upload(sample) }
    let attachment = Attachment(report: .sample)
    let terms = UploadTerms(.whole(attachment), length: Int64(sample.bytes.count), dialect: "test")
    let id = try await store.createUpload(terms).id
    try await store.append(sample.bytes, to: id)
    probe.fail(.flushProgress)
    let outcome = try await store.commitUpload(id, as: attachment).outcome
    guard case .published(let snapshot, isNew: true) = outcome else {
      Issue.record("\(String(describing: outcome))")
      return
    }
    #expect((snapshot == sample.id) == !isTaken)
    await store.close()
    let reopened = try await storage.open()
    #expect(try await reopened.uploadSession(id).outcome == outcome)
    #expect(try await reopened.open(snapshot).contents == sample.bytes)
  }
}
