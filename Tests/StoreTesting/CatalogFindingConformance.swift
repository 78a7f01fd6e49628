import Foundation
import SnapshotFormat
import SnapshotStore
import Testing

/// What the text of a search finds, tested for every ``Catalog``.
@Suite struct CatalogFindingConformance {
  private func id(_ text: String) throws -> SnapshotID { try #require(SnapshotID(text)) }

  private func finds(
    _ letters: String, _ text: String, in catalog: any Catalog, _ records: [SnapshotRecord],
    _ change: (inout CatalogQuery) -> Void = { _ in }
  ) async throws {
    let found = try await found(
      {
        $0.text = text
        change(&$0)
      }, in: catalog, records)
    #expect(found == letters, "\(text)")
  }

  @Test(arguments: CatalogKind.allCases)
  func `a value is found in composed and in decomposed form`(kind: CatalogKind) async throws {
    let (composed, decomposed) = ("Übersicht/größe", "U\u{308}bersicht/gro\u{308}ße")
    let mixed = "Übersicht/gro\u{308}ße"
    let long = String(repeating: "é", count: 60)
    let values = [composed, decomposed, mixed, "Ubersicht/große"]
    let records = try values.enumerated().map { index, value in
      try record(at: Double(100 - index)) {
        $0.identifiers = [value, index == 1 ? long.decomposedStringWithCanonicalMapping : "x"]
        $0.modules = [.init(name: value, files: [])]
        $0.application.identifier = value
        $0.device = .init(model: value + ",1", system: value, systemVersion: "26.1", locale: "C")
      }
    }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for value in [composed, decomposed, mixed] {
        let changes: [@Sendable (inout CatalogQuery) -> Void] = [
          { $0.identifier = value }, { $0.module = value }, { $0.application = value }, { $0.device = value },
          { $0.device = value + ",1" }, { $0.device = value + " 26" },
          { $0.scope = .init(applications: [value]) },
        ]
        for change in changes {
          let letters = try await found(change, in: catalog, records)
          #expect(letters == "abc", "\(Array(value.unicodeScalars))")
        }
      }
      let letters = try await found({ $0.identifier = long }, in: catalog, records)
      #expect(letters == "b")
      let others = try await found({ $0.identifier = "Ubersicht/große" }, in: catalog, records)
      #expect(others == "d")
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `the beginning of a word finds it, from two letters on`(kind: CatalogKind) async throws {
    let records = try [
      record(at: 1, report: "BUG-123") { $0.metadata = ["note": "The balance, a ÄRGERNIS"] },
      record(at: 2, report: "WEB-12") { $0.metadata = ["reporter": "Bali 7 77"] },
      record(at: 3, report: "BUG-9", identifiers: ["account/ball"]) {
        $0.device.model = "iPhone14,5"
        $0.modules = [Module(name: "Balcony", files: [])]
      },
    ]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for (letters, text) in [
        ("a", "balan"), ("a", "BALANCE"), ("", "balances"), ("", "alance"), ("cba", "ba"), ("cba", "bal"),
        ("c", "balc"), ("c", "ball bal"), ("", "ball bali"), ("", "b"), ("a", "a"), ("b", "7"), ("b", "77"),
        ("a", "arg"), ("a", "är"), ("a", "bal arger"), ("", "bal xyz"),
        ("a", "BUG-12"), ("a", "bug-123"), ("ca", "BUG-"), ("b", "WEB-1 "), ("", "BUG-124"),
        ("c", "iPhone14"), ("c", "iphone14,5"), ("", "iphone14,6"), ("c", "account/ba"),
      ] {
        try await finds(letters, text, in: catalog, records)
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `the beginning of either UUID finds a snapshot, from four digits on`(kind: CatalogKind) async throws {
    let own = try id("1f0c3a5b-7d9e-4a11-8b22-0123456789ab")
    let other = try id("e7d0beef-0000-4000-8000-000000000001")
    let records = try [
      record(at: 1, id: own) { $0.manifestID = other },
      record(at: 2, id: id("1f0c3a5b-7d9f-4a11-8b22-0123456789ab")) { $0.metadata = ["note": "saw e7d0be"] },
      record(at: 3, id: id("2f0c3a5b-7d9e-4a11-8b22-0123456789ab")) {
        $0.metadata = ["note": "1f0 is short"]
      },
    ]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for (letters, text) in [
        // Three digits are a word only.
        ("c", "1f0"), ("ba", "1f0c"), ("ba", "1F0C3"), ("ba", "1f0c3a5b"), ("ba", "1f0c3a5b-"),
        ("ba", "1f0c3a5b-7d9"), ("a", "1f0c3a5b-7d9e"), ("a", "1f0c3a5b7d9e"), ("a", "\(own)"),
        ("a", "\(own)".uppercased()), ("a", "\(own)".replacing("-", with: "")), ("", "0c3a"),
        ("", "\(own)0"), ("", "1f0c-3a5b"), ("", "7d9e"), ("", "8b22"),
        ("b", "e7d"), ("a", "e7d0beef"), ("ba", "e7d0be"), ("a", "\(other)"),
        ("b", "saw 1f0c3a5b"), ("", "saw \(own)"), ("ba", "1f0c3a5b e7d0"),
      ] {
        try await finds(letters, text, in: catalog, records)
      }
      var changed = records[0]
      changed.manifestID = nil
      try await catalog.insert(changed)
      try await finds("b", "e7d0", in: catalog, records)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `text without spaces is found by any two neighbouring characters`(kind: CatalogKind) async throws {
    let records = try [
      record(at: 1) { $0.metadata = ["note": "返金後に残高がマイナスになった"] },
      record(at: 2) { $0.metadata = ["note": "退款后余额变成负数，iPhone14崩溃"] },
      record(at: 3, identifiers: ["계좌/잔액"]) { $0.metadata = ["note": "환불 후 잔액이 음수가 되었습니다"] },
      // The same syllables as single letters, and half-width katakana.
      record(at: 4) { $0.metadata = ["note": "잔액".decomposedStringWithCanonicalMapping + " ﾏｲﾅｽ"] },
    ]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for (letters, text) in [
        ("a", "残高"), ("a", "に残高が"), ("a", "高"), ("", "残金"), ("da", "マイナス"), ("da", "イナ"), ("d", "ﾏｲ 잔"),
        ("b", "余额"), ("b", "额变成负"), ("b", "iPhone14崩溃"), ("b", "iph 崩溃"), ("", "负崩"), ("b", "负数，iPhone"),
        ("dc", "잔액"), ("c", "액이"), ("c", "습니"), ("dc", "잔액".decomposedStringWithCanonicalMapping),
        ("dc", "액"), ("", "애"),
      ] {
        try await finds(letters, text, in: catalog, records)
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `whatever finds a record, it is found in the caller's scope only`(kind: CatalogKind) async throws {
    let records = try [
      record(at: 1, report: "BUG-12", id: id("abcd0000-0000-4000-8000-000000000001")) {
        $0.metadata = ["note": "balance 残高"]
      },
      record(at: 2, report: "WEB-12", id: id("abcd0000-0000-4000-8000-000000000002")) {
        $0.metadata = ["note": "balance 残高"]
        $0.application.identifier = "com.example.shop"
      },
    ]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      for text in [
        "bal", "ba", "balance", "abcd", "abcd0000", "残高", "高", "12", "iPhone17", "example 12 abcd",
      ] {
        try await finds("ba", text, in: catalog, records)
        try await finds("a", text, in: catalog, records) { $0.scope = .init(reportPrefixes: ["BUG-"]) }
        try await finds("a", text, in: catalog, records) { $0.scope = .init(reportPrefixes: ["BUG-1"]) }
        try await finds("b", text, in: catalog, records) {
          $0.scope = .init(applications: ["com.example.shop"])
        }
        try await finds("", text, in: catalog, records) { $0.scope = .init(reportPrefixes: []) }
        try await finds("", text, in: catalog, records) {
          $0.scope = .init(reportPrefixes: ["BUG-"], applications: ["com.example.shop"])
        }
      }
      try await finds("", "\(records[1].id)", in: catalog, records) {
        $0.scope = .init(reportPrefixes: ["BUG-"])
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `a beginning finds everything, however many words begin with it`(kind: CatalogKind) async throws {
    // Fewer words than the catalogue looks up one by one, as many, and more.
    for count in [499, 500, 501, 700] {
      let records = try (0..<count).map { index in
        try record(at: Double(index)) { $0.metadata = ["note": "word\(1000 + index) wordless"] }
      }
      try await kind.withCatalog { catalog in
        try await catalog.insert(records)
        for (text, found) in [("word1", count), ("word", count), ("wo", count), ("word10", min(count, 100))] {
          var query = CatalogQuery()
          query.text = text
          #expect(try await catalog.total(query) == CatalogTotal(count: found))
          let page = try await catalog.page(query, PageRequest(limit: 3))
          #expect(page.records.map(\.id) == records.prefix(found).suffix(3).reversed().map(\.id))
          let next = try await catalog.page(query, PageRequest(limit: 3, cursor: page.next))
          #expect(next.records.map(\.id) == records.prefix(found).dropLast(3).suffix(3).reversed().map(\.id))
        }
      }
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `only the first words of a search count`(kind: CatalogKind) async throws {
    let limit = SearchLimits.queryWords
    let records = try [
      record(at: 1) { $0.metadata = ["note": (1..<limit).map { "word\($0)" }.joined(separator: " ")] }
    ]
    let words = { (count: Int) in (1...count).map { "word\($0)" }.joined(separator: " ") }
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      try await finds("a", words(limit - 1), in: catalog, records)
      try await finds("", words(limit), in: catalog, records)
      try await finds("a", words(limit - 1) + " word2 other", in: catalog, records)
    }
  }

  @Test(arguments: CatalogKind.allCases)
  func `the words of the longest note are found, in any script`(kind: CatalogKind) async throws {
    let characters = (0..<10_900).compactMap { Unicode.Scalar(0x4E00 + $0).map(Character.init) }
    let note = String(characters)
    let records = try [record(at: 1) { $0.metadata = ["note": note + " end"] }]
    try await kind.withCatalog { catalog in
      try await catalog.insert(records)
      try await finds("a", String(characters[7000...7005]), in: catalog, records)
    }
  }
}
