import Foundation
import GRDB
import SQLiteCatalog
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Catalogues whose file is missing, unusable or damaged.
@Suite struct SQLiteCatalogFileTests {
  private let fixture: SQLiteCatalogFixture

  init() throws { fixture = try SQLiteCatalogFixture() }

  @Test(arguments: ["deleted", "deleted with its log", "overwritten", "truncated", "replaced"])
  func `a file that is damaged while in use is rebuilt`(how: String) async throws {
    let old = try (0..<2000).map { try record(at: Double($0)) }
    let catalog = try await fixture.filled(old)
    let generation = try await catalog.state().generation
    switch how {
    case "deleted": try Folder.remove(fixture.path)
    case "deleted with its log": for suffix in ["", "-wal"] { try Folder.remove(fixture.path + suffix) }
    case "overwritten":
      let handle = try FileHandle(forWritingTo: URL(filePath: fixture.path))
      try handle.write(contentsOf: Data(repeating: 0x5A, count: 1 << 20))
      try handle.close()
    case "truncated": try File(fixture.path, .openOrCreate(mode: 0o600)).truncate(to: 5000)
    default: try DurableFile.replace(fixture.path, with: Array("something else".utf8))
    }
    // The next change or the next read detects it, whichever comes first.
    let new = try record(at: 1_000_000)
    for index in 0..<50 where try await catalog.state().generation == generation {
      try await catalog.insert(try record(at: Double(index)) { $0.metadata = ["n": "\(index)"] })
      do { _ = try await catalog.page(CatalogQuery(report: .sample), PageRequest(limit: 1000)) } catch {}
    }
    let state = try await catalog.state()
    #expect(state.generation > generation)
    #expect(state.extent == .nothing)
    try await catalog.clear()
    try await catalog.insert(new)
    try await catalog.complete(generation: try await catalog.state().generation)
    #expect(try await fixture.list(catalog) == [new.id])
    #expect(!fixture.losses.all.isEmpty)
    await catalog.close()
    let again = try await fixture.open()
    #expect(try await fixture.list(again) == [new.id])
    await again.close()
  }

  #if os(Linux)
    /// Reading a page of a mapped file fails with `SIGBUS` if it can't be read, which would end the server.
    @Test func `no file is mapped`() async throws {
      let catalog = try await fixture.filled(try (0..<100).map { try record(at: Double($0)) })
      try await catalog.insert(try record(at: 1000))
      #expect(try await fixture.list(catalog).count == 100)
      // Files of /proc state no length, and only a file handle reads more than one page of them.
      let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
      let maps = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
      #expect(maps.contains("[stack]") && !maps.contains(fixture.folder.path))
      #expect(!FileManager.default.fileExists(atPath: fixture.path + "-shm"))
      await catalog.close()
    }
  #endif

  @Test(arguments: ["-wal", ""], [0, 40_000])
  func `a truncated file is detected by the next read, before a search finds too little`(
    file: String, left: Int64
  ) async throws {
    let old = try (0..<500).map { try record(at: Double($0)) }
    let catalog = try await fixture.filled(old)
    for part in 0..<5 {
      try await catalog.insert(
        old[(part * 100)..<((part + 1) * 100)].map { record in
          var changed = record
          changed.metadata = ["note": String(repeating: "changed \(part) ", count: 10)]
          return changed
        })
    }
    #expect(try await fixture.list(catalog).count == 100)
    let generation = try await catalog.state().generation
    #expect(try Folder.size(of: fixture.path + file) > left)
    try File(fixture.path + file, .update).truncate(to: left)

    let new = try record(at: 1_000_000)
    try await catalog.insert(new)
    #expect(try await catalog.state() == CatalogState(extent: .nothing, generation: generation + 1))
    await #expect { try await catalog.page(CatalogQuery(), PageRequest()) } throws: { error in
      if case CatalogError.incomplete = error { true } else { false }
    }
    #expect(fixture.losses.all.count == 1)
    try await catalog.insert(old + [new])
    try await catalog.complete(generation: generation + 1)
    #expect(try await catalog.total(CatalogQuery()).count == 501)
    await catalog.close()
  }

  @Test func `while no database can be created, changes are accepted and lists are refused`() async throws {
    let old = try record(at: 1)
    let catalog = try await fixture.filled([old])
    try Folder.remove(fixture.path)
    try Folder.create(fixture.path + "/not-empty")
    let new = try record(at: 2)
    try await catalog.insert(new)
    try await catalog.remove(old.id)
    await #expect(throws: CatalogError.self) { try await catalog.page(CatalogQuery(), PageRequest()) }
    await #expect(throws: CatalogError.self) { try await catalog.state() }
    try Folder.removeTree(fixture.path)
    #expect(try await catalog.state().extent == .nothing)
    try await catalog.insert(new)
    try await catalog.complete(generation: try await catalog.state().generation)
    #expect(try await fixture.list(catalog) == [new.id])
    await catalog.close()
    await #expect(throws: CatalogError.self) { try await catalog.insert(new) }
  }

  @Test func `a path with any characters can be a database's`() async throws {
    let name = "a b?c#d%20é&vfs=unix.sqlite"
    let odd = fixture.folder.path + "/" + name
    let catalog = try await SQLiteCatalog.open(.init(path: odd))
    try await catalog.complete(generation: try await catalog.state().generation)
    await catalog.close()
    let entries = try Folder.entries(fixture.folder.path)
    #expect(entries.contains(name) && entries.allSatisfy { $0.hasPrefix(name) })
  }

  @Test(arguments: ["no database", "", "of another form"])
  func `an unusable file is replaced at the start`(what: String) async throws {
    if what == "of another form" {
      try await fixture.filled([try record()]).close()
      let queue = try DatabaseQueue(path: fixture.path)
      try await queue.write { try $0.execute(sql: "PRAGMA user_version = 9999") }
      try queue.close()
    } else {
      try DurableFile.replace(fixture.path, with: Array(what.utf8))
    }
    try DurableFile.replace(fixture.path + "-journal", with: Array("of the former one".utf8))
    let catalog = try await fixture.open()
    #expect(try await catalog.state().extent == .nothing)
    #expect(!FileManager.default.fileExists(atPath: fixture.path + "-journal"))
    #expect(fixture.losses.all.isEmpty == what.isEmpty)
    await catalog.close()
  }

  @Test func `a damaged page is detected in the background`() async throws {
    let records = try (0..<3000).map { try record(at: Double($0)) }
    try await fixture.filled(records).close()
    let size = try File(fixture.path).size
    let handle = try FileHandle(forWritingTo: URL(filePath: fixture.path))
    try handle.seek(toOffset: UInt64(size / 2 / 4096 * 4096))
    try handle.write(contentsOf: Data(repeating: 0xFF, count: 4096 * 8))
    try handle.close()
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let catalog = try await SQLiteCatalog.open(.init(path: fixture.path) { _ in signal.yield() })
    for await _ in signals { break }
    try await eventually { try await catalog.state().extent == .nothing }
    await catalog.close()
  }
}
