package import JSONText

/// A part of a long string.
package struct JSONStringPage: Sendable, Hashable {
  /// The maximum number of bytes of a part, as written in the document.
  package static let size = 48 << 10

  /// The path to the string.
  package let path: JSONPath
  /// The decoded part.
  package let text: String
  /// The part as written in the document, with its escape sequences.
  package let source: String
  /// The number of bytes of the string before the part, as written in the document.
  package let from: Int
  /// The place of the next part; `nil` at the end.
  package let next: Int?
  /// The number of bytes of the string, as written in the document.
  package let count: Int

  /// Reads a part of the string at `place`; `nil` if there is no string. `from` is 0 or the ``next`` of another part.
  package init?(_ view: JSONView, _ place: JSONPlace, from: Int = 0) throws(ViewerError) {
    guard !place.isSequence else { return nil }
    var reader = JSONReader(view.bytes, from: place.offset, .value)
    guard try reader.token() == .string else { return nil }
    count = reader.tokenizer.range.count - 2
    guard (0...count).contains(from) else { return nil }
    let bytes = try view.bytes.read(upTo: min(Self.size, count - from), at: place.offset + 1 + from)
    let isLast = from + bytes.count == count
    let end = isLast ? bytes.count : Self.wholeEnd(bytes)
    (path, self.from) = (place.path, from)
    next = isLast ? nil : from + end
    source = String(decoding: bytes[..<end], as: UTF8.self)
    var tokenizer = JSONTokenizer()
    tokenizer.feed([UInt8(ascii: "\"")] + bytes[..<end] + [UInt8(ascii: "\"")])
    do {
      guard try tokenizer.next() == .string else { throw ViewerError.changed }
    } catch {
      // `from` is not at the beginning of a character.
      return nil
    }
    text = String(decoding: tokenizer.text, as: UTF8.self)
  }

  /// The end of the last character or escape sequence that `bytes` contains whole.
  private static func wholeEnd(_ bytes: [UInt8]) -> Int {
    var index = 0
    while index < bytes.count {
      let length: Int
      switch bytes[index] {
      case UInt8(ascii: "\\"):
        guard index + 6 < bytes.count else { return index }
        let isUnit = bytes[index + 1] == UInt8(ascii: "u")
        // Two surrogates are one character.
        if isUnit, bytes[index + 2] | 0x20 == UInt8(ascii: "d"), "89abAB".utf8.contains(bytes[index + 3]) {
          guard index + 12 <= bytes.count else { return index }
          let isPair = bytes[index + 6] == UInt8(ascii: "\\") && bytes[index + 7] == UInt8(ascii: "u")
          length = isPair && bytes[index + 8] | 0x20 == UInt8(ascii: "d") ? 12 : 6
        } else {
          length = isUnit ? 6 : 2
        }
      case 0xF0...: length = 4
      case 0xE0...: length = 3
      case 0xC0...: length = 2
      default: length = 1
      }
      guard index + length <= bytes.count else { return index }
      index += length
    }
    return index
  }
}
