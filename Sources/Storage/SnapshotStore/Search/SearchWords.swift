import Foundation

/// The words of a text, as every catalogue takes them: runs of letters and digits, without regard to capitals and
/// accents, each no longer than ``SearchLimits/wordBytes``.
package struct SearchWords {
  /// The words, each once, in the order in which they come first.
  package let words: [String]

  /// Reads no further than `limit` different words.
  package init(_ text: String, limit: Int) {
    var terms = TermList()
    var words = WordCount(limit: limit)
    terms.insertWords(of: text, &words)
    self.words = terms.terms
  }
}

/// How many words there are, and how many there may be.
struct WordCount {
  let limit: Int
  var count = 0
}

extension TermList {
  /// Inserts the words of `text` as long as there are no more than `words` allows.
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
          // Nothing that follows may fill the gap.
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

  /// Answers whether there may be more.
  private mutating func endWord(_ words: inout WordCount) -> Bool {
    while takeBack(0) {}
    if endTerm() { words.count += 1 }
    return words.count < words.limit
  }
}
