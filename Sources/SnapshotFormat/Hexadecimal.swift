/// Hexadecimal digits, a byte at a time: ids and digests are written and read with every request.
enum Hexadecimal {
  /// The lower-case digit of a value below 16.
  static func digit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }

  /// What a digit of either case stands for; `nil` for any other byte.
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// What a digit of either case stands for, and whether the byte is one: without a branch, as no processor foresees
  /// which digits a digest has.
  static func read(_ digit: UInt8) -> (value: UInt8, isDigit: Bool) {
    let isNumeral = digit &- UInt8(ascii: "0") < 10
    let isLetter = (digit | 0x20) &- UInt8(ascii: "a") < 6
    return ((digit & 15) &+ 9 &* (digit >> 6), isNumeral != isLetter)
  }
}
