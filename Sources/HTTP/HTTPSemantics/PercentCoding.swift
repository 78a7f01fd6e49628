import JSONText

/// Percent-encoding of the parts of a URI (RFC 3986 §2.1).
public enum PercentCoding {
  /// Why a text can't be decoded.
  public enum Failure: Error, Sendable, Hashable {
    /// A `%` is not followed by two hexadecimal digits.
    case escape
    /// The bytes are not UTF-8.
    case encoding
    /// A control character, NUL included.
    case control

    /// A predicate for an error message. It follows “The path” or “The query”.
    package var words: String {
      switch self {
      case .escape: "has a % that is not followed by two hexadecimal digits"
      case .encoding: "is not UTF-8 once it is decoded"
      case .control: "has a control character"
      }
    }
  }

  /// Decodes every escape of `text` once. If `plusIsSpace` is true, decodes `+` to a space, as in HTML forms.
  public static func decode(_ text: Substring, plusIsSpace: Bool = false) throws(Failure) -> String {
    if text.utf8.allSatisfy(isUnreserved) { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8.makeIterator()
    while let byte = rest.next() {
      var decoded = byte
      if byte == UInt8(ascii: "%") {
        guard let high = rest.next().flatMap(Hexadecimal.value),
          let low = rest.next().flatMap(Hexadecimal.value)
        else {
          throw .escape
        }
        decoded = high << 4 | low
      } else if plusIsSpace, byte == UInt8(ascii: "+") {
        decoded = UInt8(ascii: " ")
      }
      guard decoded >= 0x20, decoded != 0x7F else { throw .control }
      bytes.append(decoded)
    }
    guard let decoded = String(validating: bytes, as: UTF8.self) else { throw .encoding }
    return decoded
  }

  /// Escapes all characters of `text` except the unreserved ones of RFC 3986 §2.3. The result is valid as a path
  /// segment or as a value in a query.
  public static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      if isUnreserved(byte) {
        encoded.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        encoded += byte < 0x10 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  /// Whether the byte never needs an escape (RFC 3986 §2.3).
  package static func isUnreserved(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
