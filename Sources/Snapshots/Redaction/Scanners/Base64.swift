import Foundation
import JSONText

/// Base64 in both alphabets (RFC 4648), with or without padding.
enum Base64 {
  /// The length from which a word may be base64: `a=secret` has 8 bytes, which are 11 digits.
  static let shortest = 11

  /// The digits of both alphabets.
  static let digits = ByteSet("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_")

  static func isDigit(_ byte: UInt8) -> Bool { digits.contains(byte) }

  /// The end of the digits that begin at `start`. Long ones can be broken into lines. If `start` is in lines that were
  /// read before, `known` is their end, so that they need not be read again.
  static func endOfDigits(_ text: [UInt8], _ start: Int, known: Int) -> Int {
    var end = digits.end(text, start..<text.count)
    if end - start >= 60, end < known { return known }
    while end - start >= 60, end < text.count, Characters.isLineEnd(text[end]) {
      var next = end
      while next < text.count, Characters.isSpace(text[next]) { next += 1 }
      let line = next
      next = digits.end(text, line..<text.count)
      guard next > line else { break }
      end = next
    }
    return end
  }

  /// Decodes `text`; `nil` if it is not base64.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    var digits = text.prefix { $0 != UInt8(ascii: "=") }.filter { !Characters.isSpace($0) }
    guard text.reversed().prefix(while: { $0 == UInt8(ascii: "=") }).count <= 2, digits.count % 4 != 1 else {
      return nil
    }
    for index in digits.indices {
      switch digits[index] {
      case UInt8(ascii: "-"): digits[index] = UInt8(ascii: "+")
      case UInt8(ascii: "_"): digits[index] = UInt8(ascii: "/")
      default: break
      }
    }
    while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
    return Data(base64Encoded: Data(digits)).map { Array($0) }
  }

  /// The values of the digits of both alphabets; 64 for other bytes.
  private static let values: [UInt8] = {
    var values = [UInt8](repeating: 64, count: 256)
    let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    for (value, digit) in letters.enumerated() { values[Int(digit)] = UInt8(value) }
    values[Int(UInt8(ascii: "-"))] = 62
    values[Int(UInt8(ascii: "_"))] = 63
    return values
  }()

  /// The number of digits that decide whether a text may be base64.
  static let head = 12

  /// Whether the first digits are those of text or of a known format, so that most words need not be decoded.
  static func isLikely(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    let values = values
    var (bits, count, number): (UInt32, Int, Int) = (0, 0, 0)
    var start: UInt32 = 0
    var validation = UTF8Validation()
    var isText = true
    for index in range.prefix(head) {
      let value = values[Int(text[index])]
      guard value < 64 else { break }
      bits = bits << 6 | UInt32(value)
      count += 6
      guard count >= 8 else { continue }
      count -= 8
      let byte = UInt8(truncatingIfNeeded: bits >> UInt32(count))
      if number < 3 { start = start << 8 | UInt32(byte) }
      number += 1
      let isControl = byte < 0x20 && !(0x09...0x0D ~= byte) || byte == 0x7F
      if isControl || !validation.take(byte) {
        isText = false
        if number >= 3 { break }
      }
    }
    guard number >= 6 || !isText && number >= 3 else { return false }
    return isText || Contents.isKnown(start: start)
  }

  /// Encodes `bytes` in the alphabet and with the padding of `example`.
  static func encode(_ bytes: [UInt8], like example: ArraySlice<UInt8>) -> [UInt8] {
    let isURLSafe = example.contains { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    let isPadded = example.last == UInt8(ascii: "=") || example.count % 4 == 0
    var text = Array(Data(bytes).base64EncodedData())
    if !isPadded { text.removeAll { $0 == UInt8(ascii: "=") } }
    guard isURLSafe else { return text }
    return text.map { byte in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      default: byte
      }
    }
  }
}
