import JSONText

/// Texts of a JSON document, and what is shown of its values.
enum JSONExcerpt {
  /// What a quoted text stands for, its escapes read; up to `limit` bytes of it. What can't be read is shown as it stands
  /// there.
  static func key(_ quoted: ArraySlice<UInt8>, limit: Int = .max) -> String {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = limit
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(Array(quoted))
    do throws(JSONFailure) {
      // A text alone is a document.
      guard try tokenizer.next() == .string else { return excerpt(quoted, limit: limit) }
    } catch {
      return excerpt(quoted, limit: limit)
    }
    let isWhole = tokenizer.text.count == tokenizer.textLength
    let bytes = wholeCharacters(tokenizer.text[...], endsWhole: isWhole)
    return String(decoding: bytes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// What is shown of a value: up to `limit` bytes of it from the byte at `start`, with no more space than a text in it
  /// has. What is left out is `…`.
  static func excerpt(_ text: ArraySlice<UInt8>, from start: Int = 0, limit: Int) -> String {
    var shown: [UInt8] = []
    var isInText = false
    var isEscaped = false
    var isWhole = true
    for (offset, byte) in text.enumerated() {
      let isSpace = !isInText && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
      if isInText {
        isInText = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        isInText = byte == UInt8(ascii: "\"")
      }
      if isSpace || offset < start { continue }
      if shown.count >= limit {
        isWhole = false
        break
      }
      shown.append(byte)
    }
    let wholes = Self.wholeCharacters(shown[...], endsWhole: isWhole)
    return (start > 0 ? "…" : "") + String(decoding: wholes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// `bytes` without the halves of characters at its ends.
  private static func wholeCharacters(_ bytes: ArraySlice<UInt8>, endsWhole: Bool) -> ArraySlice<UInt8> {
    let begun = bytes.drop { $0 & 0xC0 == 0x80 }
    guard !endsWhole, let lead = begun.lastIndex(where: { $0 & 0xC0 != 0x80 }) else { return begun }
    let length =
      switch begun[lead] {
      case 0xF0...: 4
      case 0xE0...: 3
      case 0xC0...: 2
      default: 1
      }
    return begun.endIndex - lead < length ? begun[..<lead] : begun
  }
}
