/// The text of a string in JSON, and back.
enum JSONString {
  /// What the string at `token`, quotes included, reads as. Escapes that RFC 8259 does not know stand for themselves.
  static func decode(_ token: ArraySlice<UInt8>) -> String {
    let content = token.dropFirst().dropLast()
    guard content.contains(UInt8(ascii: "\\")) else { return String(decoding: content, as: UTF8.self) }
    var bytes: [UInt8] = []
    var index = content.startIndex
    while index < content.endIndex {
      guard content[index] == UInt8(ascii: "\\"), index + 1 < content.endIndex else {
        bytes.append(content[index])
        index += 1
        continue
      }
      let escape = content[index + 1]
      index += 2
      switch escape {
      case UInt8(ascii: "n"): bytes.append(0x0A)
      case UInt8(ascii: "r"): bytes.append(0x0D)
      case UInt8(ascii: "t"): bytes.append(0x09)
      case UInt8(ascii: "b"): bytes.append(0x08)
      case UInt8(ascii: "f"): bytes.append(0x0C)
      case UInt8(ascii: "u"):
        var units: [UInt16] = []
        if let unit = hexadecimal(content, index) {
          units.append(unit)
          index += 4
          // The second half of a character beyond 16 bits.
          if 0xD800..<0xDC00 ~= unit, content[index...].starts(with: Array("\\u".utf8)),
            let low = hexadecimal(content, index + 2)
          {
            units.append(low)
            index += 6
          }
        }
        bytes += Array(String(decoding: units, as: UTF16.self).utf8)
      default: bytes.append(escape)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func hexadecimal(_ bytes: ArraySlice<UInt8>, _ index: Int) -> UInt16? {
    guard index + 4 <= bytes.endIndex else { return nil }
    return UInt16(String(decoding: bytes[index..<index + 4], as: UTF8.self), radix: 16)
  }

  /// `text` as a string of JSON, quotes included.
  static func encode(_ text: some Sequence<UInt8>) -> [UInt8] {
    var bytes = [UInt8(ascii: "\"")]
    for byte in text {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes += Array("\\u00\(byte < 16 ? "0" : "")\(digits)".utf8)
      default: bytes.append(byte)
      }
    }
    return bytes + [UInt8(ascii: "\"")]
  }
}
