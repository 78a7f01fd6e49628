/// The words that differ in two texts.
///
/// A word is a run of letters and digits, or a single character of any other kind. The time is limited as in
/// a comparison of lines, so texts should have at most some thousand words.
public struct WordDifference: Sendable, Hashable {
  /// A part of a text.
  public struct Segment: Sendable, Hashable {
    /// The text, never empty.
    public private(set) var text: String
    /// Whether the other text does not have it at this place.
    public let isChanged: Bool

    /// Creates a segment.
    public init(_ text: String, isChanged: Bool) {
      self.text = text
      self.isChanged = isChanged
    }

    fileprivate mutating func append(_ more: some StringProtocol) { text += more }
  }

  /// The first text in segments.
  public let first: [Segment]
  /// The second text in segments.
  public let second: [Segment]

  /// Compares two texts.
  public init(_ first: String, _ second: String) {
    let (words, others) = (Self.words(of: first), Self.words(of: second))
    let alike = SequenceAlignment(words.map(\.hashValue), others.map(\.hashValue)).pairs
    let isSimilar = alike.contains { Self.isWord(words[$0.first]) }
    let common = isSimilar ? Self.closingGaps(alike, words) : []
    self.first = Self.segments(words, Set(common.map(\.first)))
    self.second = Self.segments(others, Set(common.map(\.second)))
  }

  /// Removes equal spaces and punctuation between changed words: they would only divide what changed.
  private static func closingGaps(
    _ pairs: [(first: Int, second: Int)], _ words: [Substring]
  ) -> [(first: Int, second: Int)] {
    var kept: [(first: Int, second: Int)] = []
    var index = pairs.startIndex
    while index < pairs.endIndex {
      var end = index + 1
      while end < pairs.endIndex, pairs[end] == (pairs[end - 1].first + 1, pairs[end - 1].second + 1) {
        end += 1
      }
      let run = pairs[index..<end]
      let isInside = index > pairs.startIndex && end < pairs.endIndex
      if !isInside || run.contains(where: { isWord(words[$0.first]) }) { kept += run }
      index = end
    }
    return kept
  }

  private static func isWord(_ word: Substring) -> Bool { word.first.map(isOfWord) ?? false }

  private static func isOfWord(_ character: Character) -> Bool { character.isLetter || character.isNumber }

  private static func words(of text: String) -> [Substring] {
    var words: [Substring] = []
    var rest = text[...]
    while let first = rest.first {
      let word = isOfWord(first) ? rest.prefix(while: isOfWord) : rest.prefix(1)
      words.append(word)
      rest = rest[word.endIndex...]
    }
    return words
  }

  private static func segments(_ words: [Substring], _ common: Set<Int>) -> [Segment] {
    var segments: [Segment] = []
    for (index, word) in words.enumerated() {
      let isChanged = !common.contains(index)
      if segments.last?.isChanged == isChanged {
        segments[segments.count - 1].append(word)
      } else {
        segments.append(Segment(String(word), isChanged: isChanged))
      }
    }
    return segments
  }
}
