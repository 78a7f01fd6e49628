import Foundation
import JSONText

/// Base64 in both alphabets (RFC 4648), with or without padding.
enum Base64 {
  /// The length from which a word may be base64: `a=secret` has 8 bytes, which are 11 digits.
  static let shortest = 11

  static func isDigit(_ byte: UInt8) -> Bool {
    Characters.isAlphanumeric(byte) || byte == UInt8(ascii: "+") || byte == UInt8(ascii: "/")
      || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
  }

  /// The end of the digits that begin at `start`. Long ones can be broken into lines of the same length.
  static func endOfDigits(_ text: [UInt8], _ start: Int) -> Int {
    var end = start
    while end < text.count, isDigit(text[end]) { end += 1 }
    while end - start >= 60, end < text.count, Characters.isLineEnd(text[end]) {
      var next = end
      while next < text.count, Characters.isSpace(text[next]) { next += 1 }
      let line = next
      while next < text.count, isDigit(text[next]) { next += 1 }
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

  /// Whether the first digits are those of text or of a known format, so that most words need not be decoded.
  static func isLikely(_ text: [UInt8], _ range: Range<Int>) -> Bool {
    let digits = text[range.prefix(12)].prefix { isDigit($0) }
    guard digits.count > 7, let start = decode(digits.prefix(digits.count / 4 * 4)) else { return false }
    if Contents.isKnown(start) { return true }
    var validation = UTF8Validation()
    return start.allSatisfy { ($0 >= 0x20 && $0 != 0x7F || 0x09...0x0D ~= $0) && validation.take($0) }
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
