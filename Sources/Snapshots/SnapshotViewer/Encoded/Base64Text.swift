/// Base64 (RFC 4648 §4 and §5) in pieces.
package enum Base64Text {
  /// The digits of `bytes`, with padding.
  static func encoded(_ bytes: ArraySlice<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var start = bytes.startIndex
    while start < bytes.endIndex {
      let count = bytes.endIndex - start
      var word = UInt32(bytes[start]) << 16
      if count > 1 { word |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { word |= UInt32(bytes[start + 2]) }
      text.append(digit(word >> 18))
      text.append(digit(word >> 12 & 63))
      text.append(count > 1 ? digit(word >> 6 & 63) : padding)
      text.append(count > 2 ? digit(word & 63) : padding)
      start += 3
    }
    return text
  }

  /// Checks the digits of RFC 4648 §4, without white space.
  struct Check {
    private var digits = 0
    private var paddings = 0

    /// Whether the digits are those of whole bytes.
    var isComplete: Bool {
      paddings == 0 ? digits % 4 != 1 : paddings <= 2 && (digits + paddings).isMultiple(of: 4)
    }

    /// Takes the next digits. Returns whether they are valid.
    mutating func take(_ text: [UInt8]) -> Bool {
      for byte in text {
        if byte == padding {
          paddings += 1
        } else {
          guard paddings == 0, Base64Text.values[Int(byte)] < 64, byte != dash, byte != underscore else {
            return false
          }
          digits += 1
        }
      }
      return paddings <= 2
    }
  }

  /// Decodes both alphabets, with or without padding and white space.
  package struct Decoder {
    private var word: UInt32 = 0
    private var bits: UInt32 = 0
    private var digits = 0
    private var paddings = 0

    /// Creates a decoder at the beginning of a text.
    package init() {}

    /// Whether the digits are those of whole bytes.
    package var isComplete: Bool {
      paddings == 0 ? digits % 4 != 1 : paddings <= 2 && (digits + paddings).isMultiple(of: 4)
    }

    /// Decodes the next digits; `nil` if there is another character.
    package mutating func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.underestimatedCount / 4 * 3 + 3)
      for byte in text {
        let value = Base64Text.values[Int(byte)]
        if value < 64 {
          guard paddings == 0 else { return nil }
          digits += 1
          word = word << 6 | UInt32(value)
          bits += 6
          if bits >= 8 {
            bits -= 8
            bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            word &= 1 << bits - 1
          }
        } else if byte == padding {
          paddings += 1
          guard paddings <= 2 else { return nil }
        } else if byte != 0x20, byte != 0x0A, byte != 0x0D, byte != 0x09 {
          return nil
        }
      }
      return bytes
    }
  }

  private static let padding = UInt8(ascii: "=")
  private static let dash = UInt8(ascii: "-")
  private static let underscore = UInt8(ascii: "_")

  private static func digit(_ value: UInt32) -> UInt8 {
    switch UInt8(value) {
    case let value where value < 26: UInt8(ascii: "A") + value
    case let value where value < 52: UInt8(ascii: "a") + value - 26
    case let value where value < 62: UInt8(ascii: "0") + value - 52
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }

  /// The value of each digit of both alphabets, and 64 for other bytes.
  private static let values: [UInt8] = (0...255).map { (byte: UInt8) -> UInt8 in
    switch byte {
    case 0x41...0x5A: byte - 0x41
    case 0x61...0x7A: byte - 0x61 + 26
    case 0x30...0x39: byte - 0x30 + 52
    case UInt8(ascii: "+"), dash: 62
    case UInt8(ascii: "/"), underscore: 63
    default: 64
    }
  }
}
