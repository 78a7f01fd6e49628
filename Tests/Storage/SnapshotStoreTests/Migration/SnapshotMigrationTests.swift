import FileStore
import Foundation
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Moving snapshots between stores of both kinds, in every direction.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SnapshotMigrationTests {
  @Test(arguments: MigrationPlace.source, MigrationPlace.target)
  func `snapshots move with everything that belongs to them`(
    _ source: MigrationPlace, _ target: MigrationPlace
  ) async throws {
    try await MigrationFixture.with { fixture in
      let samples = (0..<7).map { SampleBundle(filling: "\($0)", count: $0 * 3000) }
      let ids = samples.map(\.id)
      let expected = try await fixture.using(source) { store in
        for sample in samples.prefix(6) { try await store.upload(sample) }
        try await store.delete(ids[0])
        let first = try await fixture.migration(from: source, to: target).copy()
        #expect(first.copiedBundles == 5 && first.deletions == 1 && first.share == 1)

        try await store.upload(samples[6])
        try await store.delete(ids[1])
        try await store.change(RecordChange(isPinned: true), of: ids[2])
        try await store.change(RecordChange(end: .at(Date(timeIntervalSince1970: 1_900_000_000))), of: ids[3])
        let comment = try #require(
          SnapshotComment("Seen on two devices", writtenAt: Date(timeIntervalSince1970: 1_800_000_001)))
        try await store.change(RecordChange(comment: comment), of: ids[4])
        let second = try await fixture.migration(from: source, to: target).copy()
        #expect(second.copiedBundles == 1 && second.deletions == 1 && second.changedRecords == 3)
        #expect(second.bundles == 5 && second.problems.isEmpty)

        let third = try await fixture.migration(from: source, to: target).copy()
        #expect(third.copiedBundles == 0 && third.deletions == 0 && third.changedRecords == 0)
        return try await StoreContents(of: store, ids)
      }
      let last = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(last.copiedBundles == 0 && last.bundles == 5 && last.problems.isEmpty)

      try await fixture.using(target) { store in
        #expect(try await StoreContents(of: store, ids) == expected)
        #expect(expected.records.count == 5 && expected.bundles[ids[0]] == "deleted")
        #expect(await failure { try await store.upload(samples[1]) } == "deleted")
        try await store.upload(SampleBundle())
      }
      let unchanged = try await fixture.using(source) { try await StoreContents(of: $0, ids) }
      #expect(unchanged == expected)
    }
  }

  @Test(.enabled("Ceph isn't installed") { CephCluster.isInstalled })
  func `snapshots move to a real object store and back`() async throws {
    try await MigrationFixture.with { fixture in
      let (source, target) = (MigrationPlace.folder.source, MigrationPlace.folder.target)
      let samples = [0, 1000, 17 << 20].map { SampleBundle(filling: "\($0)", count: $0) }
      let ids = samples.map(\.id)
      let store = MigratedStore(
        try await CephCluster.shared.client(prefix: UUID().uuidString), scratch: fixture.folder.path)
      let expected = try await fixture.using(source) { folder in
        for sample in samples { try await folder.upload(sample) }
        let first = try FolderSource(fixture.path(source), validate: SampleBundle.validate)
        _ = try await SnapshotMigration(from: first, to: S3MigrationTarget.open(store, origin: "test")).copy()
        try await folder.change(RecordChange(isPinned: true), of: ids[1])
        try await folder.delete(ids[0])
        return try await StoreContents(of: folder, ids)
      }
      let last = try FolderSource(fixture.path(source), validate: SampleBundle.validate)
      let there = SnapshotMigration(from: last, to: try await S3MigrationTarget.open(store, origin: "test"))
      #expect(try await there.finish(leavingLosses: false).changedRecords == 1)
      let back = SnapshotMigration(
        from: try await S3MigrationSource.open(store),
        to: try FolderTarget.open(fixture.path(target), origin: "test"))
      #expect(try await back.finish(leavingLosses: false).problems.isEmpty)
      let moved = try await fixture.using(target) { try await StoreContents(of: $0, ids) }
      #expect(moved == expected)
    }
  }

  @Test(arguments: MigrationPlace.source, MigrationPlace.target)
  func `a bundle that was set aside remains so, and is repaired by its bytes`(
    _ source: MigrationPlace, _ target: MigrationPlace
  ) async throws {
    try await MigrationFixture.with { fixture in
      let samples = (0..<2).map { SampleBundle(filling: "\($0)", count: 1000) }
      try await fixture.using(source) { store in
        for sample in samples { try await store.upload(sample) }
        try await store.setAside(samples[0].id)
        _ = try await fixture.migration(from: source, to: target).copy()
        // The target has this one intact, and keeps it.
        try await store.setAside(samples[1].id)
      }
      let report = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.problems == [.init(id: samples[1].id, kind: .kept)] && report.bundles == 2)
      try await fixture.using(target) { store in
        #expect(try await store.record(samples[0].id).verified == .damaged)
        #expect(await failure { _ = try await store.open(samples[0].id) } == "damaged")
        try await store.upload(samples[0])
        for sample in samples { #expect(try await store.open(sample.id).contents == sample.bytes) }
        #expect(try await store.record(samples[0].id).verified == .intact)
      }
    }
  }

  @Test(arguments: MigrationPlace.source, MigrationPlace.target)
  func `a bundle that is repaired in the source is repaired in the target`(
    _ source: MigrationPlace, _ target: MigrationPlace
  ) async throws {
    try await MigrationFixture.with { fixture in
      let sample = SampleBundle(count: 1000)
      try await fixture.using(source) { store in
        try await store.upload(sample)
        try await store.setAside(sample.id)
        _ = try await fixture.migration(from: source, to: target).copy()
        try await store.upload(sample)
      }
      let report = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.copiedBundles == 1 && report.problems.isEmpty)
      #expect(try await fixture.bytes(of: sample.id, in: target) == sample.bytes)
    }
  }

  @Test(arguments: MigrationPlace.Kind.allCases)
  func `a damaged bundle stops the completion, unless it is left out`(
    _ kind: MigrationPlace.Kind
  ) async throws {
    try await MigrationFixture.with { fixture in
      let (source, target) = (MigrationPlace.folder.source, MigrationPlace(kind: kind, name: "target"))
      let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 1000) }
      try await fixture.using(source) { store in
        for sample in samples { try await store.upload(sample) }
      }
      try fixture.damage(samples[1], in: source)
      let refused = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(refused.problems == [.init(id: samples[1].id, kind: .damaged)])
      let accepted = try await fixture.migration(from: source, to: target).finish(leavingLosses: true)
      #expect(accepted.bundles == 2 && accepted.lossCount == 1)
      try await fixture.using(target) { store in
        #expect(await failure { _ = try await store.record(samples[1].id) } == "notFound")
      }
      #expect(try await fixture.bytes(of: samples[2].id, in: target) == samples[2].bytes)
    }
  }

  @Test(arguments: MigrationPlace.source, MigrationPlace.target)
  func `damage of the copy is found at the end, and mended from the original`(
    _ source: MigrationPlace, _ target: MigrationPlace
  ) async throws {
    try await MigrationFixture.with { fixture in
      let sample = SampleBundle(count: 1000)
      try await fixture.using(source) { try await $0.upload(sample) }
      _ = try await fixture.migration(from: source, to: target).copy()
      try fixture.damage(sample, in: target)
      let report = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.problems.isEmpty && report.copiedBundles == 1)
      #expect(try await fixture.bytes(of: sample.id, in: target) == sample.bytes)
    }
  }

  @Test(arguments: MigrationPlace.target)
  func `a snapshot that the source has lost remains in the copy`(_ target: MigrationPlace) async throws {
    try await MigrationFixture.with { fixture in
      let source = MigrationPlace.folder.source
      let samples = (0..<2).map { SampleBundle(filling: "\($0)", count: 100) }
      try await fixture.using(source) { store in
        for sample in samples { try await store.upload(sample) }
      }
      _ = try await fixture.migration(from: source, to: target).copy()
      for suffix in ["zip", "json"] {
        try Folder.remove(fixture.file(samples[0].id, suffix, in: source))
      }
      let report = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.problems == [.init(id: samples[0].id, kind: .kept)])
      #expect(try await fixture.bytes(of: samples[0].id, in: target) == samples[0].bytes)
    }
  }
}

