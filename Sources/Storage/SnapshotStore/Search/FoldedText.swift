import Foundation

/// A text as the search reads it: words of letters and digits without case and accents, and the single characters of
/// scripts that are written without spaces between words. Every catalogue reads texts in the same way.
enum FoldedText {
  /// A part of a text, in UTF-8.
  enum Piece {
    /// A word, shortened to ``SearchLimits/wordBytes``.
    case word([UInt8])
    /// A Chinese or Japanese character or a Korean syllable, and the one directly before it.
    case character([UInt8], after: [UInt8]?)
  }

  /// Calls `body` with each piece of `text` until it returns `false`.
  static func forEachPiece(of text: String, _ body: (Piece) -> Bool) {
    var word: [UInt8] = []
    var isShortened = false
    var previous: [UInt8]?
    func endWord() -> Bool {
      guard !word.isEmpty else { return true }
      defer { (word, isShortened) = ([], false) }
      return body(.word(word))
    }
    for scalar in scalars(of: text) {
      let properties = scalar.properties
      if properties.generalCategory == .nonspacingMark { continue }
      guard properties.isAlphabetic || properties.numericType != nil else {
        previous = nil
        guard endWord() else { return }
        continue
      }
      if isWrittenWithoutSpaces(scalar) {
        let character = Array(String(scalar).utf8)
        guard endWord(), body(.character(character, after: previous)) else { return }
        previous = character
        continue
      }
      previous = nil
      let letter = lowercased(scalar)
      // No later letter is appended to a shortened word.
      isShortened = isShortened || word.count + letter.count > SearchLimits.wordBytes
      if !isShortened { word += letter }
    }
    _ = endWord()
  }

  /// Whether words of this character's script follow each other without spaces: Chinese, Japanese and Korean. Korean has
  /// spaces, but appends particles to its words.
  static func isWrittenWithoutSpaces(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case ..<0x3005: false
    case 0x3005...0x3007, 0x3021...0x3029, 0x3031...0x3035, 0x3038...0x303C, 0x3041...0x312F, 0x31A0...0x31BF,
      0x31F0...0x31FF, 0x3400...0x4DBF, 0x4E00...0x9FFF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0x20000...0x3FFFF:
      true
    default: false
    }
  }

  /// The compatibility decomposition of `text`, with Korean syllables in one piece.
  static func scalars(of text: String) -> [Unicode.Scalar] {
    var scalars: [Unicode.Scalar] = []
    for scalar in text.decomposedStringWithCompatibilityMapping.unicodeScalars {
      if let last = scalars.last, let syllable = Hangul.composed(last, scalar) {
        scalars[scalars.count - 1] = syllable
      } else {
        scalars.append(scalar)
      }
    }
    return scalars
  }

  private static func lowercased(_ scalar: Unicode.Scalar) -> [UInt8] {
    scalar.properties.lowercaseMapping.unicodeScalars
      .filter { $0.properties.generalCategory != .nonspacingMark }
      .flatMap { Array(UTF8.encode($0) ?? .init()) }
  }
}

/// The composition of Korean syllables from their letters (the Unicode Standard, section 3.12).
private enum Hangul {
  /// Returns the syllable of a leading consonant and a vowel, or of an open syllable and a trailing consonant.
  static func composed(_ first: Unicode.Scalar, _ second: Unicode.Scalar) -> Unicode.Scalar? {
    switch (first.value, second.value) {
    case (0x1100...0x1112, 0x1161...0x1175):
      Unicode.Scalar(0xAC00 + ((first.value - 0x1100) * 21 + second.value - 0x1161) * 28)
    case (0xAC00...0xD7A3, 0x11A8...0x11C2) where (first.value - 0xAC00) % 28 == 0:
      Unicode.Scalar(first.value + second.value - 0x11A7)
    default: nil
    }
  }
}
