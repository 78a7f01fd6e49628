import Foundation
import GRDB
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@testable import SQLiteCatalog

/// The query plans that SQLite chooses for searches.
@Suite struct SearchPlanTests {
  /// Every search reads indexes that are in the order of the result: nothing is sorted, and no table is scanned.
  @Test func `every search uses indexes`() async throws {
    let records = try (0..<100).map { index in
      try record(at: Double(index), report: "BUG-\(index)") { $0.application.version = "1.\(index)" }
    }
    let folder = try TemporaryFolder()
    let configuration = SQLiteCatalog.Configuration(path: folder.file("catalog.sqlite").path)
    let catalog = try await SQLiteCatalog.open(configuration)
    try await catalog.insert(records)
    try await catalog.complete(generation: try await catalog.state().generation)
    await catalog.close()
    let index = try OpenIndex(configuration, generation: 1)
    let last = SnapshotStore.Cursor(after: records[90])
    let queries = try Self.queries()
    try await index.database.read { db in
      for query in queries {
        let search = try #require(try Search(query, olderThan: last, db))
        for sql in [
          Search.rowsSQL(.all, matches: search.match != nil),
          Search.rowsSQL(.sizes, matches: search.match != nil),
          Search.totalSQL(matches: search.match != nil),
        ] {
          let arguments = search.arguments + (sql.contains("LIMIT ?") ? [100] : [])
          let steps = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
            .map { $0["detail"] as String }
          let text = steps.joined(separator: "; ")
          #expect(!text.contains("TEMP B-TREE"), "\(query): \(text)")
          for step in steps where step.contains("SCAN") && !step.contains("(subquery") {
            #expect(step.contains("VIRTUAL TABLE INDEX") && step.contains("M"), "\(query): \(text)")
          }
          let range = search.match == nil ? "rowid>? AND rowid<?" : "rowid=?"
          #expect(
            text.contains("SEARCH listing USING INTEGER PRIMARY KEY (\(range))")
              || sql.contains("SELECT 1 FROM term"), "\(query): \(text)")
          #expect(
            sql.contains("record") == text.contains("SEARCH snapshot USING INTEGER PRIMARY KEY (rowid=?)"),
            "\(query): \(text)")
        }
        #expect(!search.needsRows)
      }
      let steps = try Row.fetchAll(db, sql: "EXPLAIN QUERY PLAN " + Search.versionSQL, arguments: [Data()])
      #expect(steps.map { $0["detail"] as String } == ["SEARCH version USING PRIMARY KEY (key>?)"])
    }
    try index.close()
  }

  private static func queries() throws -> [CatalogQuery] {
    let changes: [(inout CatalogQuery) throws -> Void] = [
      { _ in },
      { $0.report = try ReportID(validating: "BUG-1") },
      { $0.application = "com.example.news" },
      { $0.versions = VersionRange(from: "1.7", through: "1.90") },
      { $0.module = "News" },
      { $0.identifier = "feed" },
      { $0.device = "iOS" },
      { $0.after = Date(timeIntervalSince1970: 5) },
      { $0.before = Date(timeIntervalSince1970: 50) },
      { $0.text = "com news" },
      { $0.text = "ne examp iPhone1" },
      { $0.scope = .init(reportPrefixes: ["BUG-"], applications: ["a", "b"]) },
    ]
    var queries = try changes.map { change in
      var query = CatalogQuery()
      try change(&query)
      return query
    }
    var all = CatalogQuery()
    for change in changes { try change(&all) }
    queries.append(all)
    return queries
  }
}
