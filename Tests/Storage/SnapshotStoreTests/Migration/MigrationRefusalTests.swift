import FileStore
import Foundation
import HTTPClient
import S3Client
import S3Store
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Migrations that can't run say why in one sentence, and change nothing.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct MigrationRefusalTests {
  private let sample = SampleBundle(count: 1000)

  /// Runs `body` with a folder that has a snapshot.
  private func withFolder(_ body: (MigrationFixture) async throws -> Void) async throws {
    try await MigrationFixture.with { fixture in
      try await fixture.using(MigrationPlace.folder.source) { try await $0.upload(sample) }
      try await body(fixture)
    }
  }

  private func refusal(_ body: () async throws -> Void) async -> String {
    await failure(body) ?? "accepted"
  }

  @Test func `a prefix with other objects is refused, and remains as it is`() async throws {
    try await withFolder { fixture in
      fixture.server["target/photo"] = Data("1".utf8)
      let reason = await refusal {
        _ = try await fixture.migration(from: MigrationPlace.folder.source, to: MigrationPlace.objects.target)
      }
      #expect(reason.hasPrefix("s3://tests/target/ is not empty"), "\(reason)")
      #expect(fixture.server.keys == ["target/photo"])
    }
  }

  @Test func `a store that servers use is refused`() async throws {
    try await withFolder { fixture in
      try await fixture.using(MigrationPlace.objects.target) { try await $0.upload(sample) }
      let reason = await refusal {
        _ = try await fixture.migration(from: MigrationPlace.folder.source, to: MigrationPlace.objects.target)
      }
      #expect(reason.contains("is not empty"), "\(reason)")
    }
  }

  @Test(arguments: MigrationPlace.target)
  func `servers refuse a store until the migration into it is complete`(
    _ target: MigrationPlace
  ) async throws {
    try await withFolder { fixture in
      let source = MigrationPlace.folder.source
      _ = try await fixture.migration(from: source, to: target).copy()
      let reason = await refusal { try await fixture.using(target) { _ in } }
      #expect(reason.contains("--finish"), "\(reason)")
      _ = try await fixture.migration(from: source, to: target).finish(leavingLosses: false)
      #expect(try await fixture.bytes(of: sample.id, in: target) == sample.bytes)
      let again = await refusal { _ = try await fixture.migration(from: source, to: target) }
      #expect(again.contains("the migration is complete"), "\(again)")
    }
  }

  @Test func `an incomplete copy is refused as a source`() async throws {
    try await withFolder { fixture in
      let target = MigrationPlace.objects.target
      _ = try await fixture.migration(from: MigrationPlace.folder.source, to: target).copy()
      let reason = await refusal { _ = try await fixture.source(target) }
      #expect(reason.contains("incomplete copy"), "\(reason)")
    }
  }

  @Test(arguments: MigrationPlace.target)
  func `the copy of another storage is refused`(_ target: MigrationPlace) async throws {
    try await withFolder { fixture in
      _ = try await fixture.migration(from: MigrationPlace.folder.source, to: target).copy()
      try fixture.folder.write(Data("another key".utf8), to: "source/keys/links")
      let reason = await refusal {
        _ = try await fixture.migration(from: MigrationPlace.folder.source, to: target)
      }
      #expect(reason.contains("copy of another storage"), "\(reason)")
    }
  }

  @Test(arguments: MigrationPlace.target)
  func `a copy that another version has begun is refused`(_ target: MigrationPlace) async throws {
    try await withFolder { fixture in
      let document = Data(#"{"format":2,"origin":"elsewhere","run":"\#(SnapshotID())"}"#.utf8)
      fixture.server["target/migration.json"] = document
      try fixture.folder.write(document, to: "target/backup.json")
      let reason = await refusal {
        _ = try await fixture.migration(from: MigrationPlace.folder.source, to: target)
      }
      #expect(reason.contains("Another version of snapshot"), "\(reason)")
    }
  }

  @Test func `a run stops when another one begins`() async throws {
    try await withFolder { fixture in
      let (source, target) = (MigrationPlace.folder.source, MigrationPlace.objects.target)
      let first = try await fixture.migration(from: source, to: target)
      let second = try await fixture.migration(from: source, to: target)
      let reason = await refusal { _ = try await first.finish(leavingLosses: false) }
      #expect(reason.contains("Another run has begun"), "\(reason)")
      #expect(try await second.finish(leavingLosses: false).bundles == 1)
    }
  }

  @Test func `a folder with other files, and a backup, are refused`() async throws {
    try await MigrationFixture.with { fixture in
      let (source, target) = (MigrationPlace.objects.source, MigrationPlace.folder.target)
      try await fixture.using(source) { try await $0.upload(sample) }
      try fixture.folder.write(Data(), to: "target/notes.txt")
      let files = await refusal { _ = try await fixture.migration(from: source, to: target) }
      #expect(files.contains("target is not empty"), "\(files)")
      try await fixture.using(MigrationPlace.folder.source) { try await $0.upload(sample) }
      let backup = fixture.folder.file("backup").path
      _ = try StorageBackup(of: fixture.path(MigrationPlace.folder.source), to: backup).run()
      let kept = await refusal {
        _ = try await fixture.migration(
          from: source, to: MigrationPlace(kind: .folder, name: "backup"))
      }
      #expect(kept.contains("backup is not empty"), "\(kept)")
    }
  }

  @Test func `the folder of a migration is no backup`() async throws {
    try await withFolder { fixture in
      let (source, target) = (MigrationPlace.folder.source, MigrationPlace.folder.target)
      _ = try await fixture.migration(from: source, to: target).copy()
      let reason = await refusal {
        _ = try StorageBackup(of: fixture.path(source), to: fixture.path(target)).run()
      }
      #expect(reason.contains("incomplete copy"), "\(reason)")
    }
  }

  @Test func `places without snapshots are refused as sources`() async throws {
    try await MigrationFixture.with { fixture in
      let objects = await refusal { _ = try await fixture.source(MigrationPlace.objects.source) }
      #expect(objects == "There are no snapshots at s3://tests/source/: correct the address.")
      let folder = await refusal {
        _ = try await fixture.source(MigrationPlace(kind: .folder, name: "nothing"))
      }
      #expect(folder.hasPrefix("There is no storage folder"), "\(folder)")
    }
  }

  @Test func `a folder that a server uses can't be completed`() async throws {
    try await withFolder { fixture in
      try await fixture.using(MigrationPlace.folder.source) { _ in
        let source = try FolderSource(fixture.path(MigrationPlace.folder.source))
        let reason = await refusal { try source.lockAgainstServers() }
        #expect(reason.contains("Another program uses"), "\(reason)")
      }
    }
  }

  @Test func `wrong credentials and a missing bucket are named, with the mend`() async throws {
    try await withFolder { fixture in
      let stranger = try #require(S3Credentials(accessKey: "AKIDOTHER", secretKey: "other"))
      let known = try #require(FakeS3Server.credentials)
      for (bucket, credentials, words) in [
        (FakeS3Server.bucket, stranger, ["SignatureDoesNotMatch", "AWS_SECRET_ACCESS_KEY"]),
        ("nowhere", known, ["There is no bucket nowhere at http://127.0.0.1:", "server.shared.endpoint"]),
      ] {
        let client = S3Client(
          try S3Configuration(endpoint: fixture.server.endpoint, bucket: bucket),
          credentials: .constant(credentials), transport: SystemTransport())
        let store = MigratedStore(client, scratch: fixture.folder.path)
        for reason in [
          await refusal { _ = try await S3MigrationTarget.open(store, origin: "test") },
          await refusal { _ = try await S3MigrationSource.open(store) },
        ] {
          for word in words { #expect(reason.contains(word), "\(reason)") }
        }
      }
    }
  }

  @Test func `a store that does not answer is named, with the mend`() async throws {
    try await withFolder { fixture in
      await fixture.server.stop()
      let reason = await refusal {
        _ = try await fixture.migration(from: MigrationPlace.folder.source, to: MigrationPlace.objects.target)
      }
      #expect(reason.hasPrefix("The object store at http://127.0.0.1:"), "\(reason)")
      #expect(reason.contains("server.shared.endpoint"))
    }
  }

  @Test(.enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
  func `a full disk is named, and the run continues when there is space`() async throws {
    try await MigrationFixture.with { fixture in
      let source = MigrationPlace.objects.source
      let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 100_000) }
      try await fixture.using(source) { store in
        for sample in samples { try await store.upload(sample) }
      }
      let disk = try await SmallDisk()
      try disk.fill(leaving: 200_000)
      let opened = try await fixture.source(source)
      let origin = try await opened.identity
      let path = disk.file("target").path
      weak var former: FolderTarget?
      let reason = await refusal {
        let target = try FolderTarget.open(path, origin: origin)
        former = target
        _ = try await SnapshotMigration(from: opened, to: target).copy()
      }
      #expect(reason.hasPrefix("A disk is full"), "\(reason)")
      try disk.empty()
      // Its queue possibly releases it, and so its lock, after the failure was thrown.
      try await eventually { former == nil }
      let target = try FolderTarget.open(path, origin: origin)
      let report = try await SnapshotMigration(from: opened, to: target).finish(leavingLosses: false)
      #expect(report.bundles == 3 && report.problems.isEmpty)
    }
  }
}
