import Testing

@testable import SnapshotDiff

@Suite struct JSONComparisonTests {
  private func lines(_ first: String, _ second: String, limits: ComparisonLimits = .default) -> [String] {
    let detail = RecordingDifference.Detail(
      Array(first.utf8), Array(second.utf8), limits: limits, limit: limits.changes)
    guard case .json(let changes, let isComplete) = detail else { return ["\(detail)"] }
    let lines = changes.map { change in
      switch change.kind {
      case .added: "+ \(change.place) \(change.second ?? "")"
      case .removed: "- \(change.place) \(change.first ?? "")"
      case .changed: "~ \(change.place) \(change.first ?? "") \(change.second ?? "")"
      }
    }
    return lines + (isComplete ? [] : ["…"])
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
  func `each change is reported with its path`(first: String, second: String, expected: [String]) {
    #expect(lines(first, second) == expected)
  }

  @Test func `elements with an identifier are compared with the element of the same identifier`() {
    let first = "[{\"id\":1,\"t\":\"a\"},{\"id\":2,\"t\":\"b\"},{\"id\":3,\"t\":\"c\"}]"
    let second = "[{\"id\":9,\"t\":\"n\"},{\"t\":\"A\",\"id\":1},{\"id\":3,\"t\":\"c\"}]"
    #expect(
      lines(first, second) == [
        "+ .[0] {\"id\":9,\"t\":\"n\"}", "~ .[1].t \"a\" \"A\"", "- .[1] {\"id\":2,\"t\":\"b\"}",
      ])
  }

  @Test func `elements without an identifier are compared one by one between equal ones`() {
    #expect(
      lines("[{\"a\":1},5,{\"a\":2}]", "[{\"a\":3},5,{\"a\":4},6]")
        == ["~ .[0].a 1 3", "~ .[2].a 2 4", "+ .[3] 6"])
  }

  @Test func `long strings are shown around their difference, in whole characters`() {
    let lead = String(repeating: "é", count: 1000)
    let changes = lines("\"\(lead)one\"", "\"\(lead)two\"")
    #expect(changes.count == 1)
    #expect(changes.first?.contains("éone\"") == true)
    #expect(changes.first?.contains("étwo\"") == true)
    #expect(changes.first?.contains("\u{FFFD}") == false)
    #expect((changes.first?.utf8.count ?? 0) < 400)
    for cut in 10...20 {
      var limits = ComparisonLimits()
      limits.excerptLength = cut
      let shown = lines("\"☃😀é\(lead)\"", "1", limits: limits)
      #expect(shown.first?.contains("\u{FFFD}") == false)
      #expect(shown.first?.contains("…") == true)
    }
  }

  @Test func `the number of changes is limited, and the result is marked as incomplete`() {
    var limits = ComparisonLimits()
    limits.changes = 3
    func list(_ count: Int, _ value: Int) -> String {
      "{" + (0..<count).map { "\"\($0)\":\(value)" }.joined(separator: ",") + "}"
    }
    #expect(lines(list(3, 1), list(3, 2), limits: limits).count == 3)
    #expect(lines(list(4, 1), list(4, 2), limits: limits).last == "…")
    #expect(lines("{}", list(4, 2), limits: limits).count == 4)
    #expect(lines(list(4, 1), "{}", limits: limits).count == 4)
  }

  @Test(arguments: [0, 1, Int.max])
  func `an excerpt can have any length, including zero`(length: Int) {
    var limits = ComparisonLimits()
    limits.excerptLength = length
    #expect(lines("\"one\"", "\"two\"", limits: limits).count == 1)
    let texts = RecordingDifference.Detail(
      Array("one".utf8), Array("two".utf8), limits: limits, limit: limits.changes)
    let isCut = length < 3
    let expected = [Change(place: 1, first: isCut ? "…" : "one", second: isCut ? "…" : "two")]
    #expect(texts == .text(expected, isComplete: true))
  }

  @Test func `large documents are compared quickly`() {
    func document(_ change: (Int) -> String) -> String {
      "{\"items\":[" + (0..<50_000).map(change).joined(separator: ",") + "]}"
    }
    let first = document { "{\"id\":\($0),\"title\":\"item \($0)\",\"tags\":[\($0 % 7),\($0 % 11)]}" }
    let second = document {
      $0 == 30_000
        ? "{\"id\":30000,\"title\":\"other\",\"tags\":[]}"
        : "{\"tags\":[\($0 % 7),\($0 % 11)],\"title\":\"item \($0)\",\"id\":\($0)}"
    }
    #expect(lines(first, second).count == 3)
    let reversed = document { "{\"id\":\(49_999 - $0)}" }
    #expect(lines(first, reversed).last == "…")
  }
}
