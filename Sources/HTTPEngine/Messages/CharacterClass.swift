/// Sets of ASCII characters as bit masks: a test is a shift and an and, without a table in memory.
struct CharacterClass: Sendable {
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  init(_ characters: StaticString, ranges: ClosedRange<UInt8>...) {
    for index in 0..<characters.utf8CodeUnitCount { insert(characters.utf8Start[index]) }
    for range in ranges { for byte in range { insert(byte) } }
  }

  private mutating func insert(_ byte: UInt8) {
    if byte < 64 { low |= 1 << UInt64(byte) } else if byte < 128 { high |= 1 << UInt64(byte - 64) }
  }

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    byte < 64 ? low >> UInt64(byte) & 1 != 0 : byte < 128 && high >> UInt64(byte & 63) & 1 != 0
  }

  /// `tchar` (RFC 9110 §5.6.2): methods, field names, codings.
  static let token = CharacterClass(
    "!#$%&'*+-.^_`|~", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)
  /// `pchar` without `%`, and the slash (RFC 3986 §3.3).
  static let path = CharacterClass(
    "/-._~!$&'()*+,;=:@", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)
  /// A query: RFC 3986 §3.4, and what browsers leave as it is in one.
  static let query = CharacterClass(
    "/-._~!$&'()*+,;=:@?%[]|{}^`\\", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)
  /// A host's name or IPv4 address: RFC 3986 §3.2.2 without escapes and delimiters, which no real host has.
  static let host = CharacterClass("-._~", ranges: 0x30...0x39, 0x41...0x5A, 0x61...0x7A)
  /// Between the brackets of an IPv6 address.
  static let ipv6 = CharacterClass(":.", ranges: 0x30...0x39, 0x41...0x46, 0x61...0x66)
  /// `0` to `9`.
  static let digit = CharacterClass("", ranges: 0x30...0x39)
  /// `HEXDIG` in both cases.
  static let hexDigit = CharacterClass("", ranges: 0x30...0x39, 0x41...0x46, 0x61...0x66)
}

/// A byte of a field's value: anything but control characters, with the tab allowed (RFC 9110 §5.5).
@inline(__always)
func isFieldValueByte(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }

extension UInt8 {
  static let tab = UInt8(ascii: "\t")
  static let space = UInt8(ascii: " ")
  static let carriageReturn = UInt8(ascii: "\r")
  static let lineFeed = UInt8(ascii: "\n")
  static let colon = UInt8(ascii: ":")
}

extension UnsafeRawBufferPointer {
  /// Whether these bytes are `lowercase`, ASCII letters compared without their case.
  @inline(__always)
  func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    let expected = lowercase.utf8Start
    for index in 0..<count {
      let byte = self[index]
      let folded = byte &- 0x41 < 26 ? byte | 0x20 : byte
      if folded != expected[index] { return false }
    }
    return true
  }

  /// Without the spaces and tabs at both ends.
  @inline(__always)
  var trimmed: UnsafeRawBufferPointer {
    var start = 0
    var end = count
    while start < end, self[start] == .space || self[start] == .tab { start += 1 }
    while end > start, self[end - 1] == .space || self[end - 1] == .tab { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: self[start..<end])
  }
}
