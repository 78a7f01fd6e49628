import Foundation
import PostgreSQLStore
import PostgreSQLClient
import PostgreSQLTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// Records that arrive when newer ones are already indexed. The tests run one by one, because a database server has a
/// limited number of connections.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"), .serialized)
struct LateRecordsTests {
  private static let words = ["apple", "banana", "cherry", "damson", "elder"]

  private func open(_ configuration: PostgreSQLConfiguration) async throws -> PostgreSQLCatalog {
    var configuration = configuration
    configuration.connections = 2
    let catalog = try await PostgreSQLCatalog.open(configuration, checkedRows: 8)
    try await catalog.complete(generation: try await catalog.state().generation)
    return catalog
  }

  /// A record in one of a thousand intervals of ten minutes.
  private func record(_ number: Int, at interval: Int) throws -> SnapshotRecord {
    try StoreTesting.record(at: Double(interval * 600), report: "BUG-\(number % 3)") {
      $0.size = Int64(number)
      $0.metadata = ["note": "\(Self.words[number % Self.words.count]) only\(number)"]
    }
  }

  private func query(_ text: String) -> CatalogQuery {
    var query = CatalogQuery()
    query.text = text
    return query
  }

  /// Expects that both catalogues find the same.
  private func expectSame(
    _ catalog: PostgreSQLCatalog, _ other: InMemoryCatalog, _ texts: [String]
  ) async throws {
    var queries = [CatalogQuery(), CatalogQuery(report: try ReportID(validating: "BUG-1"))]
    queries += texts.map(query)
    var middle = query("an")
    middle.after = Date(timeIntervalSince1970: 300 * 600)
    middle.before = Date(timeIntervalSince1970: 700 * 600)
    queries.append(middle)
    for query in queries {
      #expect(try await all(query, of: catalog) == all(query, of: other))
      #expect(try await catalog.total(query) == other.total(query))
      #expect(try await catalog.activity(query, days: 0...9) == other.activity(query, days: 0...9))
    }
  }

  private func all(_ query: CatalogQuery, of catalog: any Catalog) async throws -> [SnapshotRecord] {
    var records: [SnapshotRecord] = []
    var request = PageRequest(limit: 7)
    repeat {
      let page = try await catalog.page(query, request)
      records += page.records
      request.cursor = page.next
    } while request.cursor != nil
    return records
  }

  @Test func `records that arrive late to several servers are found by all of them`() async throws {
    try await withDatabase { configuration in
      let servers = try await [open(configuration), open(configuration), open(configuration)]
      defer { for server in servers { server.close() } }
      let records = try (0..<300).map { try record($0, at: $0 < 100 ? 1000 + $0 : 5 * ($0 - 100)) }
      try await servers[0].insert(Array(records[..<100]))
      let late = records[100...].shuffled()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (number, server) in servers.enumerated() {
          group.addTask {
            for index in stride(from: number, to: late.count, by: servers.count) {
              try await server.insert(late[index])
            }
          }
        }
        try await group.waitForAll()
      }
      let reference = InMemoryCatalog()
      try await reference.insert(records)
      for server in servers { try await expectSame(server, reference, Self.words) }
    }
  }

  @Test(arguments: 0..<2)
  func `records in any order, changed and removed, are found as in another catalogue`(seed: UInt64)
    async throws
  {
    var random = SeededGenerator(seed: seed)
    try await withDatabase { configuration in
      let servers = try await [open(configuration), open(configuration)]
      defer { for server in servers { server.close() } }
      let reference = InMemoryCatalog()
      var (records, next): ([SnapshotRecord], Int) = ([], 0)
      for round in 0..<300 {
        let server = servers[Int.random(in: 0...1, using: &random)]
        var changed: [SnapshotRecord] = []
        let choice = Int.random(in: 0..<10, using: &random)
        if choice >= 7, let index = records.indices.randomElement(using: &random) {
          switch choice {
          case 7:
            // Another record can get its time.
            let removed = records.remove(at: index)
            try await server.remove(removed.id)
            try await reference.remove(removed.id)
            changed = [try record(next, at: 0)]
            changed[0].receivedAt = removed.receivedAt
            next += 1
            records += changed
          case 8:
            records[index].metadata["note"] = "changed\(round) banana"
            changed = [records[index]]
          default:
            records[index].receivedAt = Date(
              timeIntervalSince1970: Double(Int.random(in: 0..<600_000, using: &random)))
            changed = [records[index]]
          }
        } else {
          for _ in 0..<Int.random(in: 1...4, using: &random) {
            changed.append(try record(next, at: Int.random(in: 0..<1000, using: &random)))
            next += 1
          }
          records += changed
        }
        try await server.insert(changed)
        try await reference.insert(changed)
        if round % 50 == 49 {
          let texts = Self.words + ["only\(next / 2)", "only1", "changed", "changed\(round / 2)", "chan"]
          try await expectSame(servers[0], reference, texts)
        }
      }
      for record in records.shuffled(using: &random).dropFirst(5) {
        try await servers[1].remove(record.id)
        try await reference.remove(record.id)
      }
      try await expectSame(servers[0], reference, Self.words + ["only", "changed"])
    }
  }
}
