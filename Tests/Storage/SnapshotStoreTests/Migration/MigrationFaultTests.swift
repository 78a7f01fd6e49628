import Foundation
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Runs that fail or end at every step are repeated.
@Suite(.timeLimit(.minutes(15 * Sanitizer.slowness))) struct MigrationFaultTests {
  /// Snapshots of which one is new, one has changed, and one was deleted since the first run.
  private static let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: $0 * 1000) }
  private static let ids = samples.map(\.id)

  private func fill(_ source: MigrationPlace, in fixture: MigrationFixture) async throws -> StoreContents {
    try await fixture.using(source) { store in
      for sample in Self.samples { try await store.upload(sample) }
      try await store.change(RecordChange(isPinned: true), of: Self.ids[1])
      try await store.delete(Self.ids[2])
      return try await StoreContents(of: store, Self.ids)
    }
  }

  /// What happens to every fourth request, from the first, the second or another one.
  struct Disturbance: Sendable {
    let fault: FakeS3Server.Fault
    let first: Int
    let source: MigrationPlace
    let target: MigrationPlace
  }

  private static let refusal = FakeS3Server.Fault.refused(status: 403, code: "AccessDenied")
  private static let disturbances = [
    Disturbance(fault: .brokenAfterwards, first: 0, source: .folder.source, target: .objects.target),
    Disturbance(fault: .delayed, first: 1, source: .folder.source, target: .objects.target),
    Disturbance(fault: refusal, first: 2, source: .folder.source, target: .objects.target),
    Disturbance(fault: refusal, first: 3, source: .objects.source, target: .folder.target),
  ]

  @Test(arguments: disturbances)
  func `a run with a failed request is repeated, and completes the copy`(
    _ disturbance: Disturbance
  ) async throws {
    let (fault, source, target) = (disturbance.fault, disturbance.source, disturbance.target)
    try await MigrationFixture.with { fixture in
      var fixture = fixture
      fixture.attempts = 1
      let expected = try await fill(source, in: fixture)
      var number = disturbance.first
      var isDone = false
      while !isDone {
        // The lists of the 256 shards are omitted: they would take most of the time.
        let flag = fixture.server.fail(after: number, fault) { !$0.key.isEmpty }
        let failed = await failure { try await fixture.finish(from: source, to: target) }
        fixture.server.inject(nil)
        isDone = !flag.isRaised
        #expect(failed == nil || flag.isRaised)
        // A late request of the first run can be executed during the second one.
        for _ in 0..<2 where try !fixture.isComplete(target) {
          _ = await failure { try await fixture.finish(from: source, to: target) }
        }
        #expect(try fixture.isComplete(target))
        let copied = try await fixture.using(target) { try await StoreContents(of: $0, Self.ids) }
        #expect(copied == expected)
        try fixture.remove(target)
        number += 4
      }
      #expect(number > 4)
      let unchanged = try await fixture.using(source) { try await StoreContents(of: $0, Self.ids) }
      #expect(unchanged == expected)
    }
  }

  /// Each pair of stores ends at every third step, from another one.
  @Test(arguments: MigrationPlace.source, MigrationPlace.target)
  func `a run that ends at any step leaves whole snapshots, and is repeated`(
    _ source: MigrationPlace, _ target: MigrationPlace
  ) async throws {
    try await MigrationFixture.with { fixture in
      let expected = try await fill(source, in: fixture)
      var steps = (source.kind == .objects ? 1 : 0) + (target.kind == .objects ? 1 : 0)
      var isDone = false
      while !isDone {
        let opened = try await fixture.source(source)
        let origin = try await opened.identity
        do {
          let stopping = StoppingTarget(try await fixture.target(target, origin: origin), after: steps)
          _ = try await SnapshotMigration(from: opened, to: stopping).finish(leavingLosses: false)
          isDone = true
        } catch TransferError.unavailable("stopped") {
          try await requireWhole(try await fixture.target(target, origin: origin))
          try await fixture.finish(from: source, to: target)
        }
        let copied = try await fixture.using(target) { try await StoreContents(of: $0, Self.ids) }
        #expect(copied == expected)
        try fixture.remove(target)
        steps += 3
      }
      #expect(steps > 4)
    }
  }

  /// Records an issue for each record without its bytes.
  private func requireWhole(_ target: any MigrationTarget) async throws {
    for shard in SnapshotShard.allCases {
      for (id, presence) in try await target.contents.list(shard) where presence == .published {
        let record = try #require(try await target.contents.state(of: id)?.record)
        let bytes = try #require(try await target.contents.bundle(of: id)?.measure())
        #expect(bytes == (record.size, record.sha256))
      }
    }
  }
}

extension MigrationFixture {
  fileprivate func finish(from source: MigrationPlace, to target: MigrationPlace) async throws {
    _ = try await migration(from: source, to: target).finish(leavingLosses: false)
  }

  /// Whether servers may use the target.
  fileprivate func isComplete(_ target: MigrationPlace) throws -> Bool {
    switch target.kind {
    case .folder:
      try Folder.exists(path(target) + "/bundles") && !Folder.exists(path(target) + "/backup.json")
    case .objects:
      server[key(target, "migration.json")] == nil
        && server.keys.contains { $0.hasPrefix(key(target, "records/")) }
    }
  }
}
