import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Stores with real bundles of the snapshot format, checked by the format's own validator.
@Suite struct RealBundleTests {
  @Test(arguments: StoreKind.allCases)
  func `a bundle is published under its manifest's id with the manifest's contents`(kind: StoreKind)
    async throws
  {
    let (packed, bytes) = try pack()
    try await kind.withStore(validator: UploadValidator()) { store async throws in
      let record = try await store.upload(
        bytes, as: Attachment(report: .sample, expected: packed.sha256), pieceSize: 1000
      ).record
      #expect(record.id == packed.manifest.id)
      #expect(record.sha256 == packed.sha256)
      #expect(record.size == packed.size)
      #expect(record.recordingCount == 2)
      #expect(record.application == packed.manifest.application)
      #expect(try await store.open(record.id).contents == bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a bundle that is truncated or has a wrong byte is refused`(kind: StoreKind) async throws {
    let (_, bytes) = try pack()
    let damaged = try damage(bytes)
    try await kind.withStore(validator: UploadValidator()) { store async throws in
      for arrived in [Array(bytes.dropLast()), damaged, [], Array("PK".utf8)] {
        #expect(
          await failure { try await store.upload(arrived, as: Attachment(report: .sample)) } == "invalid")
      }
      #expect(try await store.allRecords().isEmpty)
    }
  }

  @Test func `a bundle that was damaged before its digest was computed is found damaged afterwards`()
    async throws
  {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open {
      $0.validator = UploadValidator(wholeUpTo: 0)
      $0.onVerification = { heard.yield($0) }
    }
    let bytes = try damage(pack().bytes)
    let attachment = Attachment(report: .sample, expected: .of(bytes))
    #expect(try await store.upload(bytes, as: attachment).record.verified == .pending)
    #expect(await records.first { _ in true }?.verified == .damaged)
  }

  @Test func `a bundle that exceeds a lowered limit is not damaged`() async throws {
    let storage = try StorageFixture()
    let (packed, bytes) = try pack()
    let former = try await storage.open {
      $0.validator = UploadValidator(wholeUpTo: 0)
      // The bundle stays pending.
      $0.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full { throw .system(SystemError(operation: "pread", code: 5)) }
        return try BundleCheck(zip: zip, depth: depth)
      }
    }
    try await former.upload(bytes, as: Attachment(report: .sample, expected: packed.sha256))
    await former.close()
    let (checks, checked) = AsyncStream<Bool>.makeStream()
    let store = try await storage.open {
      $0.validator.validate = { zip, depth throws(BundleError) in
        defer { checked.yield(true) }
        return try BundleCheck(zip: zip, depth: depth, inflatedBytes: 1000)
      }
    }
    _ = await checks.first { $0 }
    await store.verification.queue.perform {}
    #expect(try await store.record(packed.manifest.id).verified == .pending)
    #expect(try await store.open(packed.manifest.id).contents == bytes)
    #expect(
      await failure { try await store.upload(bytes, as: Attachment(report: .sample, id: SnapshotID())) }
        == "invalid")
  }

  @Test(arguments: StoreKind.allCases)
  func `a bundle is small if its inflated files are`(kind: StoreKind) async throws {
    let zeros = Data(count: Int(UploadValidator.smallBundleBytes))
    for (data, verified) in [(zeros, SnapshotRecord.Verification.pending), (zeros.prefix(1 << 20), .intact)] {
      let (packed, bytes) = try pack(data)
      #expect(packed.size < 256 << 10)
      try await kind.withStore(validator: UploadValidator()) { store async throws in
        let attachment = Attachment(report: .sample, expected: packed.sha256)
        #expect(try await store.upload(bytes, as: attachment).record.verified == verified)
      }
    }
  }

  private func pack(
    _ feed: Data = Data((0..<5000).map { _ in UInt8.random(in: 0...255) })
  ) throws -> (packed: SnapshotBundle.Packed, bytes: [UInt8]) {
    let folder = try TemporaryFolder()
    try folder.write(feed, to: "plain/news/feed")
    try folder.write(Data("hello".utf8), to: "plain/news/item")
    let manifest = SampleBundle.manifest(SnapshotID())
    let packed = try SnapshotBundle.pack(
      plainFolder: folder.file("plain"), application: manifest.application, device: manifest.device,
      to: folder.file("bundle.zip"))
    return (packed, try File(folder.file("bundle.zip").path).read(upTo: Int(packed.size), at: 0))
  }

  /// Changes a byte in the middle of the larger recording, which a check of the structure does not detect.
  private func damage(_ bytes: [UInt8]) throws -> [UInt8] {
    var bytes = bytes
    let name = Array("news".utf8)
    let start = try #require(
      bytes.indices.first { bytes[$0...].starts(with: name) && bytes[$0 - 1] == UInt8(ascii: "/") })
    bytes[start + 2500] ^= 1
    return bytes
  }
}
