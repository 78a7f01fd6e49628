/// Finds where the tokens of JSON end (RFC 8259), in bytes that are known to be UTF-8.
struct JSONScanner {
  private let bytes: [UInt8]
  /// Where the next byte stands.
  private(set) var position = 0

  init(_ bytes: [UInt8]) { self.bytes = bytes }

  func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

  mutating func skip() { position += 1 }

  mutating func skipSpace() {
    while let byte = peek(), byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
  }

  /// Takes a text, a number, `true`, `false` or `null`; answers which.
  mutating func takeScalar() -> JSONDocument.Kind? {
    switch peek() {
    case UInt8(ascii: "\""): takeString() ? .string : nil
    case UInt8(ascii: "t"): take("true") ? .boolean : nil
    case UInt8(ascii: "f"): take("false") ? .boolean : nil
    case UInt8(ascii: "n"): take("null") ? .null : nil
    default: takeNumber() ? .number : nil
    }
  }

  /// Takes a text with its quotes; answers whether there was a right one.
  mutating func takeString() -> Bool {
    guard peek() == UInt8(ascii: "\"") else { return false }
    position += 1
    while let byte = peek() {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return true
      case 0..<0x20: return false
      case UInt8(ascii: "\\"): if !takeEscape() { return false }
      default: break
      }
    }
    return false
  }

  /// Takes what follows a backslash.
  private mutating func takeEscape() -> Bool {
    guard let byte = peek() else { return false }
    position += 1
    guard byte == UInt8(ascii: "u") else { return "\"\\/bfnrt".utf8.contains(byte) }
    for _ in 0..<4 {
      guard let digit = peek(), Self.isHexDigit(digit) else { return false }
      position += 1
    }
    return true
  }

  private mutating func take(_ word: StaticString) -> Bool {
    let expected = Array("\(word)".utf8)
    guard bytes[position...].starts(with: expected) else { return false }
    position += expected.count
    return true
  }

  private mutating func takeNumber() -> Bool {
    if peek() == UInt8(ascii: "-") { position += 1 }
    if peek() == UInt8(ascii: "0") {
      position += 1
    } else {
      guard takeDigits() else { return false }
    }
    if peek() == UInt8(ascii: ".") {
      position += 1
      guard takeDigits() else { return false }
    }
    if let byte = peek(), byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
      position += 1
      if let sign = peek(), sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") { position += 1 }
      guard takeDigits() else { return false }
    }
    return true
  }

  private mutating func takeDigits() -> Bool {
    let start = position
    while let byte = peek(), Self.isDigit(byte) { position += 1 }
    return position > start
  }

  static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isHexDigit(_ byte: UInt8) -> Bool {
    isDigit(byte) || (0x41...0x46).contains(byte) || (0x61...0x66).contains(byte)
  }
}
