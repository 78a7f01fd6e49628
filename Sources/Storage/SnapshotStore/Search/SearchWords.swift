import Foundation

/// The words of a text: runs of letters and digits, without case and accents, each at most ``SearchLimits/wordBytes``
/// long. Every catalogue uses the same words.
package struct SearchWords {
  /// The distinct words, in the order of their first occurrence.
  package let words: [String]

  /// Reads `text` until `limit` distinct words are found.
  package init(_ text: String, limit: Int) {
    var terms = TermList()
    var words = WordCount(limit: limit)
    terms.insertWords(of: text, &words)
    self.words = terms.terms
  }
}

/// A number of words and its limit.
struct WordCount {
  let limit: Int
  var count = 0
}

extension TermList {
  /// Inserts the words of `text` until the limit of `words` is reached.
  mutating func insertWords(of text: String, _ words: inout WordCount) {
    guard words.count < words.limit else { return }
    if text.utf8.allSatisfy({ $0 < 0x80 }) { insertASCII(text, &words) } else { insertUnicode(text, &words) }
  }

  private mutating func insertASCII(_ text: String, _ words: inout WordCount) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): appendLetter(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): appendLetter(byte | 0x20)
      default: if !endWord(&words) { return }
      }
    }
    _ = endWord(&words)
  }

  private mutating func insertUnicode(_ text: String, _ words: inout WordCount) {
    for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
      let properties = scalar.properties
      if properties.generalCategory == .nonspacingMark { continue }
      if properties.isAlphabetic || properties.numericType != nil {
        let letters = properties.lowercaseMapping.unicodeScalars
          .filter { $0.properties.generalCategory != .nonspacingMark }
        let bytes = letters.flatMap { Array(UTF8.encode($0) ?? .init()) }
        if pendingCount + bytes.count <= SearchLimits.wordBytes {
          append(bytes)
        } else {
          // Fills the word up, so that no later letter is appended to the shortened word.
          append(repeatElement(0, count: SearchLimits.wordBytes - pendingCount))
        }
      } else if !endWord(&words) {
        return
      }
    }
    _ = endWord(&words)
  }

  private mutating func appendLetter(_ byte: UInt8) {
    if pendingCount < SearchLimits.wordBytes { append(byte) }
  }

  /// Ends the current word.
  /// - Returns: whether more words can be inserted.
  private mutating func endWord(_ words: inout WordCount) -> Bool {
    while takeBack(0) {}
    if endTerm() { words.count += 1 }
    return words.count < words.limit
  }
}
