import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

@Suite struct RecordCacheTests {
  private let records = (0..<8).map { _ in
    let id = SnapshotID()
    return SnapshotRecord(
      id: id, report: .sample, size: 1, sha256: .of([1]), receivedAt: Date(timeIntervalSince1970: 0),
      verified: .intact, manifest: SampleBundle.manifest(id))
  }

  @Test func `a record is cached until it changes`() {
    let cache = RecordCache()
    #expect(cache.entry(records[0].id)?.record == nil)
    cache.keep(records[0], bundle: "bundle", cost: 100, readAt: cache.changes)
    #expect(cache.entry(records[0].id)?.record == records[0])
    cache.forget(records[0].id)
    #expect(cache.entry(records[0].id)?.record == nil)
  }

  @Test func `a record that was read before a change is not cached after it`() {
    let cache = RecordCache()
    let before = cache.changes
    cache.forget(records[0].id)
    cache.keep(records[0], bundle: "bundle", cost: 100, readAt: before)
    #expect(cache.entry(records[0].id)?.record == nil)
  }

  @Test func `records that are not requested are evicted`() {
    // Each half holds two.
    let cache = RecordCache(byteLimit: 400)
    for record in records {
      cache.keep(record, bundle: "bundle", cost: 100, readAt: cache.changes)
      #expect(cache.entry(records[0].id)?.record == records[0], "what is asked for stays")
    }
    let kept = records.filter { cache.entry($0.id) != nil }
    #expect(kept.count <= 4)
    #expect(kept.contains(records[7]))
  }

  @Test(arguments: [(199, true), (200, true), (201, false)])
  func `a record that would fill more than half of the cache is not cached`(cost: Int, isKept: Bool) {
    let cache = RecordCache(byteLimit: 400)
    cache.keep(records[0], bundle: "bundle", cost: cost, readAt: cache.changes)
    #expect((cache.entry(records[0].id) != nil) == isKept)
  }

  @Test func `a cached record is read again after every change`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    _ = try await store.record(sample.id)
    _ = try await store.open(sample.id)
    for verification in [SnapshotRecord.Verification.pending, .intact, .damaged] {
      try await store.change(RecordChange(verified: verification), of: sample.id)
      #expect(try await store.record(sample.id).verified == verification)
      if verification == .damaged {
        #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      } else {
        #expect(try await store.open(sample.id).record.verified == verification)
      }
    }
    try await store.delete(sample.id)
    #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
    #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
  }

  @Test func `a bundle that was removed by hand is gone immediately`() async throws {
    let storage = try StorageFixture()
    let store = try await storage.open()
    let sample = SampleBundle()
    try await store.upload(sample)
    _ = try await store.record(sample.id)
    for kind in ["zip", "json"] { try Folder.removeIfPresent(storage.file(sample.id, kind)) }
    #expect(await failure { _ = try await store.record(sample.id) } == "notFound")
    #expect(await failure { _ = try await store.open(sample.id) } == "notFound")
  }
}
