import Foundation

/// Data as text for rules to look at, and the way back.
struct RedactableText {
  /// How the text lies in the data.
  enum Encoding: Equatable {
    case utf8
    case utf16(bigEndian: Bool, mark: Bool)
    /// Each byte is a character: for older encodings, and for what is no text at all.
    case latin1(isBinary: Bool)
  }

  let encoding: Encoding
  /// UTF-8, whatever the encoding of the data is.
  var bytes: [UInt8]

  /// Finds out what `data` is. Text begins with a byte order mark, or as JSON does, or is valid UTF-8.
  init(_ data: Data) {
    let source = Array(data)
    if let encoding = Self.utf16(source) {
      let start = encoding.mark ? 2 : 0
      let units = stride(from: start, to: source.count - 1, by: 2).map { index in
        let (first, second) = (UInt16(source[index]), UInt16(source[index + 1]))
        return encoding.bigEndian ? first << 8 | second : second << 8 | first
      }
      let text = String(decoding: units, as: UTF16.self)
      // Lone halves of characters would not come back as they were.
      if text.utf16.elementsEqual(units) {
        self.encoding = .utf16(bigEndian: encoding.bigEndian, mark: encoding.mark)
        bytes = Array(text.utf8)
        return
      }
    }
    if String(validating: source, as: UTF8.self) != nil {
      encoding = .utf8
      bytes = source
    } else {
      let isBinary = source.contains { $0 < 0x20 && !(0x09...0x0D).contains($0) }
      encoding = .latin1(isBinary: isBinary)
      bytes = source.flatMap { $0 < 0x80 ? [$0] : [0xC0 | $0 >> 6, 0x80 | $0 & 0x3F] }
    }
  }

  /// Text that is known to be UTF-8.
  init(utf8: [UInt8]) {
    encoding = .utf8
    bytes = utf8
  }

  private static func utf16(_ source: [UInt8]) -> (bigEndian: Bool, mark: Bool)? {
    guard source.count >= 2, source.count.isMultiple(of: 2) else { return nil }
    let opening: Set<UInt8> = [UInt8(ascii: "{"), UInt8(ascii: "[")]
    return switch (source[0], source[1]) {
    case (0xFE, 0xFF): (true, true)
    case (0xFF, 0xFE): (false, true)
    case (0, let second) where opening.contains(second): (true, false)
    case (let first, 0) where opening.contains(first): (false, false)
    default: nil
    }
  }

  /// The text in the encoding that it came in.
  var data: Data {
    switch encoding {
    case .utf8:
      return Data(bytes)
    case .utf16(let bigEndian, let mark):
      let units = (mark ? [0xFEFF] : []) + Array(String(decoding: bytes, as: UTF8.self).utf16)
      return Data(
        units.flatMap { unit in
          let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
          return bigEndian ? [high, low] : [low, high]
        })
    case .latin1:
      return Data(
        String(decoding: bytes, as: UTF8.self).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }
  }

  /// What stands for `count` characters that were removed.
  func mark(for removed: ArraySlice<UInt8>) -> [UInt8] {
    guard case .latin1(isBinary: true) = encoding else { return Array(RedactionRule.mark.utf8) }
    // The places of what follows are part of a binary format. Of a character's bytes the first alone counts.
    return Array(repeating: UInt8(ascii: "*"), count: removed.count { $0 & 0xC0 != 0x80 })
  }
}
