/// Texts of a JSON document, and what is shown of its values.
enum JSONText {
  /// The bytes that a quoted text stands for, its escapes read. Half a surrogate pair becomes the bytes that it would
  /// have, which are no UTF-8.
  static func decoded(_ quoted: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let inside = quoted.dropFirst().dropLast()
    guard inside.contains(UInt8(ascii: "\\")) else { return inside }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(inside.count)
    var rest = inside
    while let byte = rest.popFirst() {
      guard byte == UInt8(ascii: "\\"), let escaped = rest.popFirst() else {
        bytes.append(byte)
        continue
      }
      switch escaped {
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0C)
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "u"): append(codePoint(&rest), to: &bytes)
      default: bytes.append(escaped)
      }
    }
    return bytes[...]
  }

  /// A key, as text.
  static func key(_ quoted: ArraySlice<UInt8>) -> String { String(decoding: decoded(quoted), as: UTF8.self) }

  /// Four hexadecimal digits, or two times four where they are a surrogate pair.
  private static func codePoint(_ rest: inout ArraySlice<UInt8>) -> UInt32 {
    let high = unit(rest.prefix(4))
    rest = rest.dropFirst(4)
    guard (0xD800..<0xDC00).contains(high), rest.starts(with: [UInt8(ascii: "\\"), UInt8(ascii: "u")]) else {
      return high
    }
    let low = unit(rest.dropFirst(2).prefix(4))
    guard (0xDC00..<0xE000).contains(low) else { return high }
    rest = rest.dropFirst(6)
    return 0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)
  }

  private static func unit(_ digits: ArraySlice<UInt8>) -> UInt32 {
    UInt32(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
  }

  private static func append(_ value: UInt32, to bytes: inout [UInt8]) {
    func tail(_ shift: UInt32) -> UInt8 { 0x80 | UInt8(value >> shift & 0x3F) }
    switch value {
    case 0..<0x80: bytes.append(UInt8(value))
    case 0x80..<0x800: bytes += [0xC0 | UInt8(value >> 6), tail(0)]
    case 0x800..<0x10000: bytes += [0xE0 | UInt8(value >> 12), tail(6), tail(0)]
    default: bytes += [0xF0 | UInt8(value >> 18 & 7), tail(12), tail(6), tail(0)]
    }
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
