import Foundation
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// Sealed bundles, whose contents no store can read.
@Suite struct SealedBundleStoreTests {
  @Test(arguments: StoreKind.allCases)
  func `the record of a sealed bundle says to whom it is sealed, and nothing of its contents`(kind: StoreKind)
    async throws
  {
    let sample = try SealedSample()
    try await kind.withStore(validator: UploadValidator()) { store async throws in
      let attachment = Attachment(report: .sample, expected: .of(sample.bytes))
      let record = try await store.upload(sample.bytes, as: attachment).record
      #expect(record.sealed == sample.summary.manifest.sealed && record.sealed != nil)
      #expect(record.application.identifier == "com.example.news")
      #expect(record.recordingCount == 0 && record.identifiers == [] && record.metadata.isEmpty)
      let stored = try await store.record(record.id)
      #expect(stored.sealed == record.sealed)
      #expect(SealedSample.canaries(in: try SnapshotJSON.encode(stored)) == [])
      #expect(try await store.open(record.id).contents == sample.bytes)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a store that takes sealed bundles only refuses others`(kind: StoreKind) async throws {
    var validator = UploadValidator()
    validator.sealedOnly = true
    let sample = try SealedSample()
    try await kind.withStore(validator: validator) { store async throws in
      let attachment = Attachment(report: .sample)
      #expect(await failure { try await store.upload(sample.inner, as: attachment) } == "invalid")
      #expect(try await store.allRecords().isEmpty)
      #expect(try await store.upload(sample.bytes, as: attachment).record.sealed != nil)
    }
  }

  @Test(arguments: [false] + (CephCluster.isInstalled ? [true] : []))
  func `an object store keeps no byte of what a sealed bundle hides`(isCeph: Bool) async throws {
    guard isCeph else {
      try await withFakeS3 { try await search(try .of($0)) }
      return
    }
    try await search(try await CephCluster.shared.client(prefix: UUID().uuidString))
  }

  private func search(_ client: S3Client) async throws {
    let sample = try SealedSample()
    let folder = try TemporaryFolder()
    let store = try await S3BundleStore.open(
      .init(folder: folder.path + "/Node", validator: UploadValidator()), client: client,
      rows: InMemoryUploadRows(), logger: .quiet)
    _ = try await store.upload(sample.bytes, as: Attachment(report: .sample))
    let objects = try await client.list(prefix: "").objects
    #expect(objects.count >= 2)
    for object in objects {
      #expect(SealedSample.canaries(in: object.key.utf8) == [])
      #expect(SealedSample.canaries(in: try await client.get(object.key, limit: 1 << 20).bytes) == [])
    }
    await store.close()
    // The others are in what the inner bundle compresses.
    #expect(SealedSample.canaries(in: sample.inner).contains("canarycontents"))
  }
}
