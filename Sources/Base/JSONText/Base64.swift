/// Base64 (RFC 4648), without Foundation.
package enum Base64 {
  /// Returns the digits of `bytes` (§4), with padding.
  package static func encode(_ bytes: some Collection<UInt8>) -> [UInt8] {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var (word, count) = (UInt32(0), 0)
    func append(_ digits: Int) {
      for index in 0..<4 {
        text.append(index < digits ? Self.digits[Int(word >> UInt32(18 - 6 * index) & 63)] : padding)
      }
    }
    for byte in bytes {
      word |= UInt32(byte) << UInt32(16 - 8 * count)
      count += 1
      if count == 3 {
        append(4)
        (word, count) = (0, 0)
      }
    }
    if count > 0 { append(count + 1) }
    return text
  }

  /// Decodes `text` (§4), with or without padding. Returns `nil` if it has another character, if the padding is
  /// incomplete, or if unused bits are set (§3.5).
  package static func decode(_ text: String) -> [UInt8]? {
    var decoder = Decoder(isStrict: true)
    guard let bytes = decoder.decode(text.utf8), decoder.isComplete, decoder.word == 0 else { return nil }
    return bytes
  }

  /// Decodes a text piece by piece.
  package struct Decoder {
    private let isStrict: Bool
    fileprivate private(set) var word: UInt32 = 0
    private var bits: UInt32 = 0
    private var digits = 0
    private var paddings = 0

    /// - Parameter isStrict: whether to refuse white space and the alphabet for URLs (§5).
    package init(isStrict: Bool = false) { self.isStrict = isStrict }

    /// Whether the digits are those of whole bytes.
    package var isComplete: Bool {
      paddings == 0 ? digits % 4 != 1 : paddings <= 2 && (digits + paddings).isMultiple(of: 4)
    }

    /// Decodes the next digits; `nil` if there is another character.
    package mutating func decode(_ text: some Sequence<UInt8>) -> [UInt8]? {
      var bytes: [UInt8] = []
      bytes.reserveCapacity(text.underestimatedCount / 4 * 3 + 3)
      for byte in text {
        let value = Base64.values[Int(byte)]
        if value < 64 {
          guard paddings == 0, !isStrict || byte != dash && byte != underscore else { return nil }
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
        } else if isStrict || byte != 0x20 && byte != 0x0A && byte != 0x0D && byte != 0x09 {
          return nil
        }
      }
      return bytes
    }
  }

  private static let padding = UInt8(ascii: "=")
  private static let dash = UInt8(ascii: "-")
  private static let underscore = UInt8(ascii: "_")
  private static let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The value of each digit of both alphabets, and 64 for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
    (values[Int(dash)], values[Int(underscore)]) = (62, 63)
    return values
  }()
}
