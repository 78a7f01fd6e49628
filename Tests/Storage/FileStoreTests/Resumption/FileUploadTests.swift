import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct FileUploadTests {
  private let sample = SampleBundle(count: 9000)
  private var size: Int64 { Int64(sample.bytes.count) }

  @Test func `an upload can continue after any number of restarts`() async throws {
    let storage = try StorageFixture()
    var id: UploadID?
    for start in stride(from: 0, to: sample.bytes.count, by: 1000) {
      let store = try await storage.open()
      if id == nil { id = try await store.createUpload(.of(sample, owner: "token")).id }
      let id = try #require(id)
      let session = try await store.uploadSession(id)
      #expect((session.offset, session.terms.owner) == (Int64(start), "token"))
      #expect(store.folder.quotaTracker.arriving == Int64(start))
      try await store.append(sample.bytes[start..<min(start + 1000, sample.bytes.count)], to: id)
      await store.close()
    }
    let store = try await storage.open()
    let ended = try await store.commitUpload(try #require(id), as: .of(sample, expected: sample.sha256))
    #expect(ended.outcome == .published(sample.id, isNew: true))
    #expect(try await store.open(sample.id).contents == sample.bytes)
    #expect(store.usage == StoreUsage(bundles: 1, bytes: size))
    await store.close()
    let reopened = try await storage.open()
    #expect(try await reopened.uploadSession(ended.id) == ended)
  }

  @Test func `bytes that are not durable are truncated when the store is opened`() async throws {
    let storage = try StorageFixture()
    let first = try await storage.open()
    let id = try await first.createUpload(.of(sample)).id
    try await first.append(sample.bytes[..<1000], to: id)
    let path = first.folder.layout.path(.bytes, of: id)
    await first.close()
    // Bytes that a power cut can leave behind the flushed ones.
    let file = try File(path, .update)
    try file.write([UInt8](repeating: 0xFF, count: 5000), at: 1000)
    #expect(try file.size == 6000)
    let store = try await storage.open()
    #expect(try Folder.size(of: path) == 1000)
    #expect(try file.read(upTo: 2000, at: 0) == Array(sample.bytes[..<1000]))
    #expect(try await store.uploadSession(id).offset == 1000)
    try await store.append(sample.bytes[1000...], to: id)
    _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
    await store.close()
  }

  @Test func `a bundle is published without copying its bytes`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes, to: id)
    let inode = try FileManager.default.attributesOfItem(atPath: store.folder.layout.path(.bytes, of: id))[
      .systemFileNumber]
    _ = try await store.commitUpload(id, as: .of(sample))
    let published = try FileManager.default.attributesOfItem(atPath: storage.file(sample.id, "zip"))
    #expect(published[.systemFileNumber] as? Int == inode as? Int)
    #expect(try storage.mode(storage.file(sample.id, "zip")) == 0o440)
  }

  @Test func `files of no upload, and incomplete uploads, are removed at the next start`() async throws {
    let storage = try StorageFixture()
    let first = try await storage.open()
    let (kept, torn) = (
      try await first.createUpload(.of(sample)).id, try await first.createUpload(.of(sample)).id
    )
    let lost = try await first.createUpload(.of(sample)).id
    try await first.append(sample.bytes[..<100], to: lost)
    await first.close()
    let layout = first.folder.layout
    try File(layout.path(.state, of: torn), .update).write([UInt8](repeating: 1, count: 100), at: 0)
    try File(layout.path(.bytes, of: lost), .update).truncate(to: 99)
    let stray = UploadID()
    for part in StorageLayout.UploadPart.allCases {
      _ = try File(layout.path(part, of: stray), .create(mode: 0o600))
    }
    let store = try await storage.open()
    #expect(await store.uploadSessions().map(\.id) == [kept])
    #expect(try Folder.entries(layout.uploads) == ["\(kept).part", "\(kept).upload"])
  }

  @Test(arguments: [0, 1], 0..<130)
  func `a damaged progress slot is ignored`(slot: Int, index: Int) async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let id = try await store.createUpload(.of(sample)).id
    try await store.append(sample.bytes[..<10], to: id)
    try await store.append(sample.bytes[10..<20], to: id)
    await store.close()
    let file = try File(store.folder.layout.path(.state, of: id), .update)
    let place = Int64(slot * 4096 + index)
    try file.write(try file.read(upTo: 1, at: place).map { $0 ^ 0x40 }, at: place)
    // The second progress, with number 2, is in the first slot. The other slot contains the one before.
    let session = try #require(try UploadFile.read(file)).session
    #expect(session.offset == (slot == 0 ? 10 : 20))
  }

  @Test(arguments: [(-1, "store quotaExceeded"), (0, nil)] as [(Int64, String?)])
  func `the received bytes of open uploads count towards the quota`(
    spare: Int64, expected: String?
  ) async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.quota = 2 * size + spare }
    let id = try await store.createUpload(.of(sample)).id
    // A declared length does not reserve space.
    let second = try await store.createUpload(.of(SampleBundle(count: 9000), deferred: true)).id
    try await store.append(sample.bytes, to: id)
    #expect(
      await uploadFailure { try await store.append(sample.bytes, to: second, declared: false) } == expected)
    if expected != nil {
      #expect(await uploadFailure { try await store.append(sample.bytes, to: second) } == expected)
      #expect(await uploadFailure { _ = try await store.createUpload(.of(sample)) } == expected)
      // The received bytes are kept, and the upload can continue once there is space.
      #expect(try await store.uploadSession(id).offset == size)
      #expect(store.folder.quotaTracker.arriving == size)
      try await store.removeUpload(id)
      #expect(store.folder.quotaTracker.arriving == 0)
      try await store.append(sample.bytes, to: second)
    }
  }

  @Test func `an upload is refused before the disk is full, and the received bytes count`() async throws {
    let storage = try StorageFixture()
    let free = FreeSpace()
    let store = try await storage.open({ $0.reserve = 1000 }, faults: free.faults)
    free.bytes = 1000 + size - 1
    #expect(await uploadFailure { _ = try await store.createUpload(.of(sample)) } == "store outOfSpace")
    free.bytes = 1000 + size
    let id = try await store.createUpload(.of(sample)).id
    free.bytes = 1000 + 4000
    #expect(await uploadFailure { try await store.append(sample.bytes, to: id) } == "store outOfSpace")
    #expect(
      await uploadFailure {
        try await store.append(sample.bytes, to: id, declared: false, pieceSize: 4001)
      } == "store outOfSpace")
    #expect(try await store.uploadSession(id).offset == 0)
    try await store.append(sample.bytes[..<4000], to: id, pieceSize: 4000)
    free.bytes = .max / 2
    try await store.append(sample.bytes[4000...], to: id)
    _ = try await store.commitUpload(id, as: .of(sample, expected: sample.sha256))
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `a digest catches up with bytes that arrived before a restart`() throws {
    let folder = try TemporaryFolder()
    let file = try File(folder.file("f").path, .create(mode: 0o600))
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    try file.write(bytes, at: 0)
    var digest = PrefixDigest()
    try digest.take(IOBuffer(bytes[90_000..<91_000]), at: 90_000, of: file)
    #expect(digest.count == 4000)
    try digest.catchUp(to: 91_000, of: file)
    try digest.take(IOBuffer(bytes[91_000...]), at: 91_000, of: file)
    #expect(digest.value == .of(bytes))
    #expect(throws: SystemError.self) { try digest.catchUp(to: 100_001, of: file) }
  }
}

/// The free space of the disk, as set by a test.
private final class FreeSpace: Sendable {
  private let count = Lock<Int64>(.max / 2)

  var bytes: Int64 {
    get { count.value }
    set { count.set(newValue) }
  }

  var faults: FaultInjection { FaultInjection(availableBytes: { _ in self.bytes }) }
}
