import Foundation
import SnapshotFormat
import SnapshotStore
import SystemIO
import Testing

/// The guarantees of ``BundleStore`` for changes, deletions and bundles that are set aside, tested with every store.
@Suite struct BundleStoreKeepingConformance {
  private static let end = Date(timeIntervalSince1970: 1_900_000_000.123)

  @Test(arguments: StoreKind.allCases)
  func `a pin and an expiration are stored and removed, and nothing else changes`(kind: StoreKind)
    async throws
  {
    try await kind.withStore { store async throws in
      var record = try await store.upload(SampleBundle()).record
      func change(_ change: RecordChange) async throws {
        try change.apply(to: &record)
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
  func `every change raises the revision of a record, and what changes nothing does not`(kind: StoreKind)
    async throws
  {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      #expect(try await store.upload(sample).record.revision == nil)
      for (change, revision) in [
        (RecordChange(isPinned: true), 1), (RecordChange(isPinned: true), 1),
        (RecordChange(end: .at(Self.end)), 2), (try comment(1), 3), (try comment(1), 3),
        (RecordChange(isPinned: false, end: .never), 4),
      ] as [(RecordChange, Int64)] {
        #expect(try await store.change(change, of: sample.id).revision == revision)
        #expect(try await store.openAnew(sample.id).record.revision == revision)
      }
      // A repair is not older than the damage.
      let damaged = try #require(try await store.setAside(sample.id).revision)
      #expect(damaged >= 4)
      #expect(try #require(try await store.upload(sample).record.revision) >= damaged)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `an expiration that is sent with the upload is stored`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      let attachment = Attachment(
        report: .sample, id: sample.id, expiresAt: Self.end.addingTimeInterval(0.0004))
      #expect(try await store.upload(sample.bytes, as: attachment).record.expiresAt == Self.end)
      #expect(try await store.record(sample.id).expiresAt == Self.end)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `concurrent changes are all applied`(kind: StoreKind) async throws {
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

  private static let limits = SnapshotComment.Limits()

  private func comment(_ number: Int, token: String? = nil) throws -> RecordChange {
    let comment = try #require(
      SnapshotComment(
        "comment \(number)", writtenAt: Self.end, author: token.map { "\($0)’s" }, token: token))
    return RecordChange(comment: comment)
  }

  @Test(arguments: StoreKind.allCases)
  func `comments are stored in order, with their authors, and one that is repeated is stored once`(
    kind: StoreKind
  ) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      var record = try await store.upload(sample).record
      #expect(record.comments == nil)
      for (number, token, count) in [(1, nil, 1), (2, "a", 2), (2, "a", 2), (2, "b", 3), (1, nil, 4)] {
        try comment(number, token: token).apply(to: &record)
        #expect(try await store.change(comment(number, token: token), of: sample.id) == record)
        #expect(try await store.record(sample.id) == record)
        #expect(try await store.openAnew(sample.id).record == record)
        #expect(record.comments?.count == count)
      }
      #expect(record.comments?.map(\.author) == [nil, "a’s", "b’s", nil])
      try await store.setAside(sample.id)
      #expect(try await store.upload(sample).record.comments == record.comments)
      try await store.delete(sample.id)
      #expect(await failure { try await store.change(comment(3), of: sample.id) } == "deleted")
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a snapshot has at most the maximum number of comments, even if they are written at the same time`(
    kind: StoreKind
  ) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      for number in 1..<Self.limits.count - 1 { try await store.change(comment(number), of: sample.id) }
      let refused = await withTaskGroup(of: String?.self) { group in
        for number in 0..<4 {
          group.addTask { await failure { try await store.change(comment(1000 + number), of: sample.id) } }
        }
        return await group.reduce(into: [String]()) { if let word = $1 { $0.append(word) } }
      }
      #expect(refused == ["tooManyComments", "tooManyComments"])
      let record = try await store.record(sample.id)
      #expect(record.comments?.count == Self.limits.count)
      #expect(
        await failure {
          var change = try comment(2000)
          change.isPinned = true
          try await store.change(change, of: sample.id)
        } == "tooManyComments")
      #expect(try await store.record(sample.id) == record)
      #expect(try await store.change(RecordChange(isPinned: true), of: sample.id).isPinned)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a conditional deletion deletes only if the condition holds`(kind: StoreKind) async throws {
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
  func `a bundle that is set aside has a record but can't be opened`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      var record = try await store.upload(sample).record
      record.verified = .damaged
      for _ in 0..<2 { #expect(try await store.setAside(sample.id).unrevised == record) }
      #expect(try await store.record(sample.id).unrevised == record)
      #expect(try await store.allRecords().map(\.verified) == [.damaged])
      #expect(try await store.summaries([sample.id, SnapshotID()]) == [RetentionSummary(record)])
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      record.isPinned = true
      #expect(
        try await store.change(RecordChange(verified: .intact, isPinned: true), of: sample.id).unrevised
          == record)
      #expect(try await store.record(sample.id).unrevised == record)
      #expect(try await store.ids(in: SnapshotShard(of: sample.id)) == [sample.id])
      try await store.delete(sample.id)
      #expect(await failure { _ = try await store.open(sample.id) } == "deleted")
      #expect(await failure { try await store.setAside(sample.id) } == "deleted")
      #expect(await failure { try await store.setAside(SnapshotID()) } == "notFound")
      #expect(try await store.ids(in: SnapshotShard(of: sample.id)).isEmpty)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `uploading the same bytes again repairs a bundle that is set aside`(kind: StoreKind) async throws {
    try await kind.withStore { store async throws in
      let sample = SampleBundle()
      try await store.upload(sample)
      let record = try await store.change(RecordChange(isPinned: true), of: sample.id)
      try await store.setAside(sample.id)
      let other = SampleBundle(id: sample.id, filling: "other")
      #expect(await failure { try await store.upload(other) } == "conflict")
      #expect(await failure { try await store.upload(sample, createOnly: true) } == "alreadyExists")
      #expect(await failure { _ = try await store.open(sample.id) } == "damaged")
      guard case .alreadyThere(let repaired) = try await store.upload(sample) else {
        Issue.record("The bundle was created again.")
        return
      }
      // Some stores name the new bytes.
      var expected = record.unrevised
      expected.attempt = repaired.attempt
      #expect(repaired.unrevised == expected)
      #expect(try await store.open(sample.id).contents == sample.bytes)
      #expect(try await store.record(sample.id) == repaired)
    }
  }

  @Test(arguments: StoreKind.allCases)
  func `a bundle that is set aside is repaired only by bytes that were checked completely`(kind: StoreKind)
    async throws
  {
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

extension SnapshotRecord {
  /// The record without its revision. Not every store writes the record when a bundle is set aside or repaired.
  fileprivate var unrevised: SnapshotRecord {
    var record = self
    record.revision = nil
    return record
  }
}
