import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@testable import SQLiteCatalog

@Suite struct SQLiteCatalogTests {
  private let fixture: SQLiteCatalogFixture

  init() throws { fixture = try SQLiteCatalogFixture() }

  @Test func `a closed catalogue is complete when opened again, and one that was not closed is uncertain`()
    async throws
  {
    let records = try (0..<3).map { try record(at: Double($0), identifiers: ["a b"]) }
    let first = try await fixture.filled(records)
    try await first.remove(records[0].id)
    let copy = fixture.folder.file("copy.sqlite").path
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix)
    }
    await first.close()
    let second = try await fixture.open()
    #expect(try await second.state().extent == .everything)
    #expect(try await fixture.list(second) == [records[2].id, records[1].id])
    await second.close()
    let torn = try await SQLiteCatalog.open(.init(path: copy))
    #expect(try await torn.state().extent == .uncertain)
    #expect(try await fixture.list(torn) == [records[2].id, records[1].id])
    try await torn.complete(generation: try await torn.state().generation)
    #expect(try await torn.state().extent == .everything)
    await torn.close()
    #expect(fixture.losses.all.isEmpty)
  }

  @Test func `the new catalogue of an empty store is complete, and one that was not closed is uncertain`()
    async throws
  {
    let first = try await SQLiteCatalog.open(.init(path: fixture.path), storeIsEmpty: true)
    #expect(first.isNew)
    #expect(try await first.state().extent == .everything)
    #expect(try await fixture.list(first).isEmpty)
    let record = try record(identifiers: ["a b"])
    try await first.insert(record)
    let copy = fixture.folder.file("copy.sqlite").path
    for suffix in ["", "-wal"] {
      try FileManager.default.copyItem(atPath: fixture.path + suffix, toPath: copy + suffix)
    }
    await first.close()
    let second = try await SQLiteCatalog.open(.init(path: fixture.path), storeIsEmpty: true)
    #expect(!second.isNew)
    #expect(try await second.state().extent == .everything)
    #expect(try await fixture.list(second) == [record.id])
    await second.close()
    let torn = try await SQLiteCatalog.open(.init(path: copy))
    #expect(try await torn.state().extent == .uncertain)
    #expect(try await fixture.list(torn) == [record.id])
    await torn.close()
  }

  @Test func `a catalogue that is lost later is rebuilt, although its store was empty`() async throws {
    let catalog = try await SQLiteCatalog.open(.init(path: fixture.path), storeIsEmpty: true)
    try await catalog.insert(try record())
    for suffix in ["", "-wal"] { try Folder.remove(fixture.path + suffix) }
    #expect(try await catalog.state().extent == .nothing)
    await catalog.close()
  }

  @Test func `lists are refused until the catalogue is complete`() async throws {
    let catalog = try await fixture.open()
    try await catalog.insert(try record())
    await #expect(throws: CatalogError.self) { try await catalog.page(CatalogQuery(), PageRequest()) }
    await #expect(throws: CatalogError.self) { try await catalog.total(CatalogQuery()) }
    await catalog.close()
    let again = try await fixture.open()
    #expect(try await again.state().extent == .nothing)
    await again.close()
  }

  @Test(arguments: ["closed", "left by a crash"])
  func `an interrupted build starts again`(how: String) async throws {
    let (first, second) = try (record(at: 1), record(at: 2))
    let half = try await fixture.open()
    try await half.insert([first, second])
    #expect(try await half.ids(in: SnapshotShard(of: second.id)).contains(second.id))
    if how == "closed" {
      await half.close()
    } else {
      let copy = fixture.folder.file("copy.sqlite").path
      try FileManager.default.copyItem(atPath: fixture.path, toPath: copy)
      await half.close()
      try FileManager.default.removeItem(atPath: fixture.path)
      try FileManager.default.moveItem(atPath: copy, toPath: fixture.path)
    }
    let catalog = try await fixture.filled([first])
    #expect(fixture.losses.all.count == 1)
    #expect(try await fixture.list(catalog) == [first.id])
    await catalog.close()
  }

  @Test func `records that are added, changed and removed during the build are correct in the end`()
    async throws
  {
    var records = try (0..<300).map { index in
      try record(at: Double(index / 3), report: "BUG-\(index % 7)", identifiers: ["feed/\(index)"])
    }
    let catalog = try await fixture.open()
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

  @Test func `records with many long words are found, although the newest were added first`() async throws {
    let word = String(repeating: "x", count: SearchLimits.wordBytes - 3)
    let note = (0..<1000).map { "\(word)\($0)" }.joined(separator: " ")
    let catalog = try await fixture.open()
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
  }

  @Test func `a millisecond has a limited number of places`() async throws {
    let time = try record(at: 5)
    try await fixture.filled([time]).close()
    let places = Place.range(5000)
    let queue = try DatabaseQueue(path: fixture.path)
    try await queue.write { db in
      try db.execute(
        sql: "INSERT INTO listing VALUES (?, 0, 5000, 0)", arguments: [places.upperBound - 1])
    }
    try queue.close()
    let catalog = try await fixture.open()
    try await catalog.insert([try record(at: 5)])
    await #expect(throws: CatalogError.self) { try await catalog.insert([try record(at: 5)]) }
    try await catalog.insert([try record(at: 6)])
    await catalog.close()
  }

  @Test(arguments: [false, true])
  func `commits are flushed before a checkpoint, and the log is bounded`(isNew: Bool) async throws {
    if !isNew { try await fixture.filled([try record()]).close() }
    let index = try OpenIndex(.init(path: fixture.path), generation: 1, storeIsEmpty: isNew)
    #expect(index.isNew == isNew)
    let settings = try await index.database.writeWithoutTransaction { db in
      try ["synchronous", "journal_mode", "wal_autocheckpoint", "journal_size_limit"].map { name in
        try String.fetchOne(db, sql: "PRAGMA \(name)")
      }
    }
    #expect(settings == ["1", "wal", "10000", "\(64 << 20)"])
    try index.close()
  }

  /// The index does not store the text: removing a record requires exactly the words it was added with.
  @Test func `every word of a replaced or removed record is removed from the index`() async throws {
    var records = try (0..<40).map { index in
      try record(at: Double(index), report: "BUG-\(index)", identifiers: ["a/\(index)", "É \(index)"]) {
        $0.metadata = ["note": "Größe \(index)", "b": "e\u{301}", "ﬁ": "ǅ"]
        $0.modules.append(Module(name: "Modul \(index)", files: ["x"]))
      }
    }
    let catalog = try await fixture.filled(records)
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

  @Test func `long words, and no properties, have a table, during a rebuild and later`() async throws {
    let notes = ["abc abcd größe", "返金後に 10000 abcd", "später zuletzt"]
    let records = try notes.indices.map { index in
      try record(at: Double(index), identifiers: ["feed/\(index)000"]) {
        $0.metadata = ["note": notes[index]]
      }
    }
    let catalog = try await fixture.open()
    try await catalog.insert(Array(records[..<2]))
    try await catalog.insert(records[0])
    try await catalog.complete(generation: try await catalog.state().generation)
    try await catalog.insert(records[2])
    await catalog.close()
    let terms = Set(records.flatMap { $0.descriptionTerms.terms + ($0.identifierTerms?.terms ?? []) })
    let queue = try DatabaseQueue(path: fixture.path)
    let words = try await queue.read { try String.fetchAll($0, sql: "SELECT word FROM word") }
    try queue.close()
    #expect(words.contains("返金") && words.contains("zuletzt"))
    #expect(Set(words) == terms.filter { $0.utf8.count > 3 && !$0.hasPrefix("|") })
  }

  /// The number of terms in the index.
  private func indexedTerms() async throws -> Int {
    let queue = try DatabaseQueue(path: fixture.path)
    defer { do { try queue.close() } catch { Issue.record(error) } }
    return try await queue.write { db in
      try db.execute(sql: "CREATE VIRTUAL TABLE temp.vocabulary USING fts5vocab(main, term, row)")
      return try Int.fetchOne(db, sql: "SELECT count(*) FROM vocabulary") ?? -1
    }
  }

  @Test func `many concurrent changes are written, and each is there when its call returns`() async throws {
    let catalog = try await fixture.filled([])
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
}
