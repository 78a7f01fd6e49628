/// The text of a search: parts that are separated by spaces, and must all be found.
///
/// A part is found if a record has all of its words, or if it is the beginning of one of the record's UUIDs. A word
/// matches words that begin with it, if it has at least ``SearchLimits/prefixLetters`` letters. Text without spaces
/// between words (Chinese, Japanese, Korean) is found by its pairs of neighbouring characters.
struct SearchText {
  struct Part: Hashable {
    /// The words, as terms.
    var words: [SearchCondition.Term]
    /// The digits of the part, if it can be the beginning of a UUID.
    var uuid: String?

    /// The conditions that are equivalent to the part.
    var conditions: [SearchCondition] {
      guard let uuid else { return words.map { SearchCondition([[$0]]) } }
      return [SearchCondition([words, [.init(SearchTerm.of(.uuid, uuid), isPrefix: true)]])]
    }
  }

  /// The parts, with at most ``SearchLimits/queryWords`` words.
  private(set) var parts: [Part] = []

  init(_ text: String) {
    var count = 0
    for part in text.split(whereSeparator: \.isWhitespace) {
      let words = Self.words(of: String(part), limit: SearchLimits.queryWords - count)
      if !words.isEmpty { parts.append(Part(words: words, uuid: Self.uuidDigits(part))) }
      count += words.count
      guard count < SearchLimits.queryWords else { return }
    }
  }

  private static func words(of part: String, limit: Int) -> [SearchCondition.Term] {
    var words: [SearchCondition.Term] = []
    // A character without neighbours is searched for alone.
    var single: [UInt8]?
    func endRun() {
      if let character = single.take() { words.append(.init(String(decoding: character, as: UTF8.self))) }
    }
    FoldedText.forEachPiece(of: part) { piece in
      switch piece {
      case .word(let word):
        endRun()
        let text = String(decoding: word, as: UTF8.self)
        words.append(.init(text, isPrefix: text.unicodeScalars.count >= SearchLimits.prefixLetters))
      case .character(let character, after: nil):
        endRun()
        single = character
      case .character(let character, let previous?):
        single = nil
        words.append(.init(String(decoding: previous + character, as: UTF8.self)))
      }
      return words.count < limit
    }
    endRun()
    return Array(words.prefix(limit))
  }

  /// Returns the hexadecimal digits of `part`, in lower case, if a UUID can begin with it; hyphens are optional. Returns
  /// `nil` if it has fewer than ``SearchLimits/uuidDigits``.
  private static func uuidDigits(_ part: Substring) -> String? {
    let hyphens = [8, 13, 18, 23]
    let bytes = Array(part.utf8)
    let hasHyphens = bytes.contains(UInt8(ascii: "-"))
    guard bytes.count <= (hasHyphens ? 36 : 32) else { return nil }
    var digits: [UInt8] = []
    for (index, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
        UInt8(ascii: "A")...UInt8(ascii: "F"):
        guard !hasHyphens || !hyphens.contains(index) else { return nil }
        digits.append(byte | 0x20)
      case UInt8(ascii: "-"): guard hyphens.contains(index) else { return nil }
      default: return nil
      }
    }
    return digits.count >= SearchLimits.uuidDigits ? String(decoding: digits, as: UTF8.self) : nil
  }
}
