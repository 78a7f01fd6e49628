import JSONText

/// Decodes a string of any length in pieces.
struct JSONStringPieces {
  /// The maximum number of bytes of a piece, as written in the document.
  static let size = 48 << 10

  /// The number of bytes of the string, as written in the document.
  let count: Int
  /// The number of bytes before the next piece, as written in the document.
  private(set) var from: Int

  private let bytes: ViewedBytes
  /// The offset of the first byte.
  private let start: Int

  /// Starts in the string at `place`, behind `from` bytes of it; `nil` if there is no string, or if it is shorter.
  init?(_ view: JSONView, _ place: JSONPlace, from: Int = 0) throws(ViewerError) {
    guard !place.isSequence else { return nil }
    var reader = JSONReader(view.bytes, from: place.offset, .value)
    guard try reader.token() == .string else { return nil }
    count = reader.tokenizer.range.count - 2
    guard (0...count).contains(from) else { return nil }
    (bytes, start, self.from) = (view.bytes, reader.tokenizer.range.lowerBound + 1, from)
  }

  /// Whether all pieces were read.
  var isAtEnd: Bool { from == count }

  /// The next piece, decoded and as written; `nil` if it does not begin at the beginning of a character.
  mutating func next() throws(ViewerError) -> (text: [UInt8], source: ArraySlice<UInt8>)? {
    let piece = try bytes.read(upTo: min(Self.size, count - from), at: start + from)
    let end = from + piece.count == count ? piece.count : Self.wholeEnd(piece)
    guard end > 0 || isAtEnd else { throw .changed }
    var tokenizer = JSONTokenizer()
    tokenizer.feed([UInt8(ascii: "\"")] + piece[..<end] + [UInt8(ascii: "\"")])
    do {
      guard try tokenizer.next() == .string else { throw ViewerError.changed }
    } catch {
      return nil
    }
    from += end
    return (tokenizer.text, piece[..<end])
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
