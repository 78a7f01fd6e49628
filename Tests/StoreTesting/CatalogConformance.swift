import Foundation
import SnapshotFormat
import SnapshotStore
import Testing

/// The rules of ``Catalog``, tested for every catalogue.
@Suite struct CatalogConformance {
  @Test(arguments: CatalogKind.allCases)
  func `pages are newest first and join without gap or overlap`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      // Several records have the same time, so that the id decides, and they are inserted in random order.
      let records = try (0..<50).map { try record(at: Double($0 / 3)) }
      for record in records.shuffled() { try await catalog.insert(record) }
      try await catalog.insert(try record(at: 7, report: "BUG-9"))
      let expected = records.sorted { Cursor(after: $0) > Cursor(after: $1) }
      for limit in [1, 7, 49, 50, 51] {
        let pages = try await pages(of: catalog, limit: limit)
        #expect(pages.flatMap(\.records) == expected)
        #expect(pages.dropLast().allSatisfy { $0.records.count == limit })
        #expect(pages.count == (50 + limit - 1) / limit)
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a list stays right while new records arrive and old ones go`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let records = try (0..<10).map { try record(at: Double($0)) }
      for record in records { try await catalog.insert(record) }
      let first = try await catalog.records(of: .sample, page: PageRequest(limit: 4))
      try await catalog.insert(try record(at: 100))
      try await catalog.remove(records[6].id)
      try await catalog.remove(records[3].id)
      let second = try await catalog.records(of: .sample, page: PageRequest(limit: 4, cursor: first.next))
      #expect(first.records == [9, 8, 7, 6].map { records[$0] })
      #expect(second.records == [5, 4, 2, 1].map { records[$0] })
      let third = try await catalog.records(of: .sample, page: PageRequest(limit: 4, cursor: second.next))
      #expect(third == Page(records: [records[0]], next: nil))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a limit outside its range is taken as the nearer end`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      for index in 0...PageRequest.maximumLimit { try await catalog.insert(try record(at: Double(index))) }
      for (asked, given) in [
        (-1, 1), (0, 1), (1, 1), (999, 999), (1000, 1000), (1001, 1000), (Int.max, 1000),
      ] {
        let page = try await catalog.records(of: .sample, page: PageRequest(limit: asked))
        #expect(page.records.count == given)
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `without a report all records are listed, newest first`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let records = try (0..<6).map { try record(at: Double($0), report: "BUG-\($0 % 2)") }
      for record in records.shuffled() { try await catalog.insert(record) }
      try await catalog.remove(records[4].id)
      let first = try await catalog.records(of: nil, page: PageRequest(limit: 2))
      let rest = try await catalog.records(of: nil, page: PageRequest(limit: 3, cursor: first.next))
      #expect((first.records + rest.records) == [5, 3, 2, 1, 0].map { records[$0] })
      #expect(rest.next == nil)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `an unknown report has no records`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let page = try await catalog.records(of: .sample, page: PageRequest())
      #expect(page == Page(records: [], next: nil))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `inserting again replaces`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      var record = try StoreTesting.record(at: 1)
      try await catalog.insert(record)
      record.receivedAt = Date(timeIntervalSince1970: 5)
      record.metadata = ["a": "b"]
      try await catalog.insert(record)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records == [record])
      record.report = try ReportID(validating: "BUG-9")
      try await catalog.insert(record)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records.isEmpty)
      #expect(try await catalog.records(of: record.report, page: PageRequest()).records == [record])
    }
  }

  @Test(arguments: CatalogKind.allCases, [SnapshotRecord.Verification.intact, .damaged])
  func `a pending record never replaces a settled one`(
    kind: CatalogKind, settled: SnapshotRecord.Verification
  ) async throws {
    try await kind.withCatalog { catalog in
      let pending = try record(at: 1) { $0.verified = .pending }
      var record = pending
      record.verified = settled
      try await catalog.insert(record)
      try await catalog.insert(pending)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records == [record])
    }
  }

  /// Several servers insert what they have read or written, in any order.
  @Test(arguments: CatalogKind.allCases)
  func `an older revision never replaces a newer one`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      var revisions = [try record(at: 1), try record(at: 2)].map { [$0] }
      let changes = [
        RecordChange(isPinned: true), RecordChange(end: .at(Date(timeIntervalSince1970: 1_900_000_000))),
        RecordChange(isPinned: false),
      ]
      for index in revisions.indices {
        for change in changes {
          var next = try #require(revisions[index].last)
          try change.apply(to: &next)
          revisions[index].append(next)
        }
      }
      #expect(revisions[0].map { $0.revision ?? 0 } == [0, 1, 2, 3])
      let newest = [revisions[1][3].listed, revisions[0][3].listed]
      for order in [[0, 3, 0, 1, 2], [2, 3, 1, 0]] {
        for number in order {
          try await catalog.insert([revisions[0][number], revisions[1][number]])
        }
        #expect(try await catalog.records(of: .sample, page: PageRequest()).records == newest)
      }
      // The same revision again adds what the catalogue lacks.
      var complete = revisions[0][3]
      complete.identifiers = ["balance"]
      try await catalog.insert([complete])
      var query = CatalogQuery()
      query.text = "balance"
      #expect(try await catalog.total(query).count == 1)
      // A removal is newer than every revision.
      try await catalog.remove(complete.id)
      var late = complete
      for change in changes { try change.apply(to: &late) }
      try await catalog.insert(late)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records == [newest[0]])
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a record is listed with all that it says`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      var record = try record(at: 1)
      record.metadata = ["note": "wrong since Ärger ☃", "": ""]
      record.attachedBy = "1f0c3a5b7d9e"
      record.expiresAt = Date(timeIntervalSince1970: 1_900_000_000.123)
      record.isPinned = true
      (record.manifestID, record.recordingCount) = (SnapshotID(), 7)
      record.modules = [Module(name: "\u{0}é", files: ["", "a"])]
      // Lists omit these.
      record.identifiers = ["a"]
      record.comments = [SnapshotComment("Seen", writtenAt: Date(timeIntervalSince1970: 1))].compactMap { $0 }
      (record.revision, record.attempt) = (3, SnapshotID())
      try await catalog.insert(record)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records == [record.listed])
      (record.expiresAt, record.isPinned, record.verified) = (nil, false, .damaged)
      try await catalog.insert(record)
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records == [record.listed])
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a removed id stays away, whatever arrives late`(kind: CatalogKind) async throws {
    try await kind.withCatalog { catalog in
      let (known, late) = try (record(at: 1), record(at: 2))
      try await catalog.insert(known)
      for id in [known.id, late.id, known.id] { try await catalog.remove(id) }
      for record in [known, late] { try await catalog.insert(record) }
      #expect(try await catalog.records(of: .sample, page: PageRequest()).records.isEmpty)
    }
  }

  @Test func `a cursor survives its text`() throws {
    let cursor = Cursor(after: try record(at: 1_800_000_000.123))
    #expect(cursor.receivedAt == 1_800_000_000_123)
    #expect(Cursor("\(cursor)") == cursor)
    for text in ["", "_", "12", "12_", "x_\(cursor.id)", "12_\(cursor.id)0", "\(cursor.id)_12"] {
      #expect(Cursor(text) == nil)
    }
  }

  private func pages(of catalog: any Catalog, limit: Int) async throws -> [Page] {
    var pages: [Page] = []
    var request = PageRequest(limit: limit)
    repeat {
      let page = try await catalog.records(of: .sample, page: request)
      pages.append(page)
      request.cursor = page.next
    } while request.cursor != nil && pages.count < 100
    return pages
  }
}
