import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Backups of a storage folder in archives, and their restoration.
@Suite struct ArchiveBackupTests {
  private let fixture: StorageFixture
  private var restored: String { fixture.folder.path + "/Restored" }

  init() throws { fixture = try StorageFixture() }

  private func archive(_ name: String) -> String { "\(fixture.folder.path)/\(name).tar" }

  @discardableResult
  private func backUp(_ name: String, since earlier: String? = nil) throws(TransferError) -> TransferReport {
    try ArchiveBackup(of: fixture.path, to: archive(name), since: earlier.map(archive)).run()
  }

  @discardableResult
  private func restore(_ names: String...) throws(TransferError) -> TransferReport {
    try StorageRestore(from: names.map(archive), into: restored).run()
  }

  private func refusal(_ work: () throws(TransferError) -> Void) -> String {
    do throws(TransferError) {
      try work()
      return ""
    } catch {
      return error.description
    }
  }

  private func samples(_ count: Int) -> [SampleBundle] {
    (0..<count).map { SampleBundle(filling: "\($0)", count: $0 * 5000) }
  }

  private func size(_ name: String) throws -> Int64 { try Folder.size(of: archive(name)) }

  // MARK: Everything

  @Test func `an archive beside a running store is restored with every record and deletion`() async throws {
    let store = try await fixture.open()
    let samples = samples(20)
    for sample in samples { try await store.upload(sample) }
    let pinned = try await store.change(RecordChange(isPinned: true), of: samples[3].id)
    try await store.delete(samples[5].id)
    let made = try backUp("a")
    #expect(made.bundles == 19 && made.copiedBundles == 19 && made.deletions == 1 && made.share == 1)
    #expect(made.problems.isEmpty)
    let result = try restore("a")
    #expect(result.bundles == 19 && result.bytes == made.bytes && result.problems.isEmpty)

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

  @Test func `only the owner can read an archive`() async throws {
    await (try fixture.open()).close()
    try backUp("a")
    let attributes = try FileManager.default.attributesOfItem(atPath: archive("a"))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(try !Folder.exists(archive("a") + ".incomplete"))
  }

  // MARK: What is new

  @Test func `an archive that continues another contains only what is new, and both are restored`()
    async throws
  {
    let store = try await fixture.open()
    let samples = samples(8)
    for sample in samples.prefix(5) { try await store.upload(sample) }
    try backUp("a")
    let unchanged = try backUp("b", since: "a")
    #expect(unchanged.copiedBundles == 0 && unchanged.changedRecords == 0 && unchanged.bundles == 5)
    for sample in samples.dropFirst(5) { try await store.upload(sample) }
    try await store.change(RecordChange(isPinned: true), of: samples[0].id)
    try await store.delete(samples[1].id)
    let third = try backUp("c", since: "b")
    #expect(third.copiedBundles == 3 && third.changedRecords == 1 && third.deletions == 1)
    #expect(third.bundles == 7)
    #expect(try size("b") < size("a"))

    let result = try restore("a", "b", "c")
    #expect(result.bundles == 7 && result.problems.isEmpty && result.bytes == third.bytes)
    let other = try await fixture.open(at: restored)
    for (index, sample) in samples.enumerated() where index != 1 {
      #expect(try await other.open(sample.id).contents == sample.bytes)
      #expect(try await other.record(sample.id) == store.record(sample.id))
    }
    await #expect(throws: StoreError.self) { _ = try await other.record(samples[1].id) }
    await other.close()
    await store.close()
  }

  @Test func `archives in another order, incomplete series and other files are refused`() async throws {
    let store = try await fixture.open()
    for sample in samples(2) { try await store.upload(sample) }
    try backUp("a")
    try backUp("b", since: "a")
    try backUp("c", since: "b")
    try backUp("x")
    for names in [["b"], ["b", "a"], ["a", "c"], ["a", "x"], ["x", "b"], ["a", "b", "b"]] {
      let paths = names.map(archive)
      let sentence = refusal { () throws(TransferError) in
        _ = try StorageRestore(from: paths, into: restored).run()
      }
      #expect(sentence.contains("does not continue the archive before it"), "\(names)")
    }
    #expect(refusal { () throws(TransferError) in try backUp("a") }.contains("exists already"))
    #expect(refusal { () throws(TransferError) in try backUp("d", since: "none") }.contains("no backup"))
    #expect(refusal { () throws(TransferError) in try restore("none") }.contains("no backup"))
    let inside = fixture.path + "/a.tar"
    let nested = refusal { () throws(TransferError) in
      _ = try ArchiveBackup(of: fixture.path, to: inside).run()
    }
    #expect(nested.contains("inside the other"))
    try DurableFile.replace(archive("text"), with: Array(repeating: 65, count: 2000))
    #expect(refusal { () throws(TransferError) in try restore("text") }.contains("is not an archive"))
    #expect(try !Folder.exists(restored))
    await store.close()
  }

  // MARK: Damage

  @Test func `a bundle that differs from its digest is named, and an earlier archive keeps its copy`()
    async throws
  {
    let store = try await fixture.open()
    let samples = samples(3)
    for sample in samples { try await store.upload(sample) }
    await store.close()
    try backUp("a")
    let path = "\(fixture.path)/bundles/\(samples[1].id.description.prefix(2))/\(samples[1].id)"
    try File(path + ".zip").setMode(0o640)
    try File(path + ".zip", .update).write([0xFF, 0xFF], at: 20)
    let whole = try backUp("b")
    #expect(whole.problems == [TransferReport.Problem(id: samples[1].id, kind: .damaged)])
    #expect(whole.bundles == 2)
    // The record is touched, so that the bundle is looked at again.
    try File(path + ".json").setModifiedAt(1_000_000)
    let next = try backUp("c", since: "a")
    #expect(next.bundles == 3)
    let result = try restore("a", "c")
    #expect(result.bundles == 3 && result.problems.isEmpty)
  }

  @Test func `an archive that was cut or changed anywhere is refused or its damage is named`() async throws {
    let store = try await fixture.open()
    let sample = SampleBundle(filling: "1", count: 2000)
    try await store.upload(sample)
    await store.close()
    try backUp("a")
    let bytes = try File(archive("a")).read(upTo: 1 << 20, at: 0)
    for end in stride(from: 0, to: bytes.count - TarHeader.blockBytes, by: TarHeader.blockBytes / 2) {
      try DurableFile.replace(archive("cut"), with: Array(bytes[..<end]))
      let sentence = refusal { () throws(TransferError) in try restore("cut") }
      #expect(sentence.contains("is not an archive"), "\(end)")
    }
    for index in stride(from: 0, to: bytes.count - 2 * TarHeader.blockBytes, by: 97) {
      var changed = bytes
      changed[index] ^= 0x11
      try DurableFile.replace(archive("changed"), with: changed)
      try Folder.removeTree(restored)
      do {
        let result = try restore("changed")
        // The bundle is intact, or missing from the result.
        guard result.bundles == 1 else { continue }
        let other = try await fixture.open(at: restored)
        #expect(try await other.open(sample.id).contents == sample.bytes, "\(index)")
        await other.close()
      } catch is TransferError {}
    }
  }

  @Test(arguments: [
    "../outside", "/outside", "tokens/../../outside", "tokens//x", "lock", "bundles/00/x", "catalog.sqlite",
  ]) func `a member with another path is refused`(name: String) throws {
    let file = try File(archive("bad"), .openOrCreate(mode: 0o600))
    var writer = TarWriter(file)
    try writer.add(name, [1, 2, 3])
    let marker = BackupFolder.Marker(archive: UUID())
    try writer.add(BackupFolder.markerName, try marker.bytes(for: ""))
    try writer.finish()
    #expect(refusal { () throws(TransferError) in try restore("bad") }.contains("is not an archive"))
  }

  // MARK: Other files

  @Test func `tokens, keys and logs are those of the newest archive`() async throws {
    await (try fixture.open()).close()
    for folder in ["tokens", "keys", "set-aside"] { try Folder.create("\(fixture.path)/\(folder)") }
    let files = [
      "tokens/a.json": [1], "tokens/b.json": [2], "keys/tokens": [3], "keys/links": [4],
      "audit.log": [UInt8](repeating: 65, count: 100_000), "audit.log.1": [5], "set-aside/x.zip": [6],
    ]
    for (name, bytes) in files { try DurableFile.replace("\(fixture.path)/\(name)", with: bytes) }
    #expect(try backUp("a").otherFiles == 7)
    try Folder.remove(fixture.path + "/tokens/a.json")
    try backUp("b", since: "a")
    try Folder.remove(fixture.path + "/tokens/b.json")
    try backUp("c", since: "b")
    // If all are lost, the last ones are restored.
    #expect(try restore("a", "b", "c").otherFiles == 6)
    #expect(try Folder.entries(restored + "/tokens") == ["b.json"])
    for (name, bytes) in files where name != "tokens/a.json" {
      #expect(try File("\(restored)/\(name)").read(upTo: 1 << 20, at: 0) == bytes, "\(name)")
    }
    try DurableFile.replace(fixture.path + "/keys/links", with: [9])
    #expect(refusal { () throws(TransferError) in try backUp("d", since: "c") }.contains("another storage"))
  }

  // MARK: Format

  @Test(.enabled(if: Tool.find("tar") != nil, "tar isn't installed"))
  func `tar extracts archives as the folder of a backup`() async throws {
    let store = try await fixture.open()
    let samples = samples(4)
    for sample in samples.prefix(3) { try await store.upload(sample) }
    try backUp("a")
    try await store.upload(samples[3])
    try await store.delete(samples[0].id)
    await store.close()
    try backUp("b", since: "a")
    let folder = fixture.folder.path + "/extracted"
    try Folder.create(folder)
    for name in ["a", "b"] {
      let outcome = try await Tool.run("tar", ["-xf", archive(name), "-C", folder])
      #expect(outcome.status == 0, "\(outcome.errors)")
    }
    let result = try StorageRestore(from: [folder], into: restored).run()
    #expect(result.bundles == 3 && result.problems.isEmpty && result.deletions == 1)
  }

  @Test(arguments: [0, 1, 511, 512, 513, 0o77777777777, 1 << 33, 1 << 40] as [Int64])
  func `a header is read as it was written`(size: Int64) throws {
    let header = TarHeader(
      name: String(repeating: "n", count: TarHeader.nameBytes), size: size, mode: 0o640,
      modified: 1_700_000_000)
    let bytes = try #require(header.bytes)
    #expect(bytes.count == TarHeader.blockBytes)
    #expect(TarHeader(bytes) == header)
    #expect(header.paddedSize % 512 == 0 && header.paddedSize - size < 512)
    for index in 0..<265 {
      var changed = bytes
      changed[index] ^= 1
      #expect(TarHeader(changed) == nil || index >= 148 && index < 156, "\(index)")
    }
    #expect(TarHeader(name: String(repeating: "n", count: 101), size: size).bytes == nil)
  }
}
