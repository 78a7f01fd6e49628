import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Backups of a storage folder, and their restoration.
@Suite struct StorageBackupTests {
  private let fixture: StorageFixture
  private var backup: String { fixture.folder.path + "/Backup" }
  private var restored: String { fixture.folder.path + "/Restored" }

  init() throws { fixture = try StorageFixture() }

  @discardableResult
  private func run(rehashes: Bool = false) throws(TransferError) -> TransferReport {
    try StorageBackup(of: fixture.path, to: backup, rehashes: rehashes).run()
  }

  private func restore() throws(TransferError) -> TransferReport {
    try StorageRestore(from: [backup], into: restored).run()
  }

  private func path(_ id: SnapshotID, _ suffix: String, in root: String) -> String {
    "\(root)/bundles/\(id.description.prefix(2))/\(id).\(suffix)"
  }

  private func flip(_ path: String) throws {
    let file = try File(path)
    var bytes = try file.read(upTo: Int(file.size), at: 0)
    bytes[bytes.count / 2] ^= 0x10
    try file.setMode(0o640)
    try File(path, .update).write(bytes, at: 0)
  }

  private func samples(_ count: Int) -> [SampleBundle] {
    (0..<count).map { SampleBundle(filling: "\($0)", count: $0 * 5000) }
  }

  @Test func `a backup beside a running store is restored with every record and deletion`() async throws {
    let store = try await fixture.open()
    let samples = samples(20)
    for sample in samples { try await store.upload(sample) }
    let pinned = try await store.change(RecordChange(isPinned: true), of: samples[3].id)
    try await store.delete(samples[5].id)
    let first = try run()
    #expect(first.bundles == 19 && first.copiedBundles == 19 && first.deletions == 1)
    #expect(first.problems.isEmpty && first.share == 1)
    let result = try restore()
    #expect(result.bundles == 19 && result.bytes == first.bytes && result.problems.isEmpty)

    let other = try await fixture.open(at: restored)
    for (index, sample) in samples.enumerated() where index != 5 {
      #expect(try await other.open(sample.id).contents == sample.bytes)
      #expect(try await other.record(sample.id) == store.record(sample.id))
    }
    #expect(try await other.record(samples[3].id) == pinned)
    await #expect(throws: StoreError.self) { _ = try await other.record(samples[5].id) }
    #expect(other.usage == store.usage)
    await other.close()
    await store.close()
  }

  @Test func `a second run copies only what is new, and follows changes and deletions`() async throws {
    let store = try await fixture.open()
    let samples = samples(8)
    for sample in samples.prefix(5) { try await store.upload(sample) }
    try run()
    let unchanged = try run()
    #expect(unchanged.copiedBundles == 0 && unchanged.changedRecords == 0 && unchanged.bundles == 5)
    for sample in samples.dropFirst(5) { try await store.upload(sample) }
    try await store.change(RecordChange(isPinned: true), of: samples[0].id)
    try await store.delete(samples[1].id)
    let second = try run()
    #expect(second.copiedBundles == 3 && second.changedRecords == 1 && second.deletions == 1)
    #expect(second.bundles == 7)
    #expect(try !Folder.exists(path(samples[1].id, "zip", in: backup)))
    #expect(try !Folder.exists(path(samples[1].id, "json", in: backup)))
    await store.close()
  }

  @Test func `a snapshot whose deletion was undone by an older backup is backed up again`() async throws {
    let store = try await fixture.open()
    let sample = SampleBundle(count: 1000)
    try await store.upload(sample)
    await store.close()
    let older = fixture.folder.path + "/Older"
    _ = try StorageBackup(of: fixture.path, to: older).run()
    let again = try await fixture.open()
    try run()
    try await again.delete(sample.id)
    await again.close()
    #expect(try run().deletions == 1)
    try Folder.removeTree(fixture.path)
    _ = try StorageRestore(from: [older], into: fixture.path).run()
    let report = try run()
    #expect(report.copiedBundles == 1 && report.bundles == 1 && report.problems.isEmpty)
    #expect(try !Folder.exists(path(sample.id, "deleted", in: backup)))
    #expect(try restore().bundles == 1)
  }

