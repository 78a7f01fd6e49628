import Foundation
import SnapshotFormat
import SnapshotStore
import Testing

/// The search, tested for every ``Catalog``.
@Suite struct CatalogSearchConformance {
  @Test(arguments: CatalogKind.allCases)
  func `a record is found by each of a great many identifiers, and by words up to the limit`(
    kind: CatalogKind
  ) async throws {
    let limit = SearchLimits.words
    // Each identifier occurs twice, which must not make a difference.
    let identifiers = (0..<limit + 100).flatMap { ["word\($0)", "word\($0)"] }
    let records = try [record(at: 1, report: "BUG-1", identifiers: identifiers)]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for number in [0, 1, 63, 64, 65, limit / 2, limit - 1, limit, limit + 99] {
        let identifier = "word\(number)"
        #expect(try await found({ $0.identifier = identifier }, in: catalog, records) == "a")
        #expect(
          try await found({ $0.text = identifier }, in: catalog, records) == (number < limit ? "a" : ""))
      }
      #expect(try await found({ $0.identifier = "word" }, in: catalog, records) == "")
      #expect(try await found({ $0.identifier = "word\(limit + 100)" }, in: catalog, records) == "")
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `every property finds exactly what has it, newest first`(kind: CatalogKind) async throws {
    let records = try [
      record(at: 1, report: "BUG-1", identifiers: ["news/feed", "Profil Zürich"]) {
        $0.metadata = ["note": "The balance was NEGATIVE, señor"]
      },
      record(at: 2, report: "bug-1", identifiers: ["news/feed/1"]) {
        $0.application.identifier = "com.example.bank"
        $0.modules = [Module(name: "News & more", files: []), Module(name: "", files: [])]
      },
      record(at: 3, report: "BUG-10", identifiers: [String(repeating: "long ", count: 100)]) {
        $0.device = .init(model: "x86_64", system: "Linux", systemVersion: "6.1", locale: "C")
        $0.metadata = ["|r|42|55|47|2d1": "news"]
      },
    ]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      func finds(_ letters: String, _ change: (inout CatalogQuery) throws -> Void) async throws {
        #expect(try await found(change, in: catalog, records) == letters)
      }
      try await finds("cba") { _ in }
      try await finds("a") { $0.report = try ReportID(validating: "BUG-1") }
      try await finds("b") { $0.application = "com.example.bank" }
      try await finds("") { $0.application = "com.example" }
      try await finds("ca") { $0.application = "com.example.news" }
      try await finds("b") { $0.module = "News & more" }
      try await finds("b") { $0.module = "" }
      try await finds("ca") { $0.module = "News" }
      try await finds("") { $0.module = "news" }
      try await finds("a") { $0.identifier = "news/feed" }
      try await finds("a") { $0.identifier = "Profil Zürich" }
      try await finds("c") { $0.identifier = String(repeating: "long ", count: 100) }
      try await finds("") { $0.identifier = String(repeating: "long ", count: 99) + "lone " }
      try await finds("ba") { $0.device = "iPhone17,1" }
      try await finds("ba") { $0.device = "iOS" }
      try await finds("ba") { $0.device = "iOS 26.1" }
      try await finds("ba") { $0.device = "iOS 26" }
      try await finds("") { $0.device = "iOS 2" }
      try await finds("ba") { $0.device = "iPhone17" }
      try await finds("") { $0.device = "iPhone1" }
      try await finds("c") { $0.device = "Linux" }
      try await finds("a") { $0.text = "negative balance" }
      try await finds("a") { $0.text = "zurich SENOR" }
      try await finds("cba") { $0.text = "news" }
      try await finds("ba") { $0.text = "feed" }
      try await finds("ba") { $0.text = "fee" }
      try await finds("") { $0.text = "eed" }
      try await finds("") { $0.text = "feed |r|42" }
      try await finds("") { $0.text = " ,." }
      try await finds("cb") { $0.after = Date(timeIntervalSince1970: 2) }
      try await finds("a") { $0.before = Date(timeIntervalSince1970: 2) }
      try await finds("b") {
        $0.after = Date(timeIntervalSince1970: 2)
        $0.before = Date(timeIntervalSince1970: 2.001)
      }
      try await finds("") {
        $0.after = Date(timeIntervalSince1970: 2)
        $0.before = Date(timeIntervalSince1970: 2)
      }
      try await finds("a") {
        $0.application = "com.example.news"
        $0.device = "iOS"
        $0.text = "feed"
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `versions are found by their numbers`(kind: CatalogKind) async throws {
    let versions = [
      "2.9", "3", "3.0.1", "3.1-beta2", "3.1-beta10", "3.1.0", "3.1.4", "3.9", "3.10", "v4.0", "4.0+7",
      "next",
    ]
    let records = try versions.enumerated().map { index, version in
      try record(at: Double(100 - index)) { $0.application.version = version }
    }
    func range(_ from: String?, _ through: String?) -> (inout CatalogQuery) -> Void {
      { $0.versions = VersionRange(from: from, through: through) }
    }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records.shuffled())
      func finds(_ letters: String, _ from: String?, _ through: String?) async throws {
        #expect(
          try await found(range(from, through), in: catalog, records) == letters,
          "\(from ?? "")…\(through ?? "")")
      }
      try await finds("bcdefghi", "3", "3")
      try await finds("defg", "3.1", "3.1")
      try await finds("def", "3.1.0", "3.1.0")
      try await finds("bc", "3.0", "3.0")
      try await finds("g", "3.1.4", "3.1.4")
      try await finds("hijk", "3.9", nil)
      try await finds("abcdefghl", nil, "3.9")
      try await finds("ef", "3.1-beta10", "3.1.0")
      try await finds("d", "3.1-beta2", "3.1-beta2")
      try await finds("jk", "4", "99999999999999999999999999999999999999")
      try await finds("", "5", nil)
      try await finds("", "3.9", "3.1")
      try await finds("l", "next", "next")
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `who may see a part finds nothing else`(kind: CatalogKind) async throws {
    let reports = ["BUG-1", "BUG-", "BUGS-1", "proj/issue/9", "proj/issue/99", "x"]
    let records = try reports.enumerated().map { index, report in
      try record(at: Double(100 - index), report: report) { $0.application.identifier = "app\(index % 2)" }
    }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      func finds(_ letters: String, _ prefixes: [String]?, _ applications: [String]? = nil) async throws {
        let scope = CatalogQuery.Scope(reportPrefixes: prefixes, applications: applications)
        #expect(try await found({ $0.scope = scope }, in: catalog, records) == letters, "\(scope)")
        for record in records {
          var query = CatalogQuery(report: record.report)
          query.scope = scope
          let isFound = try await catalog.page(query, PageRequest()).records == [record.listed]
          #expect(
            isFound == scope.allows(report: record.report, application: record.application.identifier))
        }
      }
      try await finds("abcdef", nil)
      try await finds("ab", ["BUG-"])
      try await finds("abc", ["BUG"])
      try await finds("a", ["BUG-1"])
      try await finds("de", ["proj/issue/9"])
      try await finds("e", ["proj/issue/99"])
      try await finds("abde", ["BUG-", "proj/"])
      try await finds("abf", ["BUG-", "x"])
      try await finds("", [])
      try await finds("ace", nil, ["app0"])
      try await finds("abcdef", nil, ["app0", "app1"])
      try await finds("", nil, [])
      try await finds("a", ["BUG-"], ["app0"])
      try await finds("abcdef", nil, ["app0", "app1"] + (0..<300).map { "other\($0)" })
      try await finds("ab", ["BUG-"] + (0..<300).map { "OTHER-\($0)" })
    }
  }

  /// For every combination of conditions, the pages contain exactly the records that a check of each record finds.
  @Test(arguments: CatalogKind.allCases)
  func `pages of any search join without gap or overlap while others arrive`(kind: CatalogKind) async throws {
    var random = SystemRandomNumberGenerator()
    let records = try (0..<400).map { index in
      try record(at: Double(index / 5), report: "BUG-\(index % 3)", identifiers: ["feed/\(index % 7)"]) {
        $0.application.version = "\(index % 4).\(index % 11)"
        $0.metadata = ["note": index % 2 == 0 ? "red" : "green"]
      }
    }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records.shuffled())
      for round in 0..<30 {
        var query = CatalogQuery()
        var expected = records
        if Bool.random(using: &random) {
          query.report = try ReportID(validating: "BUG-\(round % 3)")
          expected = expected.filter { $0.report == query.report }
        }
        if Bool.random(using: &random) {
          query.identifier = "feed/\(round % 7)"
          expected = expected.filter { $0.identifiers == ["feed/\(round % 7)"] }
        }
        if Bool.random(using: &random) {
          query.text = "RED"
          expected = expected.filter { $0.metadata == ["note": "red"] }
        }
        if Bool.random(using: &random) {
          query.versions = VersionRange(from: "1.5", through: "2")
          expected = expected.filter {
            $0.application.version.hasPrefix("2.")
              || ["1.5", "1.6", "1.7", "1.8", "1.9", "1.10"].contains($0.application.version)
          }
        }
        if Bool.random(using: &random) {
          query.before = Date(timeIntervalSince1970: 60)
          expected = expected.filter { $0.receivedAt.timeIntervalSince1970 < 60 }
        }
        expected.sort { Cursor(after: $0) > Cursor(after: $1) }
        var seen: [SnapshotRecord] = []
        var request = PageRequest(limit: 1 + round)
        repeat {
          let page = try await catalog.page(query, request)
          #expect(page.next == nil || page.records.count == request.limit)
          seen += page.records
          request.cursor = page.next
          try await catalog.insert(try record(at: 1_000_000, report: "BUG-\(round % 3)"))
        } while request.cursor != nil
        let old = seen.filter { $0.receivedAt.timeIntervalSince1970 < 1_000_000 }
        #expect(old == expected.map(\.listed))
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `many records of one millisecond are listed by their ids`(kind: CatalogKind) async throws {
    let records = try (0..<2000).map { _ in try record(at: 5) }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      var seen: [SnapshotID] = []
      var request = PageRequest(limit: 300)
      repeat {
        let page = try await catalog.page(CatalogQuery(report: .sample), request)
        seen += page.records.map(\.id)
        request.cursor = page.next
      } while request.cursor != nil
      #expect(seen == records.map(\.id).sorted(by: >))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `times that no clock shows are listed in order`(kind: CatalogKind) async throws {
    let times: [TimeInterval] = [-60_000_000_000, -1, 0, 1, 20_000_000_000, 250_000_000_000]
    let records = try times.map { try record(at: $0) }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records.shuffled())
      var seen: [SnapshotRecord] = []
      var request = PageRequest(limit: 1)
      repeat {
        let page = try await catalog.page(CatalogQuery(), request)
        seen += page.records
        request.cursor = page.next
      } while request.cursor != nil
      #expect(seen == records.reversed().map(\.listed))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `identifiers that are known are not forgotten`(kind: CatalogKind) async throws {
    var record = try record(at: 1, identifiers: ["news/feed"])
    try await kind.withCatalog { catalog in
      try await catalog.insert(record)
      record.identifiers = nil
      record.metadata = ["note": "later"]
      record.receivedAt = Date(timeIntervalSince1970: 9)
      try await catalog.insert(record)
      var query = CatalogQuery()
      query.identifier = "news/feed"
      query.text = "later feed"
      #expect(try await catalog.page(query, PageRequest()).records == [record])
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `what was replaced is not found by what it was`(kind: CatalogKind) async throws {
    var record = try record(at: 1, identifiers: ["old"]) { $0.metadata = ["note": "former"] }
    try await kind.withCatalog { catalog in
      try await catalog.insert(record)
      record.metadata = ["note": "present"]
      record.identifiers = ["new"]
      try await catalog.insert(record)
      for (text, count) in [("former", 0), ("old", 0), ("present new", 1)] {
        var query = CatalogQuery()
        query.text = text
        #expect(try await catalog.page(query, PageRequest()).records.count == count)
      }
      try await catalog.remove(record.id)
      var query = CatalogQuery()
      query.text = "new"
      #expect(try await catalog.total(query) == CatalogTotal(count: 0))
      #expect(try await catalog.total(CatalogQuery()) == CatalogTotal(count: 0))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a page of large records ends early`(kind: CatalogKind) async throws {
    let note = String(repeating: "\u{1}", count: 100 << 10)
    let records = try (0..<20).map { try record(at: Double($0)) { $0.metadata = ["note": note] } }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      var seen: [SnapshotRecord] = []
      var request = PageRequest(limit: PageRequest.maximumLimit)
      repeat {
        let page = try await catalog.page(CatalogQuery(), request)
        #expect(try SnapshotJSON.encode(page.records).count <= PageRequest.maximumBytes)
        #expect(page.records.count == 6 || page.next == nil)
        seen += page.records
        request.cursor = page.next
      } while request.cursor != nil
      #expect(seen == records.reversed().map(\.listed))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a record that is larger than a page is a page`(kind: CatalogKind) async throws {
    let note = String(repeating: "\u{1}", count: 1 << 20)
    let records = try (0..<2).map { try record(at: Double($0)) { $0.metadata = ["note": note] } }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      let page = try await catalog.page(CatalogQuery(), PageRequest())
      #expect(page.records == [records[1]])
      #expect(page.next == Cursor(after: records[1]))
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `ids are given part by part`(kind: CatalogKind) async throws {
    let records = try (0..<100).map { _ in try record() }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      var ids: [SnapshotID] = []
      for shard in SnapshotShard.allCases {
        let part = try await catalog.ids(in: shard)
        #expect(part.allSatisfy { $0.description.hasPrefix(shard.digits) })
        ids += part
      }
      #expect(ids.sorted() == records.map(\.id).sorted())
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `starting anew forgets everything, removals too`(kind: CatalogKind) async throws {
    let (kept, removed) = try (record(), record())
    try await kind.withCatalog { catalog in
      try await catalog.insert([kept, removed])
      try await catalog.remove(removed.id)
      let former = try await catalog.state()
      try await catalog.clear()
      let state = try await catalog.state()
      #expect(state.extent == .nothing)
      #expect(state.generation != former.generation)
      try await catalog.complete(generation: former.generation)
      #expect(try await catalog.state().extent == .nothing)
      try await catalog.insert(removed)
      try await catalog.complete(generation: state.generation)
      #expect(try await catalog.state().extent == .everything)
      #expect(try await catalog.page(CatalogQuery(), PageRequest()).records == [removed.listed])
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a record is found by the UUID of its manifest, and by its own beside it`(kind: CatalogKind)
    async throws
  {
    let other = SnapshotID()
    let records = try [record(at: 1), record(at: 2) { $0.manifestID = other }]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for id in [other, records[1].id] {
        #expect(try await found({ $0.text = "\(id)" }, in: catalog, records) == "b")
        #expect(try await found({ $0.text = "\(id)".uppercased() }, in: catalog, records) == "b")
      }
      #expect(try await found({ $0.text = "\(SnapshotID())" }, in: catalog, records) == "")
      #expect(
        try await catalog.page(CatalogQuery(), PageRequest(limit: 2)).records.map(\.manifestID) == [
          other, nil,
        ])
      var changed = records[1]
      changed.manifestID = nil
      try await catalog.insert(changed)
      #expect(try await found({ $0.text = "\(other)" }, in: catalog, records) == "")
    }
  }
}
