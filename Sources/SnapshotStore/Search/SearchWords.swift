import Foundation

/// The words of a text, as every catalogue takes them: runs of letters and digits, without regard to capitals and
/// accents, each no longer than ``SearchLimits/wordBytes``.
package struct SearchWords {
  /// The words, in their order.
  package private(set) var words: [String] = []
  private let limit: Int
  private var word: [UInt8] = []

  /// Reads no further than `limit` words.
  package init(_ text: String, limit: Int = .max) {
    self.limit = limit
    if text.utf8.allSatisfy({ $0 < 0x80 }) { readASCII(text) } else { readUnicode(text) }
    endWord()
  }

  private mutating func readASCII(_ text: String) {
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"): append(byte)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"): append(byte | 0x20)
      default: endWord()
      }
      if words.count >= limit { return }
    }
  }

  private mutating func readUnicode(_ text: String) {
    for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
      let properties = scalar.properties
      if properties.generalCategory == .nonspacingMark { continue }
      if properties.isAlphabetic || properties.numericType != nil {
        let letters = properties.lowercaseMapping.unicodeScalars
          .filter { $0.properties.generalCategory != .nonspacingMark }
        let bytes = letters.flatMap { Array(UTF8.encode($0) ?? .init()) }
        if word.count + bytes.count <= SearchLimits.wordBytes {
          word += bytes
        } else {
          // Nothing that follows may fill the gap.
          word += [UInt8](repeating: 0, count: SearchLimits.wordBytes - word.count)
        }
      } else {
        endWord()
        if words.count >= limit { return }
      }
    }
  }

  private mutating func append(_ byte: UInt8) {
    if word.count < SearchLimits.wordBytes { word.append(byte) }
  }

  private mutating func endWord() {
    while word.last == 0 { word.removeLast() }
    guard !word.isEmpty, words.count < limit else { return }
    words.append(String(decoding: word, as: UTF8.self))
    word.removeAll(keepingCapacity: true)
  }
}
