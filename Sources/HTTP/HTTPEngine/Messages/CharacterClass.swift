/// A set of ASCII characters as a bit mask. A membership test needs a shift and an AND, and no table in memory.
///
/// The masks are numeric literals, so that they are compile-time constants. A lazily initialized set would cost a check
/// on every use. The tests spell them out.
struct CharacterClass: Sendable {
  /// Bits of the characters 0 to 63.
  let low: UInt64
  /// Bits of the characters 64 to 127.
  let high: UInt64

  @inline(__always)
  func contains(_ byte: UInt8) -> Bool {
    let mask = byte < 64 ? low : byte < 128 ? high : 0
    return mask &>> UInt64(byte & 63) & 1 != 0
  }

  /// `tchar` (RFC 9110 §5.6.2): methods, field names, codings.
  static let token = CharacterClass(low: 0x03FF_6CFA_0000_0000, high: 0x57FF_FFFF_C7FF_FFFE)
  /// `pchar` without `%`, and the slash (RFC 3986 §3.3).
  static let path = CharacterClass(low: 0x2FFF_FFD2_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
  /// The characters of a query: RFC 3986 §3.4, and those that browsers send there unescaped.
  static let query = CharacterClass(low: 0xAFFF_FFF2_0000_0000, high: 0x7FFF_FFFF_FFFF_FFFF)
  /// The characters of a host name or IPv4 address: RFC 3986 §3.2.2 without escapes and delimiters, which no real host
  /// has.
  static let host = CharacterClass(low: 0x03FF_6000_0000_0000, high: 0x47FF_FFFE_87FF_FFFE)
  /// The characters between the brackets of an IPv6 address.
  static let ipv6 = CharacterClass(low: 0x07FF_4000_0000_0000, high: 0x0000_007E_0000_007E)
  /// The characters of request ids: letters, digits and `- _ . : = + / @ ~`.
  static let requestID = CharacterClass(low: 0x27FF_E800_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
  /// `0` to `9`.
  static let digit = CharacterClass(low: 0x03FF_0000_0000_0000, high: 0x0000_0000_0000_0000)
  /// `HEXDIG` in both cases.
  static let hexDigit = CharacterClass(low: 0x03FF_0000_0000_0000, high: 0x0000_007E_0000_007E)
}

/// Whether a field's value can contain the byte: tabs and all bytes except control characters (RFC 9110 §5.5).
@inline(__always)
func isFieldValueByte(_ byte: UInt8) -> Bool { (byte >= 0x20 && byte != 0x7F) || byte == 0x09 }

extension UInt8 {
  static let tab = UInt8(ascii: "\t")
  static let space = UInt8(ascii: " ")
  static let carriageReturn = UInt8(ascii: "\r")
  static let lineFeed = UInt8(ascii: "\n")
  static let colon = UInt8(ascii: ":")

  /// The byte as a lower-case letter if it is an ASCII letter; otherwise the byte itself.
  @inline(__always)
  var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension UnsafeRawBufferPointer {
  /// Whether all bytes are valid in a field's value. Tests eight bytes at a time. If one of them is a control
  /// character, tests each byte, because it can be a tab.
  @inline(__always)
  var isFieldValue: Bool {
    guard count >= 8 else { return allSatisfy(isFieldValueByte) }
    var index = 0
    while index < count {
      // The last eight bytes can overlap with those before.
      let start = index &+ 8 <= count ? index : count &- 8
      if loadUnaligned(fromByteOffset: start, as: UInt64.self).hasControlByte,
        !self[start..<start &+ 8].allSatisfy(isFieldValueByte)
      {
        return false
      }
      index &+= 8
    }
    return true
  }

  /// Returns the index of the first byte from `start` that is not in `characters`, or `count` if all are.
  @inline(__always)
  func end(of characters: CharacterClass, from start: Int = 0) -> Int {
    var index = start
    while index < count, characters.contains(self[index]) { index &+= 1 }
    return index
  }

  /// Whether the bytes equal `text`.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in 0..<count where self[index] != text.utf8Start[index] { return false }
    return true
  }

  /// Whether the bytes equal `lowercase`, ignoring the case of ASCII letters.
  @inline(__always)
  func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    let expected = lowercase.utf8Start
    for index in 0..<count {
      if self[index].lowercased != expected[index] { return false }
    }
    return true
  }

  /// The bytes without spaces and tabs at both ends.
  @inline(__always)
  var trimmed: UnsafeRawBufferPointer {
    var start = 0
    var end = count
    while start < end, self[start] == .space || self[start] == .tab { start += 1 }
    while end > start, self[end - 1] == .space || self[end - 1] == .tab { end -= 1 }
    return UnsafeRawBufferPointer(rebasing: self[start..<end])
  }
}

extension UInt64 {
  /// Whether any of the eight bytes is below 0x20 or is 0x7F. The subtraction sets a byte's highest bit if the byte is
  /// smaller than the subtrahend. A borrow from a lower byte occurs only if that byte is smaller, so it causes no false
  /// result.
  @inline(__always)
  fileprivate var hasControlByte: Bool {
    let highest: UInt64 = 0x8080_8080_8080_8080
    let deleted = self ^ 0x7F7F_7F7F_7F7F_7F7F
    return ((self &- 0x2020_2020_2020_2020) & ~self | (deleted &- 0x0101_0101_0101_0101) & ~deleted) & highest
      != 0
  }
}
