import Foundation
import PostgreSQLStore
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// The two ways of a search: the newest rows are checked first, and then the index finds the others.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"), .serialized)
struct SearchTests {
  /// Numbers of rows to check: none, few, and all.
  private static let checkedRows = [0, 1, 3, 20, 500]

  private func open(
    _ configuration: PostgreSQLConfiguration, checking rows: Int
  ) async throws -> PostgreSQLCatalog {
    var configuration = configuration
    configuration.connections = 1
    let catalog = try await PostgreSQLCatalog.open(configuration, checkedRows: rows)
    try await catalog.complete(generation: try await catalog.state().generation)
    return catalog
  }

  private func query(_ text: String, _ change: (inout CatalogQuery) throws -> Void = { _ in }) throws
    -> CatalogQuery
  {
    var query = CatalogQuery()
    query.text = text
    try change(&query)
    return query
  }

  /// Expects that `catalog` finds the same as `other` on each of its pages, and counts the same.
  private func expectSame(
    _ query: CatalogQuery, _ catalog: PostgreSQLCatalog, _ other: InMemoryCatalog, limit: Int
  ) async throws {
    var request = PageRequest(limit: limit)
    repeat {
      let page = try await catalog.page(query, request)
      #expect(try await page == other.page(query, request), "\(query)")
      request.cursor = page.next
    } while request.cursor != nil
    #expect(try await catalog.total(query) == other.total(query), "\(query)")
    #expect(
      try await catalog.activity(query, days: 0...9) == other.activity(query, days: 0...9), "\(query)")
  }

  /// 200 records, of which seven at a time were received in the same millisecond.
  private static func records() throws -> [SnapshotRecord] {
    try (0..<200).map { number in
      try record(at: Double(number / 7) * 3600, report: "BUG-\(number % 5)") {
        $0.size = Int64(number)
        $0.application.version = "1.\(number % 9)"
        $0.metadata = [
          "note": "\(number % 2 == 0 ? "red" : "green") \(number < 100 ? "ancient" : "recent") word\(number)"
        ]
      }
    }
  }

  @Test func `pages are the same however many of the newest rows are checked first`() async throws {
    try await withDatabase { configuration in
      let (reference, records) = (InMemoryCatalog(), try Self.records())
      try await reference.insert(records)
      var queries = try [
        "red", "ancient", "gre", "word", "word1", "red word19", "word7 recent", "wor an red",
      ].map { try query($0) }
      queries += try [
        CatalogQuery(report: ReportID(validating: "BUG-3")),
        query("ancient") { $0.report = try ReportID(validating: "BUG-1") },
        query("red") { $0.versions = VersionRange(from: "1.3", through: "1.5") },
        query("green") { $0.before = Date(timeIntervalSince1970: 10 * 3600) },
        query("green") { $0.scope = .init(reportPrefixes: ["BUG-4", "BUG-1"]) },
        query(String("\(records[42].id)".prefix(6))), query("word \("\(records[42].id)".prefix(7))"),
      ]
      for rows in Self.checkedRows {
        let catalog = try await open(configuration, checking: rows)
        defer { catalog.close() }
        if rows == Self.checkedRows[0] { try await catalog.insert(records.shuffled()) }
        for query in queries {
          for limit in [1, 6, 50] { try await expectSame(query, catalog, reference, limit: limit) }
        }
      }
    }
  }

  @Test func `frequent words that no record has together find nothing`() async throws {
    try await withDatabase { configuration in
      for rows in Self.checkedRows {
        let catalog = try await open(configuration, checking: rows)
        defer { catalog.close() }
        if rows == Self.checkedRows[0] { try await catalog.insert(try Self.records()) }
        for text in ["red green", "ancient recent", "gree red", "word0 recent"] {
          let query = try query(text)
          #expect(try await catalog.page(query, PageRequest()).records.isEmpty, "\(text)")
          #expect(try await catalog.total(query) == CatalogTotal(count: 0), "\(text)")
        }
      }
    }
  }

  /// So many words begin with `many` that they are not looked up, and with `many0` that they are several conditions.
  @Test func `the beginning of a great many words finds them, also beside a frequent word`() async throws {
    try await withDatabase { configuration in
      let reference = InMemoryCatalog()
      let records = try (0..<120).map { number in
        let words = (0..<50).map { "many\(String(format: "%04d", number * 50 + $0))" }
        return try record(at: Double(number)) {
          $0.metadata = ["text": number < 110 ? words.joined(separator: " ") : "manner frequent"]
          $0.metadata["kind"] = number % 3 == 0 ? "frequent" : "other"
        }
      }
      try await reference.insert(records)
      for rows in Self.checkedRows {
        let catalog = try await open(configuration, checking: rows)
        defer { catalog.close() }
        if rows == Self.checkedRows[0] { try await catalog.insert(records) }
        for text in ["many", "many0", "many00", "many012", "many5 frequent", "many0 freq", "man", "manyx"] {
          try await expectSame(try query(text), catalog, reference, limit: 20)
        }
      }
    }
  }

  @Test func `no search reads all rows`() async throws {
    try await withDatabase { configuration in
      let admin = PostgreSQLPool(configuration)
      defer { admin.close() }
      func eventuallyAlone() async throws {
        // What a connection has done is counted when it ends.
        try await eventually {
          try await admin.perform { connection throws in
            try connection.query(
              """
              SELECT 1 FROM pg_stat_activity
              WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
              """
            ).isEmpty
          }
        }
      }
      let former = try await open(configuration, checking: 3)
      try await former.insert(try Self.records())
      former.close()
      try await eventuallyAlone()
      try await admin.perform { try $0.execute("SELECT pg_stat_reset()") }
      let catalog = try await open(configuration, checking: 3)
      for query in try [
        CatalogQuery(), CatalogQuery(report: .sample), query("red"), query("red green"), query("word1 gre"),
        query("abcd1234"), query("red") { $0.before = Date(timeIntervalSince1970: 3600) },
        query("red") { $0.versions = VersionRange("1.3") },
        query("red") { $0.scope = .init(reportPrefixes: ["BUG"], applications: ["a", "b"]) },
      ] {
        _ = try await catalog.page(query, PageRequest(limit: 20))
        _ = try await catalog.total(query)
        _ = try await catalog.activity(query, days: 0...9)
      }
      catalog.close()
      try await eventuallyAlone()
      let scans = try await admin.perform { connection throws in
        let rows = try connection.query(
          """
          SELECT sum(seq_scan)::bigint, sum(idx_scan)::bigint FROM pg_stat_user_tables
          WHERE relname IN ('snapshot', 'word')
          """)
        return (sequential: try rows[0].int(0), indexed: try rows[0].int(1))
      }
      #expect(scans.sequential == 0)
      #expect(scans.indexed > 0)
    }
  }
}
