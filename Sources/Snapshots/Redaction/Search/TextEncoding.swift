/// Data converted to text for rules, which can be converted back.
struct TextEncoding {
  /// The encoding of the text in the data.
  enum Kind: Equatable {
    case utf8
    case utf16(bigEndian: Bool, mark: Bool)
    /// Each byte is one character; for older encodings and binary data.
    case latin1(isBinary: Bool)
  }

  let encoding: Kind
  /// The text as UTF-8, independent of the data's encoding.
  var bytes: [UInt8]

  /// Detects the encoding of `data`. Data is text if it begins with a byte order mark or like JSON, or is valid UTF-8.
  init(_ source: [UInt8]) {
    if let encoding = Self.utf16(source) {
      let start = encoding.mark ? 2 : 0
      let units = stride(from: start, to: source.count - 1, by: 2).map { index in
        let (first, second) = (UInt16(source[index]), UInt16(source[index + 1]))
        return encoding.bigEndian ? first << 8 | second : second << 8 | first
      }
      let text = String(decoding: units, as: UTF16.self)
      // Unpaired surrogates could not be converted back.
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

  /// Whether the bytes begin like text in UTF-16.
  static func isUTF16(_ source: [UInt8]) -> Bool { utf16(source) != nil }

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

  /// The text in its original encoding.
  var data: [UInt8] {
    switch encoding {
    case .utf8:
      return bytes
    case .utf16(let bigEndian, let mark):
      let units = (mark ? [0xFEFF] : []) + Array(String(decoding: bytes, as: UTF8.self).utf16)
      return units.flatMap { unit in
        let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
        return bigEndian ? [high, low] : [low, high]
      }
    case .latin1:
      return String(decoding: bytes, as: UTF8.self).unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    }
  }

  /// The replacement for the removed characters.
  func mark(for removed: ArraySlice<UInt8>) -> [UInt8] {
    guard case .latin1(isBinary: true) = encoding else { return RedactionRule.markBytes }
    // Offsets matter in binary formats, so the length is kept. Each character counts by its first byte.
    return Array(repeating: UInt8(ascii: "*"), count: removed.count { $0 & 0xC0 != 0x80 })
  }
}
