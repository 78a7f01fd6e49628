import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO
import Testing

/// The rules of ``BundleStore`` on what is changed, let go and set aside, for every store alike.
@Suite struct BundleStoreKeepingConformance {
  private static let end = Date(timeIntervalSince1970: 1_900_000_000.123)

  @Test(arguments: StoreKind.allCases)
  func `a pin and an end are kept and taken away, and nothing else is changed`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      var record = try await store.upload(SampleBundle()).record
      func change(_ change: RecordChange) async throws {
        change.apply(to: &record)
        #expect(try await store.change(change, of: record.id) == record)
        #expect(try await store.record(record.id) == record)
        #expect(try await store.open(record.id).record == record)
      }
      try await change(RecordChange(isPinned: true))
      #expect(record.isPinned)
      try await change(RecordChange(end: .at(Self.end)))
      #expect(record.expiresAt == Self.end && record.isPinned)
      try await change(RecordChange(verified: .pending))
      try await change(RecordChange(isPinned: false, end: .never))
      #expect(!record.isPinned && record.expiresAt == nil && record.verified == .pending)
      try await change(RecordChange())
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an end that comes with the upload is kept`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let attachment = Attachment(
        report: .sample, id: sample.id, expiresAt: Self.end.addingTimeInterval(0.0004))
      #expect(try await store.upload(sample.bytes, as: attachment).record.expiresAt == Self.end)
      #expect(try await store.record(sample.id).expiresAt == Self.end)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `changes at the same time are all made`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample, expected: true)
      for _ in 0..<8 {
        try await store.change(RecordChange(verified: .pending, isPinned: false, end: .never), of: sample.id)
        try await withThrowingTaskGroup { group in
          for change in [
            RecordChange(verified: .intact), RecordChange(isPinned: true), RecordChange(end: .at(Self.end)),
          ] {
            for _ in 0..<4 { group.addTask { _ = try await store.change(change, of: sample.id) } }
          }
          try await group.waitForAll()
        }
        let record = try await store.record(sample.id)
        #expect(record.isPinned)
        #expect(record.expiresAt == Self.end)
        #expect(record.verified == .intact)
      }
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is deleted on a condition goes only where it holds`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      try await store.change(RecordChange(isPinned: true), of: sample.id)
      #expect(try await !store.delete(sample.id) { !$0.isPinned })
      #expect(try await store.open(sample.id).contents == sample.bytes)
      #expect(try await store.delete(sample.id) { $0.isPinned })
      #expect(await failure { _ = try await store.record(sample.id) } == "deleted")
      #expect(await failure { _ = try await store.delete(sample.id) { _ in true } } == "deleted")
      #expect(await failure { _ = try await store.delete(SnapshotID()) { _ in true } } == "notFound")
      #expect(await failure { try await store.change(RecordChange(), of: sample.id) } == "deleted")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what is set aside has a record and no bundle`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      var record = try await store.upload(sample).record
      record.verified = .damaged
      for _ in 0..<2 { #expect(try await store.setAside(sample.id) == record) }
      #expect(try await store.record(sample.id) == record)
      #expect(try await store.allRecords().map(\.verified) == [.damaged])
      #expect(try await store.summaries([sample.id, SnapshotID()]) == [RetentionSummary(record)])
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      record.isPinned = true
      #expect(
        try await store.change(RecordChange(verified: .intact, isPinned: true), of: sample.id) == record)
      #expect(try await store.record(sample.id) == record)
      #expect(try await store.ids(in: SnapshotShard(of: sample.id)) == [sample.id])
      try await store.delete(sample.id)
      #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
      #expect(await failure { try await store.setAside(sample.id) } == "deleted")
      #expect(await failure { try await store.setAside(SnapshotID()) } == "notFound")
      #expect(try await store.ids(in: SnapshotShard(of: sample.id)).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `the same bytes again put right what was set aside`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      let record = try await store.change(RecordChange(isPinned: true), of: sample.id)
      try await store.setAside(sample.id)
      let other = SampleBundle(id: sample.id, filling: "other")
      #expect(await failure { try await store.upload(other) } == "conflict")
      #expect(await failure { try await store.upload(sample, createOnly: true) } == "alreadyExists")
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      #expect(try await store.upload(sample) == .alreadyThere(record))
      #expect(try await store.open(sample.id).contents == sample.bytes)
      #expect(try await store.record(sample.id) == record)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `what was set aside is put right only by bytes that were checked whole`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle(.damaged)
      let record = try await store.upload(sample, expected: true).record
      #expect(record.verified == .pending)
      try await store.setAside(sample.id)
      #expect(await failure { try await store.upload(sample, expected: true) } == "invalid")
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")

      let intact = SampleBundle()
      try await store.upload(intact, expected: true)
      try await store.setAside(intact.id)
      #expect(try await store.upload(intact, expected: true).record.verified == .intact)
      #expect(try await store.record(intact.id).verified == .intact)
    }
  }
}
