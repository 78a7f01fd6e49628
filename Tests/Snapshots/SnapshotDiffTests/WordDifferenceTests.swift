import SnapshotDiff
import Testing

@Suite struct WordDifferenceTests {
  /// The segments of a text; changed ones in brackets.
  private func marked(_ segments: [WordDifference.Segment]) -> String {
    segments.map { $0.isChanged ? "[\($0.text)]" : $0.text }.joined()
  }

  @Test(
    arguments: [
      ("the old house", "the new house", "the [old] house", "the [new] house"),
      ("a b", "a b c", "a b", "a b[ c]"),
      ("2026-11-23T08:00", "2026-11-24T08:00", "2026-11-[23T08]:00", "2026-11-[24T08]:00"),
      ("one two three", "one 2 3 three", "one [two] three", "one [2 3] three"),
      ("left", "right", "[left]", "[right]"),
      ("a-b", "c-d", "[a-b]", "[c-d]"),
      ("same", "same", "same", "same"),
      ("", "new", "", "[new]"),
      ("日本語です", "日本語でも", "[日本語です]", "[日本語でも]"),
      ("e\u{301}t\u{e9} x", "e\u{301}te x", "[e\u{301}t\u{e9}] x", "[e\u{301}te] x"),
    ])
  func `the words that differ are marked`(first: String, second: String, marked1: String, marked2: String) {
    let difference = WordDifference(first, second)
    #expect(marked(difference.first) == marked1)
    #expect(marked(difference.second) == marked2)
  }

  @Test func `the segments of a text are the whole text`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<500 {
      func text() -> String {
        (0..<Int.random(in: 0...12, using: &random)).map { _ in
          ["a", "bc", " ", "-", "é", "\u{301}", "😀", "\""].randomElement(using: &random) ?? ""
        }.joined()
      }
      let (first, second) = (text(), text())
      let difference = WordDifference(first, second)
      #expect(difference.first.map(\.text).joined() == first)
      #expect(difference.second.map(\.text).joined() == second)
      #expect(
        difference.first.filter { !$0.isChanged }.map(\.text).joined()
          == difference.second.filter { !$0.isChanged }.map(\.text).joined())
    }
  }
}
