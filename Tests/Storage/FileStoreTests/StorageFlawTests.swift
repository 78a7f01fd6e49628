import Foundation
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import FileStore

/// Links, missing folders and files of a wrong kind in a storage folder.
@Suite struct StorageFlawTests {
  private let storage: StorageFixture
  private let sample = SampleBundle(count: 1000)
  private var elsewhere: String { storage.folder.path + "/elsewhere" }

  init() throws { storage = try StorageFixture() }

  private var shard: String { "bundles/" + SnapshotShard(of: sample.id).digits }

  /// A storage with a bundle, tokens and keys, whose store was closed.
  private func close() async throws {
    let store = try await storage.open()
    try await store.upload(sample)
    for name in ["keys/links", "keys/tokens", "tokens/0123456789ab.json"] {
      try Folder.create(Folder.parent(of: "\(storage.path)/\(name)"))
      try DurableFile.replace("\(storage.path)/\(name)", with: [1, 2, 3])
    }
    await store.close()
  }

  private func move(_ name: String, linking: Bool) throws {
    let path = "\(storage.path)/\(name)"
    try Folder.replace(elsewhere, with: path)
    if linking { try link(path) }
  }

  private func link(_ path: String) throws { try #require(symlink(elsewhere, path) == 0) }

  private func opening(at path: String? = nil) async -> StorageFlaw? {
    do {
      await (try storage.open(at: path)).close()
    } catch FileBundleStore.OpeningError.flawed(let flaw) {
      return flaw
    } catch {
      Issue.record("\(error)")
    }
    return nil
  }

  private func refusal(_ work: () throws -> Void) -> String {
    do {
      try work()
      return ""
    } catch {
      return "\(error)"
    }
  }

  // MARK: Links

  @Test(arguments: ["bundles", "bundles/shard", "uploads", "keys", "keys/links", "tokens", "audit.log"])
  func `a link in the storage is refused by its name, by the store and by everything that copies it`(
    name: String
  ) async throws {
    try await close()
    let name = name == "bundles/shard" ? shard : name
    if name == "audit.log" { try DurableFile.replace("\(storage.path)/\(name)", with: [1]) }
    try move(name, linking: true)
    #expect(await opening()?.name == name)
    #expect(try StorageFlaw.all(in: storage.path).map(\.reason) == [.link])
    let text = "\(storage.path)/\(name) is a symbolic link"
    let target = storage.folder.path + "/target"
    #expect(refusal { _ = try StorageBackup(of: storage.path, to: target).run() }.hasPrefix(text))
    #expect(refusal { _ = try ArchiveBackup(of: storage.path, to: target + ".tar").run() }.hasPrefix(text))
    #expect(refusal { _ = try StorageMigration(from: storage.path, to: target).copy() }.hasPrefix(text))
    #expect(
      refusal { _ = try StorageMigration(from: storage.path, to: target).finish(leavingLosses: true) }
        .hasPrefix(text))
    #expect(refusal { _ = try FolderSource(storage.path) }.hasPrefix(text))
    #expect(refusal { _ = try StorageRestore(from: [storage.path], into: target).run() }.hasPrefix(text))
    #expect(try !Folder.exists(target + ".tar"))
  }

  @Test(arguments: ["set-aside/x", "tokens/b.json", "bundles/shard/x"])
  func `a link further down is no part of a backup that succeeds`(name: String) async throws {
    try await close()
    let name = name.replacing("bundles/shard/x", with: "\(shard)/\(sample.id).json")
    let path = "\(storage.path)/\(name)"
    try Folder.create(Folder.parent(of: path))
    try DurableFile.replace(elsewhere, with: [1])
    try Folder.removeIfPresent(path)
    try link(path)
    #expect(try StorageFlaw.all(in: storage.path, isThorough: true).map(\.name) == [name])
    let target = storage.folder.path + "/target"
    let text = "\(path): a symbolic link is not followed"
    #expect(refusal { _ = try StorageBackup(of: storage.path, to: target).run() }.contains(text))
    #expect(refusal { _ = try ArchiveBackup(of: storage.path, to: target + ".tar").run() }.contains(text))
  }

  @Test(arguments: ["keys", "tokens", "bundles", "bundles/shard", "index", "incomplete"])
  func `nothing is followed below the target of a backup, and no other file is removed`(
    name: String
  ) async throws {
    try await close()
    let target = storage.folder.path + "/target"
    _ = try StorageBackup(of: storage.path, to: target).run()
    let name = name == "bundles/shard" ? shard : name
    try Folder.create(elsewhere)
    for file in ["foreign", "\(sample.id).deleted", "\(sample.id).zip"] {
      try DurableFile.replace("\(elsewhere)/\(file)", with: [1])
    }
    try Folder.removeTree("\(target)/\(name)")
    try link("\(target)/\(name)")
    let text = "\(target)/\(name) is a symbolic link"
    #expect(refusal { _ = try StorageBackup(of: storage.path, to: target).run() }.hasPrefix(text))
    #expect(refusal { _ = try StorageRestore(from: [target], into: target + "2").run() }.hasPrefix(text))
    #expect(refusal { _ = try StorageBackup.lastCompletion(of: target) }.hasPrefix(text))
    #expect(try Folder.entries(elsewhere).count == 3)
  }

