/// Base64 (RFC 4648 §4) for the byte sequences of structured fields. Encodes with padding; decodes with or without it
/// (RFC 9651 §4.2.7).
///
/// Foundation's implementation would link Foundation into every server program, which costs megabytes of memory and
/// doubles the start-up time.
enum Base64 {
  /// Returns `bytes` in base64, with padding.
  static func encode(_ bytes: [UInt8]) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = bytes.count - start
      var word = UInt32(bytes[start]) << 16
      if count > 1 { word |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { word |= UInt32(bytes[start + 2]) }
      text.append(digit(word >> 18))
      text.append(digit(word >> 12 & 63))
      text.append(count > 1 ? digit(word >> 6 & 63) : padding)
      text.append(count > 2 ? digit(word & 63) : padding)
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Returns the decoded bytes. Returns `nil` if a character is not in the alphabet, the padding is incomplete, or
  /// unused trailing bits are set (§3.5).
  static func decode(_ text: String) -> [UInt8]? {
    let digits = Array(text.utf8)
    let paddings = digits.reversed().prefix { $0 == padding }.count
    guard paddings <= 2, paddings == 0 || digits.count.isMultiple(of: 4) else { return nil }
    guard (digits.count - paddings) % 4 != 1 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 4 * 3)
    var (word, bits) = (UInt32(0), UInt32(0))
    for digit in digits.dropLast(paddings) {
      guard let value = value(digit) else { return nil }
      word = word << 6 | value
      bits += 6
      if bits >= 8 {
        bits -= 8
        bytes.append(UInt8(truncatingIfNeeded: word >> bits))
        word &= 1 << bits - 1
      }
    }
    return word == 0 ? bytes : nil
  }

  private static let padding = UInt8(ascii: "=")

  private static func digit(_ value: UInt32) -> UInt8 {
    switch UInt8(value) {
    case let value where value < 26: UInt8(ascii: "A") + value
    case let value where value < 52: UInt8(ascii: "a") + value - 26
    case let value where value < 62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): UInt32(digit - UInt8(ascii: "A"))
    case UInt8(ascii: "a")...UInt8(ascii: "z"): UInt32(digit - UInt8(ascii: "a")) + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(digit - UInt8(ascii: "0")) + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
