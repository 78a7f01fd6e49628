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

  /// What eight digits of either case stand for, and whether the bytes are such: all looked at together, as a manifest
  /// has millions of them.
  static func read(_ digits: ArraySlice<UInt8>) -> (value: UInt32, isValid: Bool) {
    let word = unsafe UInt64(bigEndian: digits.withUnsafeBytes { unsafe $0.loadUnaligned(as: UInt64.self) })
    let ones: UInt64 = 0x0101_0101_0101_0101
    let tops = ones * 0x80
    // The top bit of each byte of a sum says whether it is at least so much; none overflows into the next.
    let (ascii, letters) = (word & ~tops, (word | ones * 0x20) & ~tops)
    func isAtLeast(_ byte: UInt64, _ bytes: UInt64) -> UInt64 { bytes &+ ones &* (0x80 - byte) }
    let isNumeral = isAtLeast(0x30, ascii) & ~isAtLeast(0x3A, ascii)
    let isLetter = isAtLeast(0x61, letters) & ~isAtLeast(0x67, letters)
    let isValid = (isNumeral | isLetter) & ~word & tops == tops
    // Letters differ from numerals in the bit of 0x40.
    var value = (word & (ones * 0x0F)) &+ (word >> 6 & ones) &* 9
    value = (value | value >> 4) & 0x00FF_00FF_00FF_00FF
    value = (value | value >> 8) & 0x0000_FFFF_0000_FFFF
    return (UInt32(truncatingIfNeeded: value | value >> 16), isValid)
  }
}
