import SnapshotDiff
import Testing

@Suite struct JSONComparisonTests {
  private func lines(
    _ first: String, _ second: String, limits: ComparisonLimits = .default, ignoring rules: [String] = []
  ) throws -> [String] {
    let detail = RecordingDifference.Detail(
      Array(first.utf8), Array(second.utf8), limits: limits, limit: limits.changes,
      filter: try ComparisonFilter(rules: rules))
    guard case .json(let changes) = detail else { return ["\(detail)"] }
    let lines = changes.rows.map { change in
      switch change.kind {
      case .added: "+ \(change.place) \(change.second ?? "")"
      case .removed: "- \(change.place) \(change.first ?? "")"
      case .changed: "~ \(change.place) \(change.first ?? "") \(change.second ?? "")"
      }
    }
    return lines + (changes.isComplete ? [] : ["\(changes.count - changes.rows.count) more"])
  }

  @Test(
    arguments: [
      ("1", "2", ["~ . 1 2"]),
      ("{\"a\":1}", "{\"a\":2}", ["~ .a 1 2"]),
      ("{\"a\":1,\"b\":1}", "{\"c\":1,\"b\":1}", ["- .a 1", "+ .c 1"]),
      ("{\"a\":{\"b\":[1,{\"c\":null}]}}", "{\"a\":{\"b\":[1,{\"c\":0}]}}", ["~ .a.b[1].c null 0"]),
      ("[1,2,3]", "[0,1,2,3]", ["+ .[0] 0"]),
      ("[1,2,3]", "[1,3]", ["- .[1] 2"]),
      ("[1,2,3]", "[1,9,3]", ["~ .[1] 2 9"]),
      ("[]", "{}", ["~ . [] {}"]),
      (
        "{\"a b\":1,\"1\":2,\"\\\"\":3,\"\":4}", "{}",
        ["- .[\"a b\"] 1", "- .[\"1\"] 2", "- .[\"\\\"\"] 3", "- .[\"\"] 4"]
      ),
      ("{\"\\n\":{\"x\":1}}", "{\"\\n\":{\"x\":2}}", ["~ .[\"\\u000a\"].x 1 2"]),
      ("{ \"a\" : [ 1 , \"x  y\" ] }", "{}", ["- .a [1,\"x  y\"]"]),
      ("{\"a\":1.0}", "{\"a\":1}", []),
      ("\"a\"", "1", ["~ . \"a\" 1"]),
    ] as [(String, String, [String])])
  func `each change is reported with its path`(first: String, second: String, expected: [String]) throws {
    #expect(try lines(first, second) == expected)
  }