  @Test func `only the owner can read a backup and what is restored`() async throws {
    let store = try await fixture.open()
    for sample in samples(3) { try await store.upload(sample) }
    await store.close()
    try Folder.create(fixture.path + "/tokens")
    try DurableFile.replace(fixture.path + "/tokens/a.json", with: [1], mode: 0o644)
    try run()
    _ = try restore()
    for root in [backup, restored] {
      for name in try fixture.entries(of: root) {
        let mode = try fixture.mode(root + "/" + name)
        #expect(mode == 0o700 || mode == 0o600 || (name.hasSuffix(".zip") && mode == 0o440), "\(name)")
      }
      #expect(try fixture.mode(root) == 0o700)
    }
  }

  @Test func `a bundle that differs from its digest is not copied, and an intact copy is kept`() async throws
  {
    let store = try await fixture.open()
    let samples = samples(4)
    for sample in samples.prefix(2) { try await store.upload(sample) }
    try run()
    for sample in samples.dropFirst(2) { try await store.upload(sample) }
    await store.close()
    // The first was copied before it was damaged, and the other two are not in the backup.
    try flip(fixture.file(samples[2].id, "zip"))
    try flip(fixture.file(samples[3].id, "json"))
    try Folder.remove(fixture.file(samples[0].id, "zip"))
    let report = try run()
    #expect(
      Set(report.problems.map { "\($0.id) \($0.kind)" }) == [
        "\(samples[0].id) kept", "\(samples[2].id) damaged", "\(samples[3].id) damaged",
      ])
    let result = try restore()
    #expect(result.bundles == 2 && result.problems.isEmpty)
    #expect(try File(path(samples[0].id, "zip", in: restored)).size == Int64(samples[0].bytes.count))
  }

  @Test func `a restore names what is damaged or missing in the backup, and restores the rest`() async throws
  {
    let store = try await fixture.open()
    let samples = samples(5)
    for sample in samples { try await store.upload(sample) }
    await store.close()
    try run()
    try flip(path(samples[0].id, "zip", in: backup))
    try flip(path(samples[1].id, "json", in: backup))
    try Folder.remove(path(samples[2].id, "zip", in: backup))
    for suffix in ["zip", "json"] { try Folder.remove(path(samples[3].id, suffix, in: backup)) }
    let report = try restore()
    #expect(
      Set(report.problems.map { "\($0.id) \($0.kind)" }) == [
        "\(samples[0].id) damaged", "\(samples[1].id) damaged", "\(samples[2].id) missing",
        "\(samples[3].id) missing",
      ])
    #expect(report.bundles == 1)
    // The next run with verification repairs the backup from the storage.
    let repaired = try run(rehashes: true)
    #expect(repaired.problems.isEmpty && repaired.bundles == 5 && repaired.copiedBundles >= 3)
    try Folder.removeTree(restored)
    #expect(try restore().bundles == 5)
  }

  @Test func `an interrupted backup and an interrupted restore continue`() async throws {
    let store = try await fixture.open()
    let samples = samples(6)
    for sample in samples { try await store.upload(sample) }
    await store.close()
    try run()
    // As a crash leaves it: an unfinished copy, a record whose bundle is missing, and no index.
    try DurableFile.replace(backup + "/left", with: [0])
    try Folder.create(backup + "/incomplete")
    try Folder.replace(backup + "/incomplete/1", with: backup + "/left")
    try Folder.remove(path(samples[0].id, "zip", in: backup))
    try Folder.removeTree(backup + "/index")
    let report = try run()
    #expect(report.bundles == 6 && report.copiedBundles == 1 && report.problems.isEmpty)
    #expect(try !Folder.exists(backup + "/incomplete"))

    _ = try restore()
    #expect(throws: TransferError.self) { _ = try restore() }
    try DurableFile.replace(restored + "/incomplete-restore", with: [])
    try Folder.remove(path(samples[2].id, "zip", in: restored))
    let again = try restore()
    #expect(again.bundles == 6 && again.copiedBundles == 1)
  }

  @Test func `tokens, keys and logs are copied, and a removed token does not come back`() async throws {
    await (try fixture.open()).close()
    for folder in ["tokens", "keys", "set-aside"] { try Folder.create("\(fixture.path)/\(folder)") }
    let large = [UInt8](repeating: 65, count: 100_000)
    let files = [
      "tokens/a.json": [1], "tokens/b.json": [2], "keys/tokens": [3], "keys/links": [4], "audit.log": large,
      "audit.log.1": [5], "set-aside/x.zip": [6],
    ]
    for (name, bytes) in files { try DurableFile.replace("\(fixture.path)/\(name)", with: bytes) }
    #expect(try run().otherFiles == 7)
    #expect(try run().otherFiles == 0)
    for (name, bytes) in files {
      #expect(try File("\(backup)/\(name)").read(upTo: 1 << 20, at: 0) == bytes, "\(name)")
    }
    try Folder.remove(fixture.path + "/tokens/a.json")
    try File(fixture.path + "/audit.log", .append(mode: 0o600)).append([66])
    #expect(try run().otherFiles == 1)
    #expect(try Folder.entries(backup + "/tokens") == ["b.json"])
    // If all are lost, those in the backup are the last ones.
    try Folder.remove(fixture.path + "/tokens/b.json")
    try run()
    #expect(try Folder.entries(backup + "/tokens") == ["b.json"])
    #expect(try restore().otherFiles == 6)
    #expect(try Folder.entries(restored + "/keys") == ["links", "tokens"])
  }

  @Test func `other folders, other storages and folders in use are refused`() async throws {
    let store = try await fixture.open()
    func refusal(_ folder: String) -> String {
      do throws(TransferError) {
        _ = try StorageBackup(of: fixture.path, to: folder).run()
        return ""
      } catch {
        return error.description
      }
    }
    #expect(refusal(fixture.path).contains("inside the other"))
    #expect(refusal(fixture.path + "/backup").contains("inside the other"))
    #expect(refusal(fixture.folder.path).contains("inside the other"))
    try Folder.create(fixture.folder.path + "/other")
    try DurableFile.replace(fixture.folder.path + "/other/file", with: [])
    #expect(refusal(fixture.folder.path + "/other").contains("is not a backup"))
    try Folder.create(fixture.path + "/keys")
    try DurableFile.replace(fixture.path + "/keys/links", with: [1])
    try run()
    try DurableFile.replace(fixture.path + "/keys/links", with: [2])
    #expect(refusal(backup).contains("another storage"))
    let lock = try File(backup)
    #expect(try lock.tryLock())
    #expect(refusal(backup).contains("Another program uses"))
    await store.close()
    #expect(throws: TransferError.self) {
      _ = try StorageBackup(of: fixture.folder.path + "/none", to: backup).run()
    }
    #expect(throws: TransferError.self) {
      _ = try StorageRestore(from: [fixture.folder.path + "/none"], into: restored).run()
    }
    #expect(throws: TransferError.self) { _ = try StorageRestore(from: [backup], into: fixture.path).run() }
  }

  @Test func `a storage can be used from a backup that was copied by hand`() async throws {
    let store = try await fixture.open()
    let samples = samples(3)
    for sample in samples { try await store.upload(sample) }
    await store.close()
    try run()
    try FileManager.default.copyItem(atPath: backup, toPath: restored)
    await #expect(throws: FileBundleStore.OpeningError.self) { _ = try await fixture.open(at: restored) }
    for name in ["backup.json", "index"] { try Folder.removeTree("\(restored)/\(name)") }
    let other = try await fixture.open(at: restored)
    for sample in samples { #expect(try await other.open(sample.id).contents == sample.bytes) }
    await other.close()
  }

  @Test func `the text of an index is read as it was written, and damage is detected`() throws {
    var index = BackupIndex()
    index.entries[SnapshotID()] = .deleted
    index.entries[SnapshotID()] = .bundle(
      size: 12, sha256: .of([1]), record: .init(size: 300, modified: 1_800_000_000_123_456_789))
    #expect(BackupIndex(text: index.text) == index)
    #expect(BackupIndex(text: BackupIndex().text) == BackupIndex())
    for count in 0..<index.text.count {
      #expect(BackupIndex(text: String(index.text.prefix(count))) == nil, "\(count)")
    }
    #expect(BackupIndex(text: index.text.replacing("deleted", with: "delete0")) == nil)
  }
}
