/// Sets of ASCII characters as bit masks: a test is a shift and an and, without a table in memory.
///
/// The masks stand here as numbers so that they are constants of the program: a set that is built at the first use
/// costs a check at every use. The tests spell them out.
struct CharacterClass: Sendable {
  /// Bits for the characters 0 to 63.
  let low: UInt64
  /// Bits for the characters 64 to 127.
  let high: UInt64

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let mask = byte < 64 ? low : byte < 128 ? high : 0
    return mask >> UInt64(byte & 63) & 1 != 0
  }

  /// `tchar` (RFC 9110 §5.6.2): methods, field names, codings.
  static let token = CharacterClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
  /// `pchar` without `%`, and the slash (RFC 3986 §3.3).
  static let path = CharacterClass(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
  /// A query: RFC 3986 §3.4, and what browsers leave as it is in one.
  static let query = CharacterClass(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
  /// A host's name or IPv4 address: RFC 3986 §3.2.2 without escapes and delimiters, which no real host has.
  static let host = CharacterClass(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  /// Between the brackets of an IPv6 address.
  static let ipv6 = CharacterClass(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E)
  /// `0` to `9`.
  static let digit = CharacterClass(low: 0x03FF_0000_0000_0000, high: 0x0000_0000_0000_0000)
  /// `HEXDIG` in both cases.
  static let hexDigit = CharacterClass(low: 0x03FF_0000_0000_0000, high: 0x0000_007E_0000_007E)
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
