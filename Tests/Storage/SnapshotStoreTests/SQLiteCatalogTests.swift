import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore
import StoreTesting
import Synchronization
import SystemIO
import TestSupport
import Testing

@testable import SQLiteCatalog

@Suite struct SQLiteCatalogTests {
  private let folder: TemporaryFolder
  private let path: String
  private let losses = Losses()

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("catalog.sqlite").path
  }

  /// The reasons for which databases were discarded.
  private final class Losses: Sendable {
    private let reasons = Mutex<[String]>([])
    var all: [String] { reasons.withLock { $0 } }
    func add(_ reason: String) { reasons.withLock { $0.append(reason) } }
  }

  private func open() async throws -> SQLiteCatalog {
    try await SQLiteCatalog.open(.init(path: path) { [losses] in losses.add($0) })
  }

  /// A complete catalogue of these records.
  private func filled(_ records: [SnapshotRecord]) async throws -> SQLiteCatalog {
    let catalog = try await open()
    try await catalog.insert(records)
    try await catalog.complete(generation: try await catalog.state().generation)
    return catalog
  }

  private func list(_ catalog: SQLiteCatalog) async throws -> [SnapshotID] {
    try await catalog.page(CatalogQuery(), PageRequest()).records.map(\.id)
  }

  @Test func `a closed catalogue is complete when opened again, and one that was not closed is uncertain`()
    async throws
  {
    let records = try (0..<3).map { try record(at: Double($0), identifiers: ["a b"]) }
    let first = try await filled(records)
    try await first.remove(records[0].id)
    let copy = folder.file("copy.sqlite").path
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    await first.close()
    let second = try await open()
    #expect(try await second.state().extent == .everything)
    #expect(try await list(second) == [records[2].id, records[1].id])
    await second.close()
    let torn = try await SQLiteCatalog.open(.init(path: copy))
    #expect(try await torn.state().extent == .uncertain)
    #expect(try await list(torn) == [records[2].id, records[1].id])
    try await torn.complete(generation: try await torn.state().generation)
    #expect(try await torn.state().extent == .everything)
    await torn.close()
    #expect(losses.all.isEmpty)
  }

  @Test func `the new catalogue of an empty store is complete, and one that was not closed is uncertain`()
    async throws
  {
    let first = try await SQLiteCatalog.open(.init(path: path), storeIsEmpty: true)
    #expect(first.isNew)
    #expect(try await first.state().extent == .everything)
    #expect(try await list(first).isEmpty)
    let record = try record(identifiers: ["a b"])
    try await first.insert(record)
    let copy = folder.file("copy.sqlite").path
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
    }
    await first.close()
    let second = try await SQLiteCatalog.open(.init(path: path), storeIsEmpty: true)
    #expect(!second.isNew)
    #expect(try await second.state().extent == .everything)
    #expect(try await list(second) == [record.id])
    await second.close()
    let torn = try await SQLiteCatalog.open(.init(path: copy))
    #expect(try await torn.state().extent == .uncertain)
    #expect(try await list(torn) == [record.id])
    await torn.close()
  }

  @Test func `a catalogue that is lost later is rebuilt, although its store was empty`() async throws {
    let catalog = try await SQLiteCatalog.open(.init(path: path), storeIsEmpty: true)
    try await catalog.insert(try record())
    for suffix in ["", "-wal"] { try Folder.remove(path + suffix) }
    #expect(try await catalog.state().extent == .nothing)
    await catalog.close()
  }

  @Test func `lists are refused until the catalogue is complete`() async throws {
    let catalog = try await open()
    try await catalog.insert(try record())
    await #expect(throws: CatalogError.self) { try await catalog.page(CatalogQuery(), PageRequest()) }
    await #expect(throws: CatalogError.self) { try await catalog.total(CatalogQuery()) }
    await catalog.close()
    let again = try await open()
    #expect(try await again.state().extent == .nothing)
    await again.close()
  }

  @Test(arguments: ["closed", "left by a crash"])
  func `an interrupted build starts again`(how: String) async throws {
    let (first, second) = try (record(at: 1), record(at: 2))
    let half = try await open()
    try await half.insert([first, second])
    #expect(try await half.ids(in: SnapshotShard(of: second.id)).contains(second.id))
    if how == "closed" {
      await half.close()
    } else {
      let copy = folder.file("copy.sqlite").path
      try FileManager.default.copyItem(atPath: path, toPath: copy)
      await half.close()
      try FileManager.default.removeItem(atPath: path)
      try FileManager.default.moveItem(atPath: copy, toPath: path)
    }
    let catalog = try await filled([first])
    #expect(losses.all.count == 1)
    #expect(try await list(catalog) == [first.id])
    await catalog.close()
  }

  @Test func `records that are added, changed and removed during the build are correct in the end`()
    async throws
  {
    var records = try (0..<300).map { index in
      try record(at: Double(index / 3), report: "BUG-\(index % 7)", identifiers: ["feed/\(index)"])
    }
    let catalog = try await open()
    try await catalog.insert(Array(records[..<200]))
    let (grown, moved, gone) = (5, 6, 7)
    records[grown].size = 1000
    records[grown].metadata = ["note": "grown"]
    records[moved].receivedAt += 0.5
    try await catalog.insert([records[grown], records[moved]])
    try await catalog.remove(records[gone].id)
    try await catalog.insert(Array(records[180...]) + [records[gone]])
    try await catalog.complete(generation: try await catalog.state().generation)

    let expected = records.enumerated().filter { $0.offset != gone }.map(\.element)
    let memory = InMemoryCatalog()
    try await memory.insert(expected)
    var queries = [CatalogQuery()]
    for change: (inout CatalogQuery) throws -> Void in [
      { $0.text = "grown" }, { $0.identifier = "feed/6" }, { $0.identifier = "feed/7" },
      { $0.report = try ReportID(validating: "BUG-3") },
    ] {
      var query = CatalogQuery()
      try change(&query)
      queries.append(query)
    }
    for query in queries {
      let page = PageRequest(limit: 1000)
      #expect(try await catalog.page(query, page) == memory.page(query, page))
      #expect(try await catalog.total(query) == memory.total(query))
      #expect(try await catalog.activity(query, days: 0...1) == memory.activity(query, days: 0...1))
    }
    await catalog.close()
  }

  @Test func `more terms than may be pending are written and merged`() async throws {
    // Newest first, so that each batch sorts before the last one; more terms than one batch can have.
    let word = String(repeating: "x", count: SearchLimits.wordBytes - 3)
    let note = (0..<1000).map { "\(word)\($0)" }.joined(separator: " ")
    let catalog = try await open()
    for part in (0..<10).reversed() {
      try await catalog.insert(
        try (0..<50).map { index in
          try record(at: Double(part * 50 + index)) { $0.metadata = ["note": "\(note) part\(part)"] }
        })
    }
    try await catalog.complete(generation: try await catalog.state().generation)
    var query = CatalogQuery()
    query.text = "\(word)7 part3"
    let times = try await catalog.page(query, PageRequest()).records.map(\.receivedAt.timeIntervalSince1970)
    #expect(times == (150..<200).reversed().map(Double.init))
    #expect(try await catalog.total(CatalogQuery()).count == 500)
    await catalog.close()
    let queue = try DatabaseQueue(path: path)
    let parts = try await queue.read { db in
      try Int.fetchOne(db, sql: "SELECT count(DISTINCT segid) FROM term_idx")
    }
    #expect(parts == 1)
    try queue.close()
  }

  @Test(arguments: ["deleted", "deleted with its log", "overwritten", "truncated", "replaced"])
  func `a file that is damaged while in use is rebuilt`(how: String) async throws {
    let old = try (0..<2000).map { try record(at: Double($0)) }
    let catalog = try await filled(old)
    let generation = try await catalog.state().generation
    switch how {
    case "deleted": try Folder.remove(path)
    case "deleted with its log": for suffix in ["", "-wal"] { try Folder.remove(path + suffix) }
    case "overwritten":
      let handle = try FileHandle(forWritingTo: URL(filePath: path))
      try handle.write(contentsOf: Data(repeating: 0x5A, count: 1 << 20))
      try handle.close()
    case "truncated": try File(path, .openOrCreate(mode: 0o600)).truncate(to: 5000)
    default: try DurableFile.replace(path, with: Array("something else".utf8))
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
    #expect(try await list(catalog) == [new.id])
    #expect(!losses.all.isEmpty)
    await catalog.close()
    let again = try await open()
    #expect(try await list(again) == [new.id])
    await again.close()
  }

  #if os(Linux)
    /// Reading a page of a mapped file fails with `SIGBUS` if it can't be read, which would end the server.
    @Test func `no file is mapped`() async throws {
      let catalog = try await filled(try (0..<100).map { try record(at: Double($0)) })
      try await catalog.insert(try record(at: 1000))
      #expect(try await list(catalog).count == 100)
      // Files of /proc state no length, and only a file handle reads more than one page of them.
      let handle = try FileHandle(forReadingFrom: URL(filePath: "/proc/self/maps"))
      let maps = String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self)
      #expect(maps.contains("[stack]") && !maps.contains(folder.path))
      #expect(!FileManager.default.fileExists(atPath: path + "-shm"))
      await catalog.close()
    }
  #endif

  @Test(arguments: ["-wal", ""], [0, 40_000])
  func `a truncated file is detected by the next read, before a search finds too little`(
    file: String, left: Int64
  ) async throws {
    let old = try (0..<500).map { try record(at: Double($0)) }
    let catalog = try await filled(old)
    for part in 0..<5 {
      try await catalog.insert(
        old[(part * 100)..<((part + 1) * 100)].map { record in
          var changed = record
          changed.metadata = ["note": String(repeating: "changed \(part) ", count: 10)]
          return changed
        })
    }
    #expect(try await list(catalog).count == 100)
    let generation = try await catalog.state().generation
    #expect(try Folder.size(of: path + file) > left)
    try File(path + file, .update).truncate(to: left)

    let new = try record(at: 1_000_000)
    try await catalog.insert(new)
    #expect(try await catalog.state() == CatalogState(extent: .nothing, generation: generation + 1))
    await #expect { try await catalog.page(CatalogQuery(), PageRequest()) } throws: { error in
      if case CatalogError.incomplete = error { true } else { false }
    }
    #expect(losses.all.count == 1)
    try await catalog.insert(old + [new])
    try await catalog.complete(generation: generation + 1)
    #expect(try await catalog.total(CatalogQuery()).count == 501)
    await catalog.close()
  }

  @Test func `while no database can be created, changes are accepted and lists are refused`() async throws {
    let old = try record(at: 1)
    let catalog = try await filled([old])
    try Folder.remove(path)
    try Folder.create(path + "/not-empty")
    let new = try record(at: 2)
    try await catalog.insert(new)
    try await catalog.remove(old.id)
    await #expect(throws: CatalogError.self) { try await catalog.page(CatalogQuery(), PageRequest()) }
    await #expect(throws: CatalogError.self) { try await catalog.state() }
    try Folder.removeTree(path)
    #expect(try await catalog.state().extent == .nothing)
    try await catalog.insert(new)
    try await catalog.complete(generation: try await catalog.state().generation)
    #expect(try await list(catalog) == [new.id])
    await catalog.close()
    await #expect(throws: CatalogError.self) { try await catalog.insert(new) }
  }

  @Test func `a path with any characters can be a database's`() async throws {
    let name = "a b?c#d%20é&vfs=unix.sqlite"
    let odd = folder.path + "/" + name
    let catalog = try await SQLiteCatalog.open(.init(path: odd))
    try await catalog.complete(generation: try await catalog.state().generation)
    await catalog.close()
    let entries = try Folder.entries(folder.path)
    #expect(entries.contains(name) && entries.allSatisfy { $0.hasPrefix(name) })
  }

  @Test(arguments: ["no database", "", "of another form"])
  func `an unusable file is replaced at the start`(what: String) async throws {
    if what == "of another form" {
      try await filled([try record()]).close()
      let queue = try DatabaseQueue(path: path)
      try await queue.write { try $0.execute(sql: "PRAGMA user_version = 9999") }
      try queue.close()
    } else {
      try DurableFile.replace(path, with: Array(what.utf8))
    }
    try DurableFile.replace(path + "-journal", with: Array("of the former one".utf8))
    let catalog = try await open()
    #expect(try await catalog.state().extent == .nothing)
    #expect(!FileManager.default.fileExists(atPath: path + "-journal"))
    #expect(losses.all.isEmpty == what.isEmpty)
    await catalog.close()
  }

  @Test func `a damaged page is detected in the background`() async throws {
    let records = try (0..<3000).map { try record(at: Double($0)) }
    try await filled(records).close()
    let size = try File(path).size
    let handle = try FileHandle(forWritingTo: URL(filePath: path))
    try handle.seek(toOffset: UInt64(size / 2 / 4096 * 4096))
    try handle.write(contentsOf: Data(repeating: 0xFF, count: 4096 * 8))
    try handle.close()
    let (signals, signal) = AsyncStream<Void>.makeStream()
    let catalog = try await SQLiteCatalog.open(.init(path: path) { _ in signal.yield() })
    for await _ in signals { break }
    while try await catalog.state().extent != .nothing { await Task.yield() }
    await catalog.close()
  }

  @Test(arguments: [false, true])
  func `commits are flushed before a checkpoint, and the log is bounded`(isNew: Bool) async throws {
    if !isNew { try await filled([try record()]).close() }
    let index = try OpenIndex(.init(path: path), generation: 1, storeIsEmpty: isNew)
    #expect(index.isNew == isNew)
    let settings = try await index.database.writeWithoutTransaction { db in
      try ["synchronous", "journal_mode", "wal_autocheckpoint", "journal_size_limit"].map { name in
        try String.fetchOne(db, sql: "PRAGMA \(name)")
      }
    }
    #expect(settings == ["1", "wal", "10000", "\(64 << 20)"])
    try index.close()
  }

  @Test func `a new index has no log and is merged seldom until it is complete`() async throws {
    let index = try OpenIndex(.init(path: path), generation: 1)
    let settings = { (index: OpenIndex) in
      try index.database.read { db in
        try Row.fetchAll(db, sql: "SELECT k, v FROM term_config WHERE k <> 'version'")
          .reduce(into: [:]) { $0[$1[0] as String] = $1[1] as Int }
      }
    }
    #expect(try settings(index) == ["automerge": 0, "crisismerge": 64, "hashsize": 32 << 20])
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    let completed = try index.completed()
    #expect(FileManager.default.fileExists(atPath: path + "-wal"))
    #expect(try settings(completed) == ["automerge": 4, "crisismerge": 16, "hashsize": 1 << 20])
    try completed.close()
  }

  /// The index does not store the text: removing a record requires exactly the words it was added with.
  @Test func `every word of a replaced or removed record is removed from the index`() async throws {
    var records = try (0..<40).map { index in
      try record(at: Double(index), report: "BUG-\(index)", identifiers: ["a/\(index)", "É \(index)"]) {
        $0.metadata = ["note": "Größe \(index)", "b": "e\u{301}", "ﬁ": "ǅ"]
        $0.modules.append(Module(name: "Modul \(index)", files: ["x"]))
      }
    }
    let catalog = try await filled(records)
    for index in records.indices {
      records[index].metadata["note"] = index % 2 == 0 ? "other" : nil
      if index % 3 == 0 { records[index].identifiers = nil }
      if index % 5 == 0 { records[index].receivedAt += 100 }
    }
    try await catalog.insert(records)
    let words = try #require(records.first).descriptionTerms.count
    #expect(try await indexedTerms() > words)
    for record in records { try await catalog.remove(record.id) }
    #expect(try await indexedTerms() == 0)
    await catalog.close()
  }

  /// The number of terms in the index.
  private func indexedTerms() async throws -> Int {
    let queue = try DatabaseQueue(path: path)
    defer { do { try queue.close() } catch { Issue.record(error) } }
    return try await queue.write { db in
      try db.execute(sql: "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, term, row)")
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM vocabulary") ?? -1
    }
  }

  @Test func `many concurrent changes are written, and each is there when its call returns`() async throws {
    let catalog = try await filled([])
    try await withThrowingTaskGroup { group in
      for index in 0..<200 {
        group.addTask {
          let new = try record(at: Double(index), report: "BUG-\(index)")
          try await catalog.insert(new)
          #expect(try await catalog.records(of: new.report, page: PageRequest()).records == [new.listed])
          if index % 3 == 0 { try await catalog.remove(new.id) }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await catalog.total(CatalogQuery()).count == 133)
    await catalog.close()
  }

  /// A field that is added to records but not to rows would be missing in lists. Only identifiers, comments and the revision are.
  @Test func `a row contains all of a record that lists show`() throws {
    let record = try record(at: 1.234, identifiers: ["a"]) {
      $0.metadata = ["a": "b", "": "\u{0}é"]
      $0.manifestID = SnapshotID()
      $0.attachedBy = "token"
      $0.recordingCount = 7
      $0.verified = .damaged
      $0.expiresAt = Date(timeIntervalSince1970: 1.5)
      $0.isPinned = true
      $0.comments = [SnapshotComment("Seen", writtenAt: Date(timeIntervalSince1970: 1))].compactMap { $0 }
      $0.revision = 3
    }
    #expect(Mirror(reflecting: record).children.count == 19)
    let data = RecordCoder.encode(record)
    #expect(try RecordCoder.decode(data) == record.listed)
    for count in 0..<data.count {
      #expect(throws: (any Error).self) { try RecordCoder.decode(data.prefix(count)) }
    }
    #expect(throws: RecordCoder.Malformed.self) { try RecordCoder.decode(data + [0]) }
  }
}
