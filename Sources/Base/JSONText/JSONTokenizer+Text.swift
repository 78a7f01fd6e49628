/// Texts and their escapes.
extension JSONTokenizer {
  /// Reads up to the next quote or backslash.
  mutating func goOnText() throws(JSONFailure) -> Token? {
    let bytes = piece
    let first = position
    var index = first
    var characters = characters
    while index < bytes.count {
      if characters.isBetween {
        index = JSONRun.asciiEnd(bytes, from: index)
        guard index < bytes.count else { break }
      }
      let byte = bytes[index]
      if byte < 0x80, characters.isBetween {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
        position = index
        throw failure(.unexpected)
      } else {
        guard characters.take(byte) else {
          position = index
          throw failure(.notUTF8)
        }
      }
      index += 1
    }
    self.characters = characters
    position = index
    if index > first {
      keepHalf()
      keep(bytes[first..<index])
    }
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: "\\") {
      lexeme = .escape
      position += 1
      return nil
    }
    keepHalf()
    guard isKey else {
      endValue()
      return take(.string)
    }
    isKey = false
    lexeme = .none
    expectation = .colon
    return take(.key)
  }

  mutating func readEscape(_ byte: UInt8) throws(JSONFailure) {
    let character: UInt8
    switch byte {
    case UInt8(ascii: "u"):
      if configuration.keepsEscapes { keep([UInt8(ascii: "\\"), byte]) }
      lexeme = .digits(count: 0, value: 0)
      position += 1
      return
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): character = byte
    case UInt8(ascii: "b"): character = 0x08
    case UInt8(ascii: "f"): character = 0x0C
    case UInt8(ascii: "n"): character = 0x0A
    case UInt8(ascii: "r"): character = 0x0D
    case UInt8(ascii: "t"): character = 0x09
    default:
      guard configuration.isLenient else { throw failure(.unexpected) }
      // What is not ASCII is read as the text goes on.
      guard byte < 0x80 else {
        lexeme = .text
        return
      }
      character = byte
    }
    if configuration.keepsEscapes {
      keep([UInt8(ascii: "\\"), byte])
    } else {
      keepHalf()
      keep(character)
    }
    lexeme = .text
    position += 1
  }

  /// Keeps what the four digits behind `\u` stand for: two such units may make one character.
  mutating func keepUnit(_ unit: UInt32) {
    if let high = highSurrogate, (0xDC00..<0xE000).contains(unit) {
      highSurrogate = nil
      keepCharacter(0x10000 + (high - 0xD800) << 10 + (unit - 0xDC00))
      return
    }
    keepHalf()
    if (0xD800..<0xDC00).contains(unit) {
      highSurrogate = unit
    } else {
      if (0xDC00..<0xE000).contains(unit) { isUnicode = false }
      keepCharacter(unit)
    }
  }

  /// Keeps the first half of a surrogate pair whose second half did not come.
  private mutating func keepHalf() {
    guard let half = highSurrogate else { return }
    highSurrogate = nil
    isUnicode = false
    keepCharacter(half)
  }

  private mutating func keepCharacter(_ value: UInt32) {
    func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(value >> shift & 0x3F) }
    switch value {
    case 0..<0x80: keep(UInt8(value))
    case 0x80..<0x800: keep([0xC0 | UInt8(value >> 6), tail(0)])
    case 0x800..<0x10000: keep([0xE0 | UInt8(value >> 12), tail(6), tail(0)])
    default: keep([0xF0 | UInt8(value >> 18 & 7), tail(12), tail(6), tail(0)])
    }
  }

  mutating func keep(_ byte: UInt8) {
    if text.count < configuration.textLength { text.append(byte) }
    textLength += 1
  }

  mutating func keep(_ bytes: ArraySlice<UInt8>) {
    let room = configuration.textLength - text.count
    text += bytes.count <= room ? bytes : bytes.prefix(room)
    textLength += bytes.count
  }
}