  @Test func `a link that appears while files are copied is not followed`() throws {
    let target = storage.folder.path + "/target"
    try Folder.create(target + "/incomplete")
    let staged = try StagedFiles(in: target + "/incomplete")
    try staged.makeFolder(target + "/keys")
    try Folder.create(elsewhere)
    try DurableFile.replace(elsewhere + "/foreign", with: [1])
    try Folder.remove(target + "/keys")
    try link(target + "/keys")
    let error = #expect(throws: SystemError.self) {
      try staged.add(try staged.copy([2], mode: 0o600), as: target + "/keys/tokens")
      try staged.commit()
    }
    #expect(error?.isLink == true)
    let other = try StagedFiles(in: target + "/incomplete")
    other.remove(target + "/keys/foreign")
    #expect(throws: SystemError.self) { try other.commit() }
    #expect(throws: SystemError.self) { try other.makeFolder(target + "/keys/below") }
    #expect(try Folder.entries(elsewhere) == ["foreign"])
  }

  // MARK: Folders that are gone

  @Test(arguments: ["bundles", "keys"])
  func `a folder that is gone since a clean stop keeps the store closed`(name: String) async throws {
    try await close()
    try move(name, linking: false)
    let flaw = try #require(await opening())
    #expect(flaw.name == name && flaw.reason == .missing)
    #expect(flaw.description.contains("\(storage.path)/\(name)") && flaw.mend.contains("backup"))
    #expect(try !Folder.exists("\(storage.path)/\(name)"), "nothing hides the loss")
    #expect(refusal { _ = try StorageBackup(of: storage.path, to: elsewhere + "2").run() } == "\(flaw)")
    try Folder.replace("\(storage.path)/\(name)", with: elsewhere)
    let store = try await storage.open()
    #expect(store.seal != nil)
    #expect(try await store.open(sample.id).contents == sample.bytes)
    await store.close()
  }

  @Test
  func `a folder of bundles that is empty since a clean stop keeps the store closed, until it is accepted`()
    async throws
  {
    try await close()
    try move("bundles", linking: false)
    try Folder.create(storage.path + "/bundles")
    #expect(await opening()?.reason == .empty)
    try Folder.remove(storage.path + "/clean")
    #expect(await opening() == nil)
  }

  @Test func `bundles that are gone after a crash, and keys without which tokens are useless, are missed`()
    async throws
  {
    try await close()
    let copy = try storage.copyAfterCrash()
    try Folder.removeTree(copy + "/bundles")
    #expect(await opening(at: copy)?.name == "bundles")
    try Folder.create(copy + "/bundles")
    #expect(await opening(at: copy) == nil)
    try Folder.removeIfPresent(copy + "/clean")
    try Folder.remove(copy + "/keys/tokens")
    #expect(await opening(at: copy)?.name == "keys/tokens")
    try Folder.removeTree(copy + "/keys")
    #expect(await opening(at: copy)?.name == "keys")
  }

  @Test func `a storage without snapshots and keys misses nothing`() async throws {
    #expect(await opening() == nil)
    try Folder.removeTree(storage.path + "/bundles")
    #expect(await opening() == nil)
    #expect(try StorageFlaw.all(in: storage.path, isThorough: true).isEmpty)
    #expect(try StorageFlaw.all(in: storage.path + "/none").isEmpty)
  }

  // MARK: Files of another kind

  @Test(arguments: [
    ("bundles", "file"), ("bundles/3f", "file"), ("uploads", "pipe"), ("keys", "file"), ("tokens", "pipe"),
    ("keys/tokens", "pipe"), ("keys/links", "folder"), ("audit.log", "pipe"), ("lock", "folder"),
    ("catalog.sqlite", "folder"),
  ])
  func `what is of another kind is named, and not an error number`(name: String, kind: String) async throws {
    try await close()
    let path = "\(storage.path)/\(name)"
    try Folder.removeTree(path)
    switch kind {
    case "file": try DurableFile.replace(path, with: [1])
    case "pipe": try #require(mkfifo(path, 0o600) == 0)
    default: try Folder.create(path)
    }
    let flaw = try #require(await opening())
    #expect(flaw.name == name)
    #expect(flaw.description.hasPrefix("\(path) is not a "))
    #expect(!flaw.description.contains("Not a directory"))
  }

  @Test func `a file in the place of the storage folder is named`() async throws {
    try DurableFile.replace(storage.path, with: [1])
    #expect(await opening()?.text == "\(storage.path) is not a folder.")
  }

  // MARK: While a store is used

  @Test func `a folder that goes or becomes a link while a store is used is a fault, until it is back`()
    async throws
  {
    try await close()
    for (name, linking) in [
      ("bundles", false), ("bundles", true), ("keys", false), ("keys", true), (shard, true),
    ] {
      let watch = FlawWatch(StorageLayout(root: storage.path), logger: .quiet)
      #expect(try watch.fault() == nil)
      try move(name, linking: linking)
      #expect(try watch.fault() == StorageFault(linking ? .misplaced : .missing, name: name))
      try Folder.removeIfPresent("\(storage.path)/\(name)")
      try Folder.replace("\(storage.path)/\(name)", with: elsewhere)
      #expect(try watch.fault() == nil)
    }
    let store = try await storage.open()
    try move("bundles", linking: true)
    #expect(await store.fault() == StorageFault(.misplaced, name: "bundles"))
    await store.close()
  }

  @Test func `an upload does not make the folder of all bundles again`() async throws {
    let store = try await storage.open()
    try Folder.remove(storage.path + "/bundles")
    #expect(await failure { try await store.upload(sample) } == "system")
    #expect(try !Folder.exists(storage.path + "/bundles"))
    await store.close()
  }
}
