import FileStore
import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

@Suite struct FileBundleStoreQuotaTests {
  private let samples = (0..<3).map { _ in SampleBundle(count: 1000) }
  private var size: Int64 { Int64(samples[0].bytes.count) }

  @Test(arguments: [(-1, "quotaExceeded"), (0, nil), (1, nil)] as [(Int64, String?)])
  func `an upload is refused once it exceeds the quota, with and without a declared length`(
    spare: Int64, expected: String?
  ) async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.quota = 2 * size + spare }
    try await store.upload(samples[0])
    #expect(store.usage == StoreUsage(bundles: 1, bytes: size))
    #expect(await failure { await (try store.beginUpload(expecting: size)).discard() } == expected)
    #expect(await failure { try await store.upload(samples[1]) } == expected)
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
    #expect(store.usage.bytes == (expected == nil ? 2 : 1) * size)
    #expect(try await store.open(samples[0].id).contents == samples[0].bytes)
  }

  @Test func `arriving bytes count towards the quota until the upload is discarded`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.quota = 2 * size }
    let first = try await store.beginUpload(expecting: size)
    try await first.append(IOBuffer(samples[0].bytes))
    // The next piece waits for room, and so until the first one is written.
    let second = try await store.beginUpload(expecting: nil)
    let told = await failure {
      for _ in 0..<3 { try await second.append(IOBuffer(samples[1].bytes)) }
      _ = try await second.commit(Attachment(report: .sample))
    }
    #expect(told == "quotaExceeded")
    _ = try await first.commit(Attachment(report: .sample, id: samples[0].id))
    try await store.upload(samples[1])
    #expect(await failure { try await store.upload(samples[2]) } == "quotaExceeded")
    #expect(store.usage == StoreUsage(bundles: 2, bytes: 2 * size))
  }

  @Test func `refused, deleted and repeated uploads take no space`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.quota = 2 * size }
    for _ in 0..<5 {
      try await store.upload(samples[0])
      #expect(await failure { try await store.upload(SampleBundle(.broken, count: 500)) } == "invalid")
      let sample = SampleBundle(count: 1000)
      try await store.upload(sample)
      try await store.delete(sample.id)
    }
    #expect(store.usage == StoreUsage(bundles: 1, bytes: size))
  }

  @Test func `a repeated upload takes no space from its answer on`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open { $0.quota = 2 * size }
    try await store.upload(samples[0])
    let repeated = try await store.beginUpload(expecting: size)
    try await repeated.append(IOBuffer(samples[0].bytes))
    _ = try await repeated.commit(Attachment(report: .sample, id: samples[0].id))
    try await store.upload(samples[1])
    withExtendedLifetime(repeated) {}
  }

  @Test func `the usage is counted again at the next start`() async throws {
    let storage = try StorageFixture()
    let first = try await storage.open()
    for sample in samples { try await first.upload(sample) }
    try await first.setAside(samples[1].id)
    try await first.delete(samples[2].id)
    #expect(first.usage == StoreUsage(bundles: 2, bytes: 2 * size))
    await first.close()
    let second = try await storage.open { $0.quota = 2 * size }
    #expect(second.usage == StoreUsage(bundles: 2, bytes: 2 * size))
    #expect(await failure { _ = try await second.beginUpload(expecting: 1) } == "quotaExceeded")
  }

  @Test func `an upload that can't fit on the disk is refused before its bytes arrive`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open(
      { $0.reserve = 1000 }, faults: FaultInjection(availableBytes: { _ in 5_000_000 + 1000 }))
    await (try store.beginUpload(expecting: 5_000_000)).discard()
    #expect(await failure { _ = try await store.beginUpload(expecting: 5_000_001) } == "outOfSpace")
    #expect(await failure { _ = try await store.beginUpload(expecting: .max) } == "outOfSpace")
  }

  @Test(arguments: [false, true])
  func `an upload that does not fit uses the space that others give back`(isGivenBack: Bool) async throws {
    let storage = try StorageFixture()
    let available = Lock<Int64>(1000)
    let count = Lock(0)
    let store = try await storage.open(
      { configuration in
        configuration.reserve = 1000
        configuration.onShortage = {
          count.withLock { $0 += 1 }
          if isGivenBack { available.withLock { $0 = 6_000_000 } }
        }
      }, faults: FaultInjection(availableBytes: { _ in available.withLock(\.self) }))
    let told = await failure { await (try store.beginUpload(expecting: 5_000_000)).discard() }
    #expect(told == (isGivenBack ? nil : "outOfSpace"))
    #expect(count.withLock(\.self) == 1)
  }

  @Test func `a small upload that does not fit on the disk is refused after its bytes arrived`() async throws
  {
    let storage = try StorageFixture()
    let store = try await storage.open(
      { $0.reserve = 1000 }, faults: FaultInjection(availableBytes: { _ in 1500 }))
    let sample = SampleBundle(count: 1000)
    let upload = try await store.beginUpload(expecting: Int64(sample.bytes.count))
    try await upload.append(IOBuffer(sample.bytes))
    let attachment = Attachment(report: .sample, id: sample.id)
    #expect(await failure { _ = try await upload.commit(attachment) } == "outOfSpace")
    #expect(try Folder.entries(storage.path + "/uploads").isEmpty)
  }
}
