/// A number of words and its limit.
struct WordCount {
  let limit: Int
  var count = 0
}

extension TermList {
  /// Inserts the words of `text` until the limit of `words` is reached. The words of a text without spaces are unknown,
  /// so each of its characters and each pair of neighbours is inserted.
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
    FoldedText.forEachPiece(of: text) { piece in
      switch piece {
      case .word(let word): append(word)
      case .character(let character, let previous):
        if let previous {
          append(previous)
          append(character)
          guard endWord(&words) else { return false }
        }
        append(character)
      }
      return endWord(&words)
    }
  }

  private mutating func appendLetter(_ byte: UInt8) {
    if pendingCount < SearchLimits.wordBytes { append(byte) }
  }

  /// Ends the current word.
  /// - Returns: whether more words can be inserted.
  private mutating func endWord(_ words: inout WordCount) -> Bool {
    if endTerm() { words.count += 1 }
    return words.count < words.limit
  }
}
