import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import Testing

@testable import PostgreSQLStore

@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct SealedRecordTests {
  @Test func `the database has no word of what a sealed bundle hides`() async throws {
    let sample = try SealedSample()
    try await withDatabase { configuration in
      let catalog = try await PostgreSQLCatalog.open(configuration)
      defer { catalog.close() }
      try await catalog.complete(generation: try await catalog.state().generation)
      let stored = SnapshotRecord(
        id: sample.summary.manifest.id, report: .sample, size: Int64(sample.bytes.count),
        sha256: .of(sample.bytes),
        receivedAt: sample.summary.manifest.createdAt, verified: .intact, summary: sample.summary)
      try await catalog.insert([stored])
      let listed = try await catalog.page(CatalogQuery(), PageRequest(limit: 10)).records
      #expect(listed.map(\.sealed) == [stored.sealed])
      let pool = PostgreSQLPool(configuration)
      defer { pool.close() }
      let texts = try await pool.perform { connection throws in
        var texts: [String] = []
        let tables = try connection.query(
          "SELECT tablename::text FROM pg_tables WHERE schemaname = $1", [.text(Schemas.catalog.schema)]
        ).map { try $0.text(0) }
        for table in tables {
          texts += try connection.query("SELECT t::text FROM \(Schemas.catalog.schema).\(table) t").map {
            try $0.text(0)
          }
        }
        return texts
      }
      // Bytes are written as hexadecimal digits.
      func hasWord(_ word: String) -> Bool {
        let digits = word.utf8.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return texts.contains { $0.contains(word) || $0.contains(digits) }
      }
      #expect(hasWord("com.example.news"))
      #expect(SealedSample.canaries.filter(hasWord) == [])
    }
  }
}
