import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct FileBundleStoreVerificationTests {
  @Test(arguments: [(SampleBundle.Quality.intact, SnapshotRecord.Verification.intact), (.damaged, .damaged)])
  func `a bundle that was answered before its checksums were verified is verified afterwards`(
    quality: SampleBundle.Quality, expected: SnapshotRecord.Verification
  ) async throws {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    let sample = SampleBundle(quality)
    let publication = try await store.upload(sample, expected: true)
    #expect(publication.record.verified == .pending)
    let verified = try #require(await records.first { _ in true })
    #expect(verified.id == sample.id)
    #expect(verified.verified == expected)
    #expect(try await store.record(sample.id) == verified)
    if quality == .intact { #expect(try await store.open(sample.id).contents == sample.bytes) }
  }

  /// A store with a bundle whose checksums were found damaged after the upload was answered.
  private func damaged(
    _ storage: StorageFixture, _ sample: SampleBundle
  ) async throws -> FileBundleStore {
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    try await store.upload(sample, expected: true)
    #expect(await records.first { _ in true }?.verified == .damaged)
    return store
  }

  @Test func `a bundle that was found damaged can't be opened, immediately and after a restart`() async throws
  {
    let storage = try StorageFixture()
    let sample = SampleBundle(.damaged)
    var store = try await damaged(storage, sample)
    for _ in 0..<2 {
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      #expect(await failure { _ = try await store.openAnew(sample.id) } == "damaged")
      #expect(try await store.record(sample.id).verified == .damaged)
      #expect(try await store.allRecords().map(\.verified) == [.damaged])
      #expect(try Folder.exists(storage.file(sample.id, "damaged")))
      #expect(try !Folder.exists(storage.file(sample.id, "zip")))
      let scrubber = Scrubber(.init(bytesPerSecond: 1 << 30), store: store, catalog: InMemoryCatalog())
      #expect(try await scrubber.run()?.damagedSnapshots == [sample.id])
      await store.close()
      store = try await storage.open()
    }
  }

  @Test func `damaged bytes are refused when they are uploaded again`() async throws {
    let storage = try StorageFixture()
    let sample = SampleBundle(.damaged)
    let store = try await damaged(storage, sample)
    for expected in [true, false] {
      #expect(await failure { try await store.upload(sample, expected: expected) } == "invalid")
    }
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(try storage.entries().filter { $0.hasPrefix("uploads/") }.isEmpty)
  }

  @Test func `uploading the same bytes repairs a bundle that was damaged on disk before its verification`()
    async throws
  {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let store = try await storage.open { configuration in
      configuration.onVerification = { heard.yield($0) }
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full { gate.wait() }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let sample = SampleBundle(.intact)
    try await store.upload(sample, expected: true)
    let path = storage.file(sample.id, "zip")
    try File(path).setMode(0o640)
    try File(path, .update).write(Array("broken".utf8), at: Int64("\(sample.id) ".utf8.count))
    gate.signal()
    #expect(await records.first { _ in true }?.verified == .damaged)
    gate.signal()
    let publication = try await store.upload(sample, expected: true)
    #expect(publication.record.verified == .intact)
    #expect(publication == .alreadyThere(publication.record))
    #expect(try await store.open(sample.id).contents == sample.bytes)
    #expect(try await store.record(sample.id) == publication.record)
    await store.close()
    let again = try await storage.open()
    #expect(try await again.record(sample.id) == publication.record)
  }

  @Test(arguments: [SampleBundle.Quality.damaged, .intact])
  func `a bundle recorded as damaged but not set aside is checked again at the next start`(
    quality: SampleBundle.Quality
  ) async throws {
    let storage = try StorageFixture()
    let sample = SampleBundle(quality)
    let former = try await storage.open {
      $0.validator.validate = { zip, _ throws(BundleError) in try SampleBundle.validate(zip, .structure) }
    }
    try await former.upload(sample)
    try await former.change(RecordChange(verified: .damaged), of: sample.id)
    await former.close()
    #expect(try Folder.exists(storage.file(sample.id, "zip")))
    // Such a record is from a version that did not write this file.
    try Folder.remove(storage.path + "/clean")

    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    let verified = await records.first { _ in true }?.verified
    #expect(verified == (quality == .intact ? .intact : .damaged))
    #expect(
      await failure { _ = try await store.open(sample.id) } == (quality == .intact ? nil : "damaged"))
  }

  @Test(arguments: [-1, 1], [false, true])
  func `a bundle whose length differs from its record is damaged`(
    difference: Int64, isOpen: Bool
  ) async throws {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    if isOpen { _ = try await (store.open(sample.id), store.open(sample.id)) }
    let file = try File(storage.file(sample.id, "zip"))
    try file.setMode(0o640)
    try File(file.path, .update).truncate(to: file.size + difference)
    #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
    #expect(await records.first { _ in true }?.verified == .damaged)
    #expect(try await store.record(sample.id).verified == .damaged)
    #expect(try Folder.exists(storage.file(sample.id, "damaged")))
    #expect(try await store.upload(sample).record.verified == .intact)
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `pending verifications are resumed after a restart`() async throws {
    let storage = try StorageFixture()
    let samples = [SampleBundle(), SampleBundle(.damaged), SampleBundle()]
    let failing = try await storage.open { configuration in
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full {
          throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
        }
        return try SampleBundle.validate(zip, depth)
      }
    }
    for sample in samples { try await failing.upload(sample, expected: true) }
    await failing.close()

    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let store = try await storage.open { $0.onVerification = { heard.yield($0) } }
    var found: [SnapshotID: SnapshotRecord.Verification] = [:]
    for await record in records {
      found[record.id] = record.verified
      if found.count == samples.count { break }
    }
    #expect(samples.map { found[$0.id] } == [.intact, .damaged, .intact])
    #expect(Set(try await store.allRecords().map(\.verified)) == [.intact, .damaged])
  }

  @Test func `a result that was held back for the next bundle is recorded if the check of that one fails`()
    async throws
  {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let checked = Lock(0)
    let store = try await storage.open { configuration in
      configuration.onVerification = { heard.yield($0) }
      configuration.validator.validate = { zip, depth throws(BundleError) in
        let number = depth == .full ? checked.add(1) : 0
        // The second and the third bundle are uploaded meanwhile, so that both wait.
        if number == 1 { gate.wait() }
        if number == 3 { throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue)) }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let samples = [1, 2, 3].map { SampleBundle(count: 1000 * $0) }
    for sample in samples { try await store.upload(sample, expected: true) }
    gate.signal()
    var verified: Set<SnapshotID> = []
    for await record in records.prefix(2) { verified.insert(record.id) }
    #expect(verified == Set(samples[..<2].map(\.id)))
    #expect(try await store.record(samples[2].id).verified == .pending)
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `a damaged bundle is set aside while other bundles still wait for their check`() async throws {
    let storage = try StorageFixture()
    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let (first, rest, hasBegun) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), Signal())
    let checked = Lock(0)
    let store = try await storage.open { configuration in
      configuration.onVerification = { heard.yield($0) }
      configuration.validator.validate = { zip, depth throws(BundleError) in
        let number = depth == .full ? checked.add(1) : 0
        // The damaged bundle and the last one are uploaded meanwhile, so that both wait.
        if number == 1 {
          hasBegun.fire()
          first.wait()
        }
        if number == 3 { rest.wait() }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let samples = [SampleBundle(count: 1000), SampleBundle(.damaged), SampleBundle(count: 2000)]
    try await store.upload(samples[0], expected: true)
    // Otherwise the check of the damaged bundle, which is shorter, can be the first.
    await hasBegun.wait()
    for sample in samples.dropFirst() { try await store.upload(sample, expected: true) }
    first.signal()
    var verified: [SnapshotID] = []
    for await record in records.prefix(2) { verified.append(record.id) }
    #expect(verified == samples.prefix(2).map(\.id))
    #expect(await failure { _ = try await store.open(samples[1].id) } == "damaged")
    rest.signal()
    #expect(await records.first { _ in true }?.id == samples[2].id)
  }

  @Test(.timeLimit(.minutes(5 * Sanitizer.slowness)))
  func `a shard that could not be searched for pending bundles is searched by the next start`() async throws {
    let storage = try StorageFixture()
    let failing = try await storage.open { configuration in
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full {
          throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
        }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let sample = SampleBundle()
    try await failing.upload(sample, expected: true)
    let copy = try storage.copyAfterCrash()

    // The repair begins when the queue that searches is blocked, and the folder is gone when it continues.
    let (begin, gate) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
    let faults = FaultInjection(
      failure: { step in
        guard step == .repairInBackground else { return nil }
        begin.wait()
        begin.signal()
        return nil
      }, stamp: { _ in "unchanged" })
    let store = try await storage.open(faults: faults, at: copy, waits: false)
    store.verification.queue.async { gate.wait() }
    begin.signal()
    await store.recovered()
    let folder = "\(copy)/bundles/\(SnapshotShard(of: sample.id).digits)"
    try Folder.replace(copy + "/away", with: folder)
    gate.signal()
    await store.verification.queue.perform {}
    try Folder.replace(folder, with: copy + "/away")
    #expect(store.verification.unverifiedBundles == nil)
    #expect(await store.close() != nil)

    let (records, heard) = AsyncStream<SnapshotRecord>.makeStream()
    let next = try await storage.open(
      { $0.onVerification = { heard.yield($0) } }, faults: .unchangedFolders, at: copy)
    #expect(next.seal != nil)
    #expect(await records.first { _ in true }?.id == sample.id)
    await next.close()
    await failing.close()
  }

  @Test func `a store can be closed during a verification, and nothing is written afterwards`() async throws {
    let storage = try StorageFixture()
    let (started, starting) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let store = try await storage.open { configuration in
      configuration.validator.validate = { zip, depth throws(BundleError) in
        if depth == .full {
          starting.yield()
          gate.wait()
        }
        return try SampleBundle.validate(zip, depth)
      }
    }
    let sample = SampleBundle()
    try await store.upload(sample, expected: true)
    _ = await started.first { true }
    await store.close()
    gate.signal()
    let again = try await storage.open {
      $0.validator.validate = { _, _ throws(BundleError) in
        throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
      }
    }
    #expect(try await again.record(sample.id).verified == .pending)
  }
}
