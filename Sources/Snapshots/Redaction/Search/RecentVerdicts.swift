/// The verdicts about the names in a text, because most names are repeated. It compares names where they are in the text,
/// and forgets some if there are many.
struct RecentVerdicts {
  /// The number of verdicts, a power of two.
  private static let size = 64
  /// The number of places that a name can have.
  private static let attempts = 4

  private var known: [(name: Range<Int>, verdict: Judge.Verdict)] = []

  /// Returns the verdict about the name at `range`; if it is not known, that of `judge`.
  mutating func verdict(_ text: [UInt8], _ range: Range<Int>, _ judge: () -> Judge.Verdict) -> Judge.Verdict {
    guard !range.isEmpty else { return judge() }
    if known.isEmpty { known = Array(repeating: (0..<0, Judge.Verdict()), count: Self.size) }
    // A hash that takes less time than the comparison.
    let hash = Int(text[range.lowerBound]) &* 5 ^ Int(text[range.upperBound - 1]) &* 3 ^ range.count
    var place = hash & (Self.size - 1)
    for attempt in 0..<Self.attempts {
      place = (hash + attempt) & (Self.size - 1)
      if known[place].name.isEmpty { break }
      if Self.areEqual(text, known[place].name, range) { return known[place].verdict }
    }
    let verdict = judge()
    known[place] = (range, verdict)
    return verdict
  }

  private static func areEqual(_ text: [UInt8], _ first: Range<Int>, _ second: Range<Int>) -> Bool {
    guard first.count == second.count else { return false }
    for offset in 0..<first.count where text[first.lowerBound + offset] != text[second.lowerBound + offset] {
      return false
    }
    return true
  }
}