  @Test func `elements with an identifier are compared with the element of the same identifier`() throws {
    let first = "[{\"id\":1,\"t\":\"a\"},{\"id\":2,\"t\":\"b\"},{\"id\":3,\"t\":\"c\"}]"
    let second = "[{\"id\":9,\"t\":\"n\"},{\"t\":\"A\",\"id\":1},{\"id\":3,\"t\":\"c\"}]"
    #expect(
      try lines(first, second) == [
        "+ .[0] {\"id\":9,\"t\":\"n\"}", "~ .[1].t \"a\" \"A\"", "- .[1] {\"id\":2,\"t\":\"b\"}",
      ])
  }

  @Test func `elements without an identifier are compared one by one between equal ones`() throws {
    #expect(
      try lines("[{\"a\":1},5,{\"a\":2}]", "[{\"a\":3},5,{\"a\":4},6]")
        == ["~ .[0].a 1 3", "~ .[2].a 2 4", "+ .[3] 6"])
  }

  @Test func `long strings are shown around their difference, in whole characters`() throws {
    let lead = String(repeating: "é", count: 1000)
    let changes = try lines("\"\(lead)one\"", "\"\(lead)two\"")
    #expect(changes.count == 1)
    #expect(changes.first?.contains("éone\"") == true)
    #expect(changes.first?.contains("étwo\"") == true)
    #expect(changes.first?.contains("\u{FFFD}") == false)
    #expect((changes.first?.utf8.count ?? 0) < 400)
    for cut in 10...20 {
      var limits = ComparisonLimits()
      limits.excerptLength = cut
      let shown = try lines("\"☃😀é\(lead)\"", "1", limits: limits)
      #expect(shown.first?.contains("\u{FFFD}") == false)
      #expect(shown.first?.contains("…") == true)
    }
  }

  @Test func `the number of reported changes is limited, and all are counted`() throws {
    var limits = ComparisonLimits()
    limits.changes = 3
    func list(_ count: Int, _ value: Int) -> String {
      "{" + (0..<count).map { "\"\($0)\":\(value)" }.joined(separator: ",") + "}"
    }
    #expect(try lines(list(3, 1), list(3, 2), limits: limits).count == 3)
    #expect(try lines(list(4, 1), list(4, 2), limits: limits).last == "1 more")
    #expect(try lines("{}", list(4, 2), limits: limits).count == 4)
    #expect(try lines(list(4, 1), "{}", limits: limits).count == 4)
  }

  @Test(arguments: [0, 1, Int.max])
  func `an excerpt can have any length, including zero`(length: Int) throws {
    var limits = ComparisonLimits()
    limits.excerptLength = length
    #expect(try lines("\"one\"", "\"two\"", limits: limits).count == 1)
    let texts = RecordingDifference.Detail(
      Array("one".utf8), Array("two".utf8), limits: limits, limit: limits.changes)
    let isCut = length < 3
    let expected = [Change(place: 1, first: isCut ? "…" : "one", second: isCut ? "…" : "two")]
    #expect(texts == .text(Changes(expected)))
  }

  @Test func `large documents are compared quickly`() throws {
    func document(_ change: (Int) -> String) -> String {
      "{\"items\":[" + (0..<50_000).map(change).joined(separator: ",") + "]}"
    }
    let first = document { "{\"id\":\($0),\"title\":\"item \($0)\",\"tags\":[\($0 % 7),\($0 % 11)]}" }
    let second = document {
      $0 == 30_000
        ? "{\"id\":30000,\"title\":\"other\",\"tags\":[]}"
        : "{\"tags\":[\($0 % 7),\($0 % 11)],\"title\":\"item \($0)\",\"id\":\($0)}"
    }
    #expect(try lines(first, second).count == 3)
    let reversed = document { "{\"id\":\(49_999 - $0)}" }
    #expect(try lines(first, reversed).last?.hasSuffix(" more") == true)
  }

  // MARK: - Strings

  @Test func `escapes are decoded, except those of invisible characters`() throws {
    #expect(
      try lines(#"{"a":"\u30ab\n"}"#, #"{"a":"\u30ad\n"}"#) == [#"~ .a "カ\u000a" "キ\u000a""#])
    #expect(try lines(#"{"a":"\u30ab"}"#, "{}") == [#"- .a "カ""#])
    // An unpaired surrogate is shown as written.
    #expect(try lines(#"["\ud800"]"#, #"["\ud801"]"#) == [#"~ .[0] "\ud800" "\ud801""#])
  }

  // MARK: - Pages

  @Test func `every change is on exactly one page`() throws {
    let first = "[" + (0..<25).map { "\($0)" }.joined(separator: ",") + "]"
    let second = "[" + (0..<25).map { "\($0 + 100)" }.joined(separator: ",") + "]"
    var pages: [String] = []
    var limits = ComparisonLimits()
    limits.changes = 10
    for start in [0, 10, 20, 30] {
      limits.skippedChanges = start
      let page = try lines(first, second, limits: limits).filter { $0.hasPrefix("~") }
      #expect(page.count == max(0, min(10, 25 - start)))
      pages += page
    }
    #expect(try pages == lines(first, second))
  }

  // MARK: - JSON Lines

  @Test func `several values in a row are compared as an array of them`() throws {
    #expect(
      try lines("{\"id\":1}\n{\"id\":2,\"a\":1}\n", "{\"id\":2,\"a\":2}\n{\"id\":3}") == [
        "- .[0] {\"id\":1}", "~ .[0].a 1 2", "+ .[1] {\"id\":3}",
      ])
    #expect(try lines("{\"a\":1}", "{\"a\":1}\n{\"a\":2}") == ["+ .[1] {\"a\":2}"])
    #expect(try lines("1 2", "1 3").first?.hasPrefix("text") == true)
  }

  // MARK: - Filters

  @Test(
    arguments: [
      ([], [".list[0].token", ".list[0].updatedAt", ".a"]), (["updated_at"], [".list[0].token", ".a"]),
      (["UPDATEDAT", "a"], [".list[0].token"]), (["$.list[*].token", "updatedAt"], [".a"]),
      (["**.token", "a"], [".list[0].updatedAt"]), (["list"], [".a"]),
      (["$.list[1].token", "a"], [".list[0].token", ".list[0].updatedAt"]),
    ] as [([String], [String])])
  func `values that a rule matches are not compared`(rules: [String], expected: [String]) throws {
    let first = #"{"list":[{"token":"x","updatedAt":1}],"a":1}"#
    let second = #"{"list":[{"token":"y","updatedAt":2}],"a":2}"#
    let found = try lines(first, second, ignoring: rules).map { String($0.split(separator: " ")[1]) }
    #expect(found == expected)
  }

  @Test func `an omitted value makes no difference, whether it is there or not`() throws {
    #expect(try lines(#"{"a":1,"t":1}"#, #"{"a":1}"#, ignoring: ["t"]) == ["omitted"])
    #expect(try lines(#"{"a":1}"#, #"{"t":{"x":1},"a":1}"#, ignoring: ["t"]) == ["omitted"])
    #expect(try lines(#"[{"a":1,"t":1},{"a":2}]"#, #"[{"a":2,"t":5},{"a":1}]"#, ignoring: ["t"]).count == 2)
    #expect(try lines(#"[{"id":1,"v":1}]"#, #"[{"id":2,"v":1}]"#, ignoring: ["id"]) == ["omitted"])
    #expect(try lines(#"{"a": 1}"#, #"{"a":1}"#, ignoring: ["t"]) == [])
  }

  @Test func `rules are limited in number and length`() throws {
    let most = (0..<ComparisonFilter.Limits.rules).map { "key\($0)" }
    #expect(try ComparisonFilter(rules: most + most).rules == most)
    #expect(throws: ComparisonFilter.MalformedRule.self) { try ComparisonFilter(rules: most + ["more"]) }
    let longest = String(repeating: "k", count: ComparisonFilter.Limits.ruleLength)
    #expect(try ComparisonFilter(" \(longest) ,\n\n").rules == [longest])
    #expect(throws: ComparisonFilter.MalformedRule.self) { try ComparisonFilter(longest + "k") }
    #expect(throws: ComparisonFilter.MalformedRule.self) { try ComparisonFilter("a..b") }
    #expect(throws: ComparisonFilter.MalformedRule.self) { try ComparisonFilter("$") }
  }
}
