import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct FileBundleStoreTests {
  @Test func `files have their documented paths and are accessible to their owner only`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.queues = ServerQueues(writers: 1) }
    let sample = SampleBundle()
    try await store.upload(sample)
    let shard = "bundles/\(sample.id.description.prefix(2))"
    #expect(
      try storage.entries() == [
        "bundles", shard, "\(shard)/\(sample.id).json", "\(shard)/\(sample.id).zip", "lock", "uploads",
      ])
    #expect(try storage.mode(storage.file(sample.id, "zip")) == 0o440)
    #expect(try storage.mode(storage.file(sample.id, "json")) == 0o600)
    #expect(try storage.mode(storage.path + "/lock") == 0o600)
    for folder in ["", "/bundles", "/uploads", "/" + shard] {
      #expect(try storage.mode(storage.path + folder) == 0o700)
    }

    let upload = try await store.beginUpload()
    try await upload.append(.large)
    await store.settle()
    let staged = try storage.entries().filter { $0.hasPrefix("uploads/") }
    #expect(try staged.map { try storage.mode("\(storage.path)/\($0)") } == [0o600])
    await upload.discard()
  }

  @Test func `a tombstone is empty, and no other file of the bundle remains`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    try await store.delete(sample.id)
    #expect(try File(storage.file(sample.id, "deleted")).size == 0)
    #expect(try storage.mode(storage.file(sample.id, "deleted")) == 0o600)
    #expect(try !Folder.exists(storage.file(sample.id, "zip")))
    #expect(try !Folder.exists(storage.file(sample.id, "json")))
    await store.close()
    let again = try await storage.open()
    #expect(await failure { _ = try await again.record(sample.id) } == "deleted")
    #expect(await failure { try await again.upload(sample) } == "deleted")
  }

  @Test func `a committed bundle exists after a restart`() async throws {
    let storage = try StorageFixture()
    let samples = (0..<5).map { SampleBundle(filling: "\($0)") }
    let first = try await storage.open()
    var records: Set<SnapshotRecord> = []
    for sample in samples { records.insert(try await first.upload(sample).record) }
    await first.close()
    let second = try await storage.open()
    #expect(Set(try await second.allRecords()) == records)
    for sample in samples { #expect(try await second.open(sample.id).contents == sample.bytes) }
  }

  @Test func `two servers can't use the same storage`() async throws {
    let storage = try StorageFixture()
    let first = try await storage.open()
    do {
      _ = try await storage.open()
      Issue.record("two stores in one folder")
    } catch FileBundleStore.OpeningError.inUse(let path) {
      #expect(path == storage.path)
    }
    await first.close()
    await (try storage.open()).close()
  }

  @Test func `removing or replacing the lock file does not admit a second server`() async throws {
    let storage = try StorageFixture()
    let first = try await storage.open()
    let lock = storage.path + "/lock"
    for makesNew in [false, true] {
      if try Folder.exists(lock) { try Folder.remove(lock) }
      if makesNew { try Data().write(to: URL(filePath: lock)) }
      await #expect(throws: FileBundleStore.OpeningError.self) { _ = try await storage.open() }
    }
    await first.close()
    await (try storage.open()).close()
  }

  @Test func `a closed store refuses everything`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    let upload = try await store.beginUpload()
    try await upload.append(IOBuffer(sample.bytes))
    await store.close()
    #expect(await failure { _ = try await upload.commit(Attachment(report: .sample)) } == "system")
    #expect(await failure { _ = try await store.beginUpload() } == "system")
    #expect(try storage.entries() == ["bundles", "clean", "lock", "uploads"])
  }

  @Test func `the error for a storage that can't be created contains its path`() async throws {
    let storage = try StorageFixture()
    try storage.folder.write(Data(), to: "file")
    let path = storage.folder.path + "/file/Storage"
    do {
      _ = try await storage.open(at: path)
      Issue.record("opened a folder below a file")
    } catch FileBundleStore.OpeningError.system(let failure) {
      #expect(failure.path?.hasPrefix(storage.folder.path + "/file") == true)
      #expect("\(FileBundleStore.OpeningError.system(failure))".contains(storage.folder.path + "/file"))
    }
  }

  @Test(arguments: [(-1, "outOfSpace"), (0, nil), (1, nil)] as [(Int64, String?)])
  func `an upload is refused once it would use the reserved space`(spare: Int64, expected: String?)
    async throws
  {
    let storage = try StorageFixture()
    let sample = SampleBundle()
    let available = 1000 + Int64(sample.bytes.count) + spare
    let store = try await storage.open(
      { $0.reserve = 1000 }, faults: FaultInjection(availableBytes: { _ in available }))
    let upload = try await store.beginUpload()
    let attachment = Attachment(report: .sample, id: sample.id)
    // A failure to write is thrown by this call or the next.
    let told = await failure {
      try await upload.append(IOBuffer(sample.bytes))
      _ = try await upload.commit(attachment)
    }
    #expect(told == expected)
    if expected != nil {
      #expect(await failure { try await upload.append(IOBuffer([1])) } == expected)
      #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    }
  }

  @Test func `an upload that is never ended is removed when it is deallocated`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.queues = ServerQueues(writers: 1) }
    do {
      let upload = try await store.beginUpload()
      try await upload.append(.large)
      await store.settle()
      #expect(try Folder.entries(storage.path + "/uploads").count == 1)
    }
    await store.settle()
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
  }

  @Test func `the bytes of a transient upload are removed after the server was killed`()
    async throws
  {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.queues = ServerQueues(writers: 1) }
    let upload = try await store.beginUpload()
    try await upload.append(.large)
    await store.settle()
    let copy = storage.folder.path + "/copy"
    try FileManager.default.copyItem(atPath: storage.path, toPath: copy)
    #expect(try Folder.entries(copy + "/uploads").count == 1)
    let restarted = try await StorageFixture.open(copy)
    await restarted.recovered()
    #expect(try Folder.entries(copy + "/uploads").isEmpty)
    #expect(await restarted.uploadSessions().isEmpty)
    await upload.discard()
  }

  @Test func `a short upload is published while the writer of long ones is blocked`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.queues = ServerQueues(writers: 1) }
    let gate = DispatchSemaphore(value: 0)
    store.uploads.queues.writers.next.async { gate.wait() }
    let length = FileUploads.shortLength + 1
    let long = Task { await (try store.beginUpload(expecting: length)).discard() }
    for index in 0..<4 {
      // Some are collected in memory, and some are too long for that.
      let sample = SampleBundle(filling: "\(index)", count: index * ArrivingBytes.gatheredSize)
      let upload = try await store.beginUpload(expecting: Int64(sample.bytes.count))
      try await upload.append(IOBuffer(sample.bytes))
      _ = try await upload.commit(Attachment(report: .sample, id: sample.id))
      #expect(try await store.open(sample.id).contents == sample.bytes)
    }
    gate.signal()
    try await long.value
  }

  @Test func `a long upload that is written back while it arrives is complete`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle(count: 7 << 20)
    let upload = try await store.beginUpload(expecting: Int64(sample.bytes.count))
    for start in stride(from: 0, to: sample.bytes.count, by: 999_999) {
      try await upload.append(IOBuffer(sample.bytes[start..<min(start + 999_999, sample.bytes.count)]))
    }
    _ = try await upload.commit(Attachment(report: .sample, id: sample.id, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `a few bytes create no file until there are more, and are not lost`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.queues = ServerQueues(writers: 1) }
    let sample = SampleBundle(count: ArrivingBytes.gatheredSize)
    let upload = try await store.beginUpload()
    for byte in sample.bytes[..<100] { try await upload.append(IOBuffer([byte])) }
    await store.settle()
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    for start in stride(from: 100, to: sample.bytes.count, by: 999) {
      try await upload.append(IOBuffer(sample.bytes[start..<min(start + 999, sample.bytes.count)]))
    }
    await store.settle()
    #expect(try Folder.entries(storage.path + "/uploads").count == 1)
    _ = try await upload.commit(Attachment(report: .sample, id: sample.id, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `a file in place of a folder affects only that upload`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let blocked = SampleBundle()
    let shard = String(blocked.id.description.prefix(2))
    try storage.folder.write(Data(), to: "Storage/bundles/\(shard)")
    #expect(await failure { try await store.upload(blocked) } == "system")
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    let other = try #require(
      (0..<100).map { _ in SampleBundle() }.first { !$0.id.description.hasPrefix(shard) })
    try await store.upload(other)
    #expect(try await store.open(other.id).contents == other.bytes)
  }

  @Test func `a bundle that another program put there is not overwritten`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try storage.folder.write(
      Data([1]), to: "Storage/" + storage.file(sample.id, "zip").dropFirst(storage.path.count + 1))
    #expect(await failure { try await store.upload(sample) } == "system")
    #expect(try File(storage.file(sample.id, "zip")).read(upTo: 10, at: 0) == [1])
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
  }

  @Test func `a record that can't be read is omitted from the list and logged`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let (good, bad) = (SampleBundle(), SampleBundle())
    for sample in [good, bad] { try await store.upload(sample) }
    try DurableFile.replace(storage.file(bad.id, "json"), with: Array("{}".utf8))
    #expect(try await store.allRecords().map(\.id) == [good.id])
    #expect(await failure { _ = try await store.record(bad.id) } == "damaged")
  }

  @Test(arguments: [
    StoreError.notFound, .deleted, .conflict, .alreadyExists, .outOfSpace, .outOfInodes,
    .quotaExceeded(limit: 1), .damaged,
  ])
  func `every refusal is one sentence`(error: StoreError) {
    #expect("\(error)".hasSuffix("."))
    #expect("\(error)".contains(" "))
  }
}

extension FileBundleStore {
  /// Returns when the writer has done all of its work.
  fileprivate func settle() async { await uploads.queues.writers.next.perform {} }
}

extension IOBuffer {
  /// More bytes than are collected before they are written.
  fileprivate static var large: IOBuffer {
    IOBuffer([UInt8](repeating: 1, count: ArrivingBytes.gatheredSize + 1))
  }
}
