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
    return mask &>> UInt64(byte & 63) & 1 != 0
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
  /// Names of requests: letters, digits and `- _ . : = + / @ ~`.
  static let requestID = CharacterClass(low: 0x27FF_E800_0000_0000, high: 0x47FF_FFFE_87FF_FFFF)
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

  /// An ASCII letter in lower case, any other byte as it is.
  @inline(__always)
  var lowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension UnsafeRawBufferPointer {
  /// Whether all of it may stand in a field's value. Eight bytes are looked at at once, and only where one of them is
  /// a control character each by itself, for it may be a tab.
  @inline(__always)
  var isFieldValue: Bool {
    guard count >= 8 else { return allSatisfy(isFieldValueByte) }
    var index = 0
    while index < count {
      // The last eight may be in part those before.
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

  /// Where, from `start` on, the first byte stands that is not of `characters`; the end where all are.
  @inline(__always)
  func end(of characters: CharacterClass, from start: Int = 0) -> Int {
    var index = start
    while index < count, characters.contains(self[index]) { index &+= 1 }
    return index
  }

  /// Whether these bytes are `text`.
  @inline(__always)
  func equals(_ text: StaticString) -> Bool {
    guard count == text.utf8CodeUnitCount else { return false }
    for index in 0..<count where self[index] != text.utf8Start[index] { return false }
    return true
  }

  /// Whether these bytes are `lowercase`, ASCII letters compared without their case.
  @inline(__always)
  func equalsIgnoringCase(_ lowercase: StaticString) -> Bool {
    guard count == lowercase.utf8CodeUnitCount else { return false }
    let expected = lowercase.utf8Start
    for index in 0..<count {
      if self[index].lowercased != expected[index] { return false }
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

extension UInt64 {
  /// Whether any of its eight bytes is below 0x20 or is 0x7F. Subtracting borrows into a byte's highest bit just where
  /// the byte was smaller; a borrow from a byte further down can only be there if that one was.
  @inline(__always)
  fileprivate var hasControlByte: Bool {
    let highest: UInt64 = 0x8080_8080_8080_8080
    let deleted = self ^ 0x7F7F_7F7F_7F7F_7F7F
    return ((self &- 0x2020_2020_2020_2020) & ~self | (deleted &- 0x0101_0101_0101_0101) & ~deleted) & highest
      != 0
  }
}
