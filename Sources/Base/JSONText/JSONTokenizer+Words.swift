/// What is begun and goes on: numbers and words.
extension JSONTokenizer {
  /// Reads on in what is begun; answers the token where it ends.
  mutating func goOn() throws(JSONFailure) -> Token? {
    switch lexeme {
    case .none: return nil
    case .text: return try goOnText()
    case .escape:
      try readEscape(piece[position])
      return nil
    case .digits(let count, let value):
      guard let digit = Self.hexadecimal(piece[position]) else {
        guard configuration.isLenient else { throw failure(.unexpected) }
        lexeme = .text
        return nil
      }
      if configuration.keepsEscapes { keep(piece[position]) }
      position += 1
      let sum = value << 4 | UInt32(digit)
      lexeme = .digits(count: count + 1, value: sum)
      if count == 3 {
        lexeme = .text
        if !configuration.keepsEscapes { keepUnit(sum) }
      }
      return nil
    case .number(var number):
      while position < piece.count, number.take(piece[position]) {
        keep(piece[position])
        position += 1
      }
      lexeme = .number(number)
      guard position < piece.count else { return nil }
      guard number.isWhole else { throw failure(.unexpected) }
      endValue()
      range = start..<offset
      return .number
    case .word(let word, let matched): return try goOn(word, matched)
    case .mark(let matched):
      guard piece[position] == (matched == 1 ? 0xBB : 0xBF) else { throw failure(.unexpected) }
      position += 1
      lexeme = matched == 1 ? .mark(2) : .none
      return nil
    }
  }

  private static func hexadecimal(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  private mutating func goOn(_ word: Word, _ matched: Int) throws(JSONFailure) -> Token? {
    let letters: StaticString
    let token: Token
    switch word {
    case .true: (letters, token) = ("true", .boolean(true))
    case .false: (letters, token) = ("false", .boolean(false))
    case .null: (letters, token) = ("null", .null)
    }
    let expected = unsafe letters.utf8Start[matched]
    guard piece[position] == expected else { throw failure(.unexpected) }
    guard matched + 1 == letters.utf8CodeUnitCount else {
      lexeme = .word(word, matched: matched + 1)
      position += 1
      return nil
    }
    endValue()
    return take(token)
  }
}
