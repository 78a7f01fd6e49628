import JSONText

/// Formats keys and values of a JSON document for display.
enum JSONExcerpt {
  /// Decodes up to `limit` bytes of a quoted string. A string that cannot be decoded is shown as written.
  static func key(_ quoted: ArraySlice<UInt8>, limit: Int = .max) -> String {
    var configuration = JSONTokenizer.Configuration()
    configuration.textLength = limit
    var tokenizer = JSONTokenizer(configuration)
    tokenizer.feed(Array(quoted))
    do {
      // A string on its own is a valid JSON document.
      guard try tokenizer.next() == .string else { return compact(quoted, limit: limit) }
    } catch {
      return compact(quoted, limit: limit)
    }
    let isWhole = tokenizer.text.count == tokenizer.textLength
    let bytes = wholeCharacters(tokenizer.text[...], endsWhole: isWhole)
    return String(decoding: bytes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// Formats up to `limit` bytes of a value: a string as ``string(_:from:limit:)``, others without white space.
  static func value(_ index: Int, in document: JSONDocument, limit: Int) -> String {
    let text = document.text(index)
    guard document.nodes[index].kind == .string, let decoded = decoded(text) else {
      return compact(text, limit: limit)
    }
    return string(decoded, from: 0, limit: limit)
  }

  /// The characters of a quoted string in UTF-8; `nil` if they can't be represented.
  static func decoded(_ quoted: ArraySlice<UInt8>) -> [UInt8]? {
    guard quoted.contains(UInt8(ascii: "\\")) else { return Array(quoted.dropFirst().dropLast()) }
    var tokenizer = JSONTokenizer()
    tokenizer.feed(Array(quoted))
    do {
      guard try tokenizer.next() == .string, tokenizer.isUnicode else { return nil }
    } catch {
      return nil
    }
    return tokenizer.text
  }

  /// Formats up to `limit` bytes of a decoded string as JSON, starting at byte `start`. Only characters that are
  /// invisible or special in JSON are escaped. `…` marks omitted text.
  static func string(_ decoded: [UInt8], from start: Int, limit: Int) -> String {
    let end = limit < decoded.count - start ? start + limit : decoded.count
    let shown = wholeCharacters(decoded[start..<end], endsWhole: end == decoded.count)
    let lead = start > 0 ? "…" : ""
    let trail = end < decoded.count ? "…" : ""
    return JSONString.quoted(lead + String(decoding: shown, as: UTF8.self) + trail)
  }

  /// Formats up to `limit` bytes of a value, without white space outside strings. `…` marks omitted text.
  static func compact(_ text: ArraySlice<UInt8>, limit: Int) -> String {
    var shown: [UInt8] = []
    var isInText = false
    var isEscaped = false
    var isWhole = true
    for byte in text {
      let isSpace = !isInText && (byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09)
      if isInText {
        isInText = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        isInText = byte == UInt8(ascii: "\"")
      }
      if isSpace { continue }
      if shown.count >= limit {
        isWhole = false
        break
      }
      shown.append(byte)
    }
    let wholes = Self.wholeCharacters(shown[...], endsWhole: isWhole)
    return String(decoding: wholes, as: UTF8.self) + (isWhole ? "" : "…")
  }

  /// `bytes` without incomplete characters at either end.
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
