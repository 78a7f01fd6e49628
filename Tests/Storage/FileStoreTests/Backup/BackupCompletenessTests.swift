import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// A copy of a storage is complete, or states that it is not.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BackupCompletenessTests {
  private let fixture: StorageFixture
  private var backup: String { fixture.folder.path + "/Backup" }
  private var archive: String { fixture.folder.path + "/backup.tar" }
  private var restored: String { fixture.folder.path + "/Restored" }
  /// The files of the storage that belong to no snapshot.
  private static let others: [String: [UInt8]] = [
    "keys/tokens": [UInt8](repeating: 3, count: 32), "tokens/a.json": Array("the token".utf8),
    "audit.log": [UInt8](repeating: 65, count: 70_000),
  ]

  init() throws { fixture = try StorageFixture() }

  private static let samples = (0..<3).map { SampleBundle(filling: "\($0)", count: 2000) }

  private func fill(_ samples: some Sequence<SampleBundle>) async throws {
    let store = try await fixture.open()
    for sample in samples { try await store.upload(sample) }
    await store.close()
    for (name, bytes) in Self.others {
      try Folder.create(Folder.parent(of: "\(fixture.path)/\(name)"))
      try DurableFile.replace("\(fixture.path)/\(name)", with: bytes)
    }
  }

  private func refusal(_ work: () throws -> Void) -> String {
    do {
      try work()
      return ""
    } catch {
      return (error as? TransferError)?.description ?? "\(error)"
    }
  }

  private func openingFailure(_ path: String) async -> String {
    do throws(FileBundleStore.OpeningError) {
      let store = try await FileBundleStore.open(
        .init(path: path, validator: .samples, reserve: 0), logger: .quiet)
      await store.close()
      return ""
    } catch {
      return error.description
    }
  }

  private func flip(_ path: String, at offset: Int64) throws {
    let byte = try File(path).read(upTo: 1, at: offset)[0]
    try File(path, .update).write([byte ^ 0x10], at: offset)
  }

  // MARK: Interrupted runs

  @Test func `a backup that is cut off at any moment restores what it promises, or is refused`() async throws
  {
    try await fill(Self.samples.prefix(2))
    /// The number of bundles that the backup has promised to contain; `nil` if none.
    let disk = try PowerCutDisk<Int?>(nil)
    let target = disk.path + "/Backup"
    _ = try StorageBackup(of: fixture.path, to: target).run()
    disk.promise { $0 = 2 }
    // The second run replaces and removes files, and is cut off too.
    try File(fixture.path + "/audit.log", .append(mode: 0o600)).append([66])
    try DurableFile.replace(fixture.path + "/tokens/b.json", with: [9])
    try Folder.remove(fixture.path + "/tokens/a.json")
    let store = try await fixture.open()
    try await store.upload(Self.samples[2])
    await store.close()
    _ = try StorageBackup(of: fixture.path, to: target).run()
    disk.promise { $0 = 3 }

    var refused = 0
    try await disk.forEachCut { remains in
      let place = try TemporaryFolder.forManyFiles(bytes: 64 << 20)
      let restore = { (isPartial: Bool) throws(TransferError) in
        try StorageRestore(from: [remains.path + "/Backup"], into: place.path + "/New", isPartial: isPartial)
          .run()
      }
      do {
        let report = try restore(false)
        #expect(remains.promise.map { $0 <= report.bundles } ?? true, "\(remains.label)")
        #expect(report.bundles >= 2, "\(remains.label)")
        #expect(report.problems.isEmpty && report.fileProblems.isEmpty, "\(remains.label)")
      } catch {
        refused += 1
        #expect(remains.promise == nil, "\(remains.label): \(error)")
        if case TransferError.incompleteBackup = error, try Folder.exists(remains.path + "/Backup/bundles") {
          _ = try restore(true)
        }
      }
    }
    #expect(refused > 0)
  }

  @Test func `a restore that is cut off at any moment is complete, or servers refuse it`() async throws {
    try await fill(Self.samples)
    _ = try StorageBackup(of: fixture.path, to: backup).run()
    let disk = try PowerCutDisk(false)
    let report = try StorageRestore(from: [backup], into: disk.path + "/Storage").run()
    #expect(report.bundles == 3)
    disk.promise { $0 = true }
    var refused = 0
    try await disk.forEachCut { remains in
      let path = remains.path + "/Storage"
      let isEmpty = try !Folder.exists(path + "/bundles") && !Folder.exists(path + "/keys")
      switch try StorageCompleteness(of: path) {
      case .restoring,
        .storage where isEmpty:
        refused += 1
        #expect(!remains.promise, "\(remains.label)")
        let again = try StorageRestore(from: [backup], into: path).run()
        #expect(again.bundles == 3 && again.fileProblems.isEmpty, "\(remains.label)")
      case .storage:
        for (name, bytes) in Self.others {
          let found = try File("\(path)/\(name)").read(upTo: 1 << 20, at: 0)
          #expect(found == bytes, "\(remains.label): \(name)")
        }
        let layout = StorageLayout(root: path)
        for sample in Self.samples {
          let digest = try layout.intactBundle(sample.id)?.sha256
          #expect(digest == sample.sha256, "\(remains.label)")
        }
      default: Issue.record("\(remains.label)")
      }
    }
    #expect(refused > 0)
  }

  @Test(.enabled("\(SmallDisk.requirement)") { await SmallDisk.isPossible })
  func `a backup to a full disk is refused, until a run ends`() async throws {
    try await fill((0..<3).map { SampleBundle(filling: "\($0)", count: 100_000) })
    let disk = try await SmallDisk()
    try disk.fill(leaving: 150_000)
    let target = disk.file("Backup").path
    #expect(
      refusal { _ = try StorageBackup(of: fixture.path, to: target).run() }.hasPrefix("A disk is full"))
    #expect(refusal { _ = try StorageRestore(from: [target], into: restored).run() }.contains("--partial"))
    #expect(try !Folder.exists(restored))
    try disk.empty()
    _ = try StorageBackup(of: fixture.path, to: target).run()
    #expect(try StorageRestore(from: [target], into: restored).run().bundles == 3)
  }

  @Test func `a partial restore takes what there is of a folder and of an archive`() async throws {
    try await fill(Self.samples)
    _ = try StorageBackup(of: fixture.path, to: backup).run()
    try BackupFolder(backup).write(BackupFolder.Marker())
    #expect(refusal { _ = try StorageRestore(from: [backup], into: restored).run() }.contains("lacks parts"))
    #expect(try StorageRestore(from: [backup], into: restored, isPartial: true).run().bundles == 3)
    try Folder.removeTree(restored)

    _ = try ArchiveBackup(of: fixture.path, to: archive).run()
    let cut = fixture.folder.path + "/cut.tar"
    let bytes = try File(archive).read(upTo: 1 << 20, at: 0)
    try DurableFile.replace(cut, with: Array(bytes.dropLast(bytes.count / 6)))
    #expect(
      refusal { _ = try StorageRestore(from: [cut], into: restored).run() }.contains("is not an archive"))
    let partial = try StorageRestore(from: [cut], into: restored, isPartial: true).run()
    #expect(partial.otherFiles >= 2)
    try DurableFile.replace(cut, with: Array(repeating: 65, count: 2000))
    try Folder.removeTree(restored)
    let foreign = refusal { _ = try StorageRestore(from: [cut], into: restored, isPartial: true).run() }
    #expect(foreign.contains("is not an archive"))
  }

  // MARK: Folders that are no storages

  @Test func `servers refuse a backup, a copy that is not complete, and a partial restore`() async throws {
    try await fill(Self.samples)
    _ = try StorageBackup(of: fixture.path, to: backup).run()
    #expect(await openingFailure(backup).contains("snapshot restore"))
    try BackupFolder(backup).write(BackupFolder.Marker())
    #expect(await openingFailure(backup).contains("is a backup"))
    let target = fixture.folder.path + "/Target"
    _ = try StorageMigration(from: fixture.path, to: target).copy()
    #expect(await openingFailure(target).contains("--finish"))
    _ = try StorageMigration(from: fixture.path, to: target).finish(leavingLosses: false)
    #expect(await openingFailure(target) == "")
    try DurableFile.replace(target + "/incomplete-restore", with: [])
    #expect(await openingFailure(target).contains("was restored only in part"))
    // Refusing has made nothing.
    #expect(try !Folder.exists(backup + "/uploads") && !Folder.exists(backup + "/lock"))
  }

  @Test(arguments: ["restore", "backup", "migration"])
  func `what lacks parts is copied by nothing`(kind: String) async throws {
    try await fill(Self.samples)
    switch kind {
    case "restore": try DurableFile.replace(fixture.path + "/incomplete-restore", with: [])
    case "backup": try BackupFolder(fixture.path).write(BackupFolder.Marker())
    default:
      var marker = BackupFolder.Marker()
      marker.origin = "elsewhere"
      try BackupFolder(fixture.path).write(marker)
    }
    let copies: [() throws -> Void] = [
      { _ = try StorageBackup(of: fixture.path, to: backup).run() },
      { _ = try ArchiveBackup(of: fixture.path, to: archive).run() },
      { _ = try StorageMigration(from: fixture.path, to: backup).copy() },
      { _ = try StorageMigration(from: fixture.path, to: backup).finish(leavingLosses: true) },
      { _ = try FolderSource(fixture.path) },
      { _ = try StorageRestore(from: [fixture.path], into: backup).run() },
    ]
    for (number, copy) in copies.enumerated() {
      #expect(refusal(copy).contains("lacks parts"), "\(number)")
      #expect(try !Folder.exists(backup) && !Folder.exists(archive), "\(number)")
    }
  }

  // MARK: Damage

  @Test(arguments: [false, true])
  func `a flipped bit in any other file is named, and the file is restored as it is`(isArchive: Bool)
    async throws
  {
    try await fill(Self.samples.prefix(1))
    if isArchive {
      _ = try ArchiveBackup(of: fixture.path, to: archive).run()
    } else {
      _ = try StorageBackup(of: fixture.path, to: backup).run()
    }
    for (name, bytes) in Self.others {
      // The archive's members have the bytes of the files.
      let place: (path: String, offset: Int64)
      if isArchive {
        let contents = try #require(try BackupArchive(archive).others[name]?.contents)
        place = (archive, contents.range.lowerBound + 5)
      } else {
        place = ("\(backup)/\(name)", 5)
      }
      try flip(place.path, at: place.offset)
      try Folder.removeTree(restored)
      let report = try StorageRestore(from: [isArchive ? archive : backup], into: restored).run()
      #expect(report.fileProblems == [.init(path: name, kind: .damaged)])
      #expect(report.bundles == 1 && report.problems.isEmpty)
      #expect(try File("\(restored)/\(name)").size == Int64(bytes.count))
      try flip(place.path, at: place.offset)
    }
    try Folder.removeTree(restored)
    let intact = try StorageRestore(from: [isArchive ? archive : backup], into: restored).run()
    #expect(intact.fileProblems.isEmpty && intact.otherFiles == Self.others.count)
  }

  @Test func `a missing file and a damaged or missing index are named`() async throws {
    try await fill(Self.samples)
    let shard = "index/\(SnapshotShard(of: Self.samples[0].id).digits)"
    let expected = [
      ("keys/tokens", TransferReport.Problem.Kind.missing), (shard, .missing), (shard, .damaged),
      ("index/files", .missing), ("index/files", .damaged),
    ]
    for (name, kind) in expected {
      try Folder.removeTree(backup)
      try Folder.removeTree(restored)
      _ = try StorageBackup(of: fixture.path, to: backup).run()
      if kind == .missing {
        try Folder.remove("\(backup)/\(name)")
      } else {
        try flip("\(backup)/\(name)", at: 40)
      }
      let report = try StorageRestore(from: [backup], into: restored).run()
      #expect(report.fileProblems == [.init(path: name, kind: kind)], "\(name) \(kind)")
      #expect(report.bundles == 3)
      // The next run mends the backup, and reads everything if it is told to.
      _ = try StorageBackup(of: fixture.path, to: backup, rehashes: true).run()
      try Folder.removeTree(restored)
      #expect(
        try StorageRestore(from: [backup], into: restored).run().fileProblems.isEmpty, "\(name) \(kind)")
    }
  }

  @Test func `a verifying run copies a damaged file again`() async throws {
    try await fill(Self.samples.prefix(1))
    _ = try StorageBackup(of: fixture.path, to: backup).run()
    let copy = try File(backup + "/audit.log")
    let time = try copy.modifiedAt
    try flip(backup + "/audit.log", at: 60_000)
    try File(backup + "/audit.log", .update).setModifiedAt(time)
    #expect(try StorageBackup(of: fixture.path, to: backup).run().otherFiles == 0)
    #expect(try StorageBackup(of: fixture.path, to: backup, rehashes: true).run().otherFiles == 1)
    #expect(try StorageRestore(from: [backup], into: restored).run().fileProblems.isEmpty)
  }

  @Test func `a bundle that was lost is missing in every copy, and no migration ends without it`()
    async throws
  {
    try await fill(Self.samples)
    let lost = Self.samples[1].id
    try Folder.remove(fixture.file(lost, "zip"))
    let expected = [TransferReport.Problem(id: lost, kind: .missing)]
    #expect(try StorageBackup(of: fixture.path, to: backup).run().problems == expected)
    #expect(try ArchiveBackup(of: fixture.path, to: archive).run().problems == expected)
    let target = fixture.folder.path + "/Target"
    let migration = StorageMigration(from: fixture.path, to: target)
    #expect(try migration.finish(leavingLosses: false).problems == expected)
    #expect(await openingFailure(target).contains("--finish"))
    #expect(try migration.finish(leavingLosses: true).bundles == 2)
    // A bundle that is being published is no loss.
    let layout = StorageLayout(root: fixture.path)
    try Folder.publish(layout.path(.record, of: lost), as: layout.path(.unpublished, of: lost))
    #expect(try StorageBackup(of: fixture.path, to: backup).run().problems.isEmpty)
  }

  @Test(arguments: [false, true])
  func `a backup is complete until its run began`(isArchive: Bool) async throws {
    try await fill(Self.samples.prefix(1))
    let began = Date(timeIntervalSince1970: 1_800_000_000)
    let clock = Lock(began)
    let now = { @Sendable in clock.withLock { $0 } }
    // Time passes while the shards are copied.
    let progress = { (_: TransferReport) in clock.withLock { $0 += 60 } }
    if isArchive {
      _ = try ArchiveBackup(of: fixture.path, to: archive, now: now).run(progress)
    } else {
      _ = try StorageBackup(of: fixture.path, to: backup, now: now).run(progress)
    }
    #expect(now() > began)
    #expect(try StorageBackup.lastCompletion(of: isArchive ? archive : backup) == began)
  }
}
