/// A number in an XML property list, as JSON writes it.
struct PropertyListNumber {
  /// The number as written, if that is JSON, or in the form of JSON.
  let text: String
  /// Whether ``text`` is a number in JSON. Infinity and “not a number” are none.
  let isJSON: Bool

  /// Reads an integer: digits with or without a sign, or hexadecimal digits after `0x`.
  init?(integer bytes: ArraySlice<UInt8>) {
    var digits = bytes
    let isNegative = digits.first == UInt8(ascii: "-")
    if isNegative || digits.first == UInt8(ascii: "+") { digits = digits.dropFirst() }
    let magnitude: Substring
    if digits.starts(with: "0x".utf8) || digits.starts(with: "0X".utf8) {
      let hexadecimal = String(decoding: digits.dropFirst(2), as: UTF8.self)
      guard hexadecimal.utf8.allSatisfy(Self.isAlphanumeric), let value = UInt64(hexadecimal, radix: 16)
      else {
        return nil
      }
      magnitude = Substring(String(value))
    } else {
      guard !digits.isEmpty, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
      let significant = digits.dropLast().drop { $0 == 0x30 } + [digits[digits.endIndex - 1]]
      magnitude = Substring(String(decoding: significant, as: UTF8.self))
    }
    text = (isNegative && magnitude != "0" ? "-" : "") + magnitude
    isJSON = true
  }

  /// Reads a real number.
  init?(real bytes: ArraySlice<UInt8>) {
    let written = String(decoding: bytes, as: UTF8.self)
    if Self.isNumberOfJSON(bytes) {
      (text, isJSON) = (written, true)
    } else {
      guard bytes.allSatisfy({ Self.isAlphanumeric($0) || "+-.".utf8.contains($0) }),
        let value = Double(written)
      else { return nil }
      (text, isJSON) = ("\(value)", value.isFinite)
    }
  }

  private static func isAlphanumeric(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }

  /// Whether `bytes` are a number of RFC 8259 §6.
  private static func isNumberOfJSON(_ bytes: ArraySlice<UInt8>) -> Bool {
    var rest = bytes
    func digits() -> Int {
      let count = rest.prefix { (0x30...0x39).contains($0) }.count
      rest = rest.dropFirst(count)
      return count
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    let isZero = rest.first == 0x30
    let whole = digits()
    guard whole > 0, !isZero || whole == 1 else { return false }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard digits() > 0 else { return false }
    }
    if let letter = rest.first, letter | 0x20 == UInt8(ascii: "e") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      guard digits() > 0 else { return false }
    }
    return rest.isEmpty
  }
}