extension SnapshotMigrationTests {
  @Test func `a bundle whose file is lost stops the completion, unless it is left out`() async throws {
    try await MigrationFixture.with { fixture in
      let (source, target) = (MigrationPlace.folder.source, MigrationPlace.objects.target)
      let samples = (0..<2).map { SampleBundle(filling: "\($0)", count: 100) }
      try await fixture.using(source) { store in
        for sample in samples { try await store.upload(sample) }
      }
      try Folder.remove(fixture.file(samples[0].id, "zip", in: source))
      let refused = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(refused.problems == [.init(id: samples[0].id, kind: .missing)])
      #expect(await failure { try await fixture.using(target) { _ in } }?.contains("--finish") == true)
      // A copy that has the bundle keeps it.
      try await fixture.using(source) { try await $0.upload(samples[0]) }
      _ = try await fixture.migration(from: source, to: target).copy()
      try Folder.remove(fixture.file(samples[0].id, "zip", in: source))
      let report = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(report.problems == [.init(id: samples[0].id, kind: .kept)])
      #expect(try await fixture.bytes(of: samples[0].id, in: target) == samples[0].bytes)
    }
  }
}

extension MigrationFixture {
  /// The path of a snapshot's file in a folder.
  func file(_ id: SnapshotID, _ suffix: String, in place: MigrationPlace) -> String {
    "\(path(place))/bundles/\(id.description.prefix(2))/\(id).\(suffix)"
  }

  /// Changes a byte of a stored bundle.
  func damage(_ sample: SampleBundle, in place: MigrationPlace) throws {
    switch place.kind {
    case .folder:
      let path = file(sample.id, "zip", in: place)
      try File(path).setMode(0o640)
      try File(path, .update).write([0], at: 500)
    case .objects:
      for key in server.keys where key.hasPrefix(self.key(place, "bytes/")) && key.contains("\(sample.id)/") {
        var bytes = try #require(server[key])
        bytes[500] = 0
        server[key] = bytes
      }
    }
  }
}
