import PostgreSQLClient
import PostgreSQLTesting
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@testable import PostgreSQLCatalog

/// The query plans that PostgreSQL chooses for searches, and to find late records.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL is not installed"))
struct SearchPlanTests {
  /// The statements, with parameters.
  private static let statements: [(String, [PostgreSQLValue])] = [
    (PlaceSearch.blocksSQL, [.int(1 << 60), .int(0), .int(4)]),
    (PlaceSearch.keyedBlocksSQL, [.ints([1, 3])]),
    (PlaceSearch.postingsSQL, [.texts(["a", "b"]), .int(0), .int(1 << 60)]),
    (PlaceSearch.keyedPostingsSQL, [.texts(["a", "b"]), .ints([1, 3])]),
    (PlaceSearch.keysSQL, [.texts(["a", "b"]), .int(1 << 60), .int(256)]),
    (PlaceSearch.listingsSQL, [.ints([1, 3])]),
    (PlaceSearch.entriesSQL, [.ints([1, 3]), .byteArrays([[0, 0], [0, 0]]), .int(16), .int(8)]),
    (PlaceSearch.sizesSQL, [.ints([1, 3])]),
    (Search.rowsSQL, [.ints([1, 3])]),
    (SearchPlan.wordsSQL, [.text("abcd"), .text("abce"), .int(501)]),
    (SearchPlan.allWordsSQL, [.text("abcd"), .text("abce")]),
    (SearchPlan.versionsSQL, [.bytes([3]), .int(200)]),
    (Packing.lateSQL, [.int(4), .int(8)]),
  ]

  @Test func `every search uses indexes`() async throws {
    try await withDatabase { configuration in
      let catalog = try await PostgreSQLCatalog.open(configuration, packing: Packing(block: 8, loose: 4))
      defer { catalog.close() }
      try await catalog.complete(generation: try await catalog.state().generation)
      try await catalog.insert(try (0..<100).map { try record(at: Double($0), report: "BUG-\($0)") })
      var configuration = configuration
      configuration.session = Schema.session
      let connection = try PostgreSQLConnection(configuration)
      try connection.execute("ANALYZE")
      for (sql, parameters) in Self.statements {
        let plan = try connection.query("EXPLAIN (FORMAT JSON) " + sql, parameters).map { try $0.text(0) }
          .joined()
        #expect(plan.contains("Index"), "\(sql): \(plan)")
        #expect(!plan.contains("\"Seq Scan\""), "\(sql): \(plan)")
      }
    }
  }

  @Test func `sets of records are read as they were written`() throws {
    for count in [0, 1, 2, 127, 128, 129, 2048] {
      let slots = Array((0..<UInt16(IndexLimits.block)).shuffled().prefix(count)).sorted()
      let set = try #require(SlotSet(SlotSet.encode(slots)))
      #expect(set.slots == slots.map(Int.init))
      #expect(set.count == count)
    }
    #expect(SlotSet([1]) == nil)
    #expect(SlotSet([0, 8]) == nil)
  }

  @Test func `listings are read as they were written`() throws {
    let entries: [Listing.Entry] = [
      .init(place: 0, size: 0), .init(place: 2, size: .max), .init(place: 1 << 62, size: 127),
    ]
    let listing = try Listing(Listing(entries).bytes)
    #expect(try (0..<listing.count).map { try listing.entry($0) } == entries)
    #expect(throws: MalformedRow.self) { try listing.entry(3) }
    #expect(listing.slot(of: 2) == 1)
    #expect(listing.slot(of: 4) == nil)
    #expect(throws: MalformedRow.self) { try Listing(Array(listing.bytes.dropLast())) }
  }
}
