import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO
import Testing

@testable import FileStore

@Suite struct FileBundleStoreVerificationTests {
  @Test(arguments: [(SampleBundle.Quality.intact, SnapshotRecord.Verification.intact), (.damaged, .damaged)])
  func `what was answered before its checksums were looked at is looked at afterwards`(
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
    #expect(try await store.open(sample.id).contents == sample.bytes)
  }

  @Test func `what is pending is taken up after a restart`() async throws {
    let storage = try StorageFixture()
    let samples = [SampleBundle(), SampleBundle(.damaged), SampleBundle()]
    let failing = try await storage.open { configuration in
      configuration.admission.validate = { zip, depth throws(BundleError) in
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

  @Test func `a store closes while a bundle is looked at, and nothing is written afterwards`() async throws {
    let storage = try StorageFixture()
    let (started, starting) = AsyncStream<Void>.makeStream()
    let gate = DispatchSemaphore(value: 0)
    let store = try await storage.open { configuration in
      configuration.admission.validate = { zip, depth throws(BundleError) in
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
      $0.admission.validate = { _, _ throws(BundleError) in
        throw .system(SystemError(operation: "pread", code: POSIXErrorCode.EIO.rawValue))
      }
    }
    #expect(try await again.record(sample.id).verified == .pending)
  }
}
