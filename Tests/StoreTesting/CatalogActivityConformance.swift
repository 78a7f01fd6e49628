import Foundation
import SnapshotFormat
import SnapshotStore
import Testing

/// The counts per day, tested for every ``Catalog``.
@Suite struct CatalogActivityConformance {
  private static let day: TimeInterval = 86_400

  private func record(
    day: Double, size: Int64 = 10, report: String = "BUG-1", application: String = "com.example.news"
  ) throws -> SnapshotRecord {
    try StoreTesting.record(at: day * Self.day, report: report) { record in
      record.size = size
      record.application.identifier = application
    }
  }

  private func days(_ activity: CatalogActivity) -> [[Int]] {
    activity.days.map { [$0.number, $0.count, Int($0.bytes)] }
  }

  @Test(arguments: CatalogKind.allCases)
  func `each day has what arrived on it, from its first millisecond to its last`(kind: CatalogKind)
    async throws
  {
    try await kind.withCatalog { catalog in
      try await catalog.insert([
        try record(day: 19.999_999_99, size: 1), try record(day: 20, size: 2), try record(day: 20.5, size: 4),
        try record(day: 20.999_999_9, size: 8), try record(day: 21, size: 16), try record(day: 23, size: 32),
      ])
      let activity = try await catalog.activity(CatalogQuery(), days: 20...22)
      #expect(days(activity) == [[20, 3, 14], [21, 1, 16]])
      #expect(activity.firstDay == 20)
      #expect(days(try await catalog.activity(CatalogQuery(), days: 0...19)) == [[19, 1, 1]])
      #expect(try await catalog.activity(CatalogQuery(), days: 24...90).days.isEmpty)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `what is replaced counts once, what is removed not at all`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      var (moved, grown, gone) = try (record(day: 5), record(day: 5), record(day: 5))
      try await catalog.insert([moved, grown, gone])
      moved.receivedAt = Date(timeIntervalSince1970: 6 * Self.day)
      grown.size = 50
      try await catalog.insert([moved, grown, grown])
      try await catalog.remove(gone.id)
      try await catalog.remove(gone.id)
      try await catalog.insert(gone)
      for query in [CatalogQuery(), CatalogQuery(report: gone.report)] {
        #expect(days(try await catalog.activity(query, days: 0...9)) == [[5, 1, 50], [6, 1, 10]])
      }
      try await catalog.remove(moved.id)
      try await catalog.remove(grown.id)
      #expect(try await catalog.activity(CatalogQuery(), days: 0...9).days.isEmpty)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `only what the query finds and the caller may see is counted`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      try await catalog.insert([
        try record(day: 1, report: "BUG-1"),
        try record(day: 1, report: "WEB-1", application: "com.example.shop"),
        try record(day: 2, report: "BUG-2"), try record(day: 3, report: "BUG-1"),
      ])
      let report = try ReportID(validating: "BUG-1")
      func count(_ change: (inout CatalogQuery) -> Void) async throws -> [[Int]] {
        var query = CatalogQuery()
        change(&query)
        return days(try await catalog.activity(query, days: 0...9))
      }
      #expect(try await count { $0.report = report } == [[1, 1, 10], [3, 1, 10]])
      #expect(
        try await count { $0.scope = .init(reportPrefixes: ["BUG-"]) } == [
          [1, 1, 10], [2, 1, 10], [3, 1, 10],
        ])
      #expect(try await count { $0.scope = .init(applications: ["com.example.shop"]) } == [[1, 1, 10]])
      #expect(try await count { $0.scope = .init(applications: []) }.isEmpty)
      #expect(try await count { $0.before = Date(timeIntervalSince1970: 2 * Self.day) } == [[1, 2, 20]])
      #expect(try await count { $0.text = "nothing" }.isEmpty)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `of more days than there may be the last are told`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let count = CatalogActivity.maximumDays
      try await catalog.insert([try record(day: 1000), try record(day: Double(1000 + count))])
      for query in [CatalogQuery(), CatalogQuery(report: try ReportID(validating: "BUG-1"))] {
        let whole = try await catalog.activity(query, days: 1001...1000 + count)
        #expect(whole.firstDay == 1001)
        let cut = try await catalog.activity(query, days: 0...1000 + count)
        #expect(cut == whole)
        let lower = try await catalog.activity(query, days: 1000...1000 + count - 1)
        #expect(days(lower) == [[1000, 1, 10]])
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `where there is too much to look at, only whole days are told`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let limit = CatalogActivity.maximumVisits
      var records = try (0..<limit - 5).map { try record(day: 9 + Double($0) / Double(limit)) }
      records += try (0..<5).map { try record(day: 8 + Double($0) / 10) }
      try await catalog.insert(records)
      let query = CatalogQuery(report: try ReportID(validating: "BUG-1"))
      let all = try await catalog.activity(query, days: 7...9)
      #expect(days(all) == [[8, 5, 50], [9, limit - 5, 10 * (limit - 5)]])
      #expect(all.firstDay == 7)
      try await catalog.insert(try record(day: 8.9))
      let rest = try await catalog.activity(query, days: 7...9)
      #expect(days(rest) == [[9, limit - 5, 10 * (limit - 5)]])
      #expect(rest.firstDay == 9)
      #expect(try await catalog.activity(CatalogQuery(), days: 7...9).days.first?.count == 6)
    }
  }

  @Test func `a day before 1970 has a number too`() {
    #expect(CatalogActivity.day(of: Date(timeIntervalSince1970: -1)) == -1)
    #expect(CatalogActivity.day(of: Date(timeIntervalSince1970: -Self.day)) == -1)
    #expect(CatalogActivity.day(of: Date(timeIntervalSince1970: 0)) == 0)
    #expect(CatalogActivity.day(of: Date(timeIntervalSince1970: Self.day)) == 1)
  }
}
