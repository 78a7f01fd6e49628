/// The verdicts about the last names of a text, because most names are repeated. It compares them where they are in the
/// text.
struct RecentVerdicts {
  /// The number of verdicts, a power of two. Each has one place.
  private static let size = 64

  private var places: [(name: Range<Int>, verdict: Judge.Verdict)] = []

  /// Returns the verdict about the name at `range`; if it is not known, that of `judge`.
  mutating func verdict(_ text: [UInt8], _ range: Range<Int>, _ judge: () -> Judge.Verdict) -> Judge.Verdict {
    guard !range.isEmpty else { return judge() }
    if places.isEmpty { places = Array(repeating: (0..<0, Judge.Verdict()), count: Self.size) }
    // A hash that takes less time than the comparison.
    let hash = Int(text[range.lowerBound]) &* 5 ^ Int(text[range.upperBound - 1]) &* 3 ^ range.count
    let place = hash & (Self.size - 1)
    if Self.areEqual(text, places[place].name, range) { return places[place].verdict }
    let verdict = judge()
    places[place] = (range, verdict)
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
