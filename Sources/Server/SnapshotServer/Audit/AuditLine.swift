import Foundation
import SystemIO

/// A JSON object as it is put together (RFC 8259), on one line: most requests have one, so its bytes are appended to bytes.
struct AuditLine {
  /// What there is of it.
  private(set) var bytes: [UInt8]

  init() {
    bytes = [UInt8(ascii: "{")]
    bytes.reserveCapacity(384)
  }

  /// Appends a member, unless it has no value.
  mutating func append(_ key: String, _ value: String?) {
    guard let value else { return }
    append(key)
    append(text: value)
  }

  /// Appends a member whose value is a time.
  mutating func append(_ key: String, _ value: Date) {
    append(key)
    bytes.append(UInt8(ascii: "\""))
    UTCTime(value).append(to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a member whose value is a number, or `true`.
  mutating func append(_ key: String, literal: String) {
    append(key)
    bytes.append(contentsOf: literal.utf8)
  }

  /// Ends the object and the line.
  mutating func end() { bytes.append(contentsOf: "}\n".utf8) }

  private mutating func append(_ key: String) {
    if bytes.count > 1 { bytes.append(UInt8(ascii: ",")) }
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: key.utf8)
    bytes.append(contentsOf: "\":".utf8)
  }

  /// Appends `text` as a JSON string (§7), all control characters and separators of lines escaped.
  private mutating func append(text: String) {
    bytes.append(UInt8(ascii: "\""))
    let start = bytes.count
    bytes.append(contentsOf: text.utf8)
    // Nearly all of it is plain ASCII, and stays as it is.
    if !bytes[start...].allSatisfy(Self.isPlain) {
      bytes.removeSubrange(start...)
      for scalar in text.unicodeScalars { append(scalar) }
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private mutating func append(_ scalar: Unicode.Scalar) {
    switch scalar {
    case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
    case ..<" ", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
      let digits = String(scalar.value, radix: 16)
      bytes.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    default: bytes.append(contentsOf: String(scalar).utf8)
    }
  }
}

extension UTCTime {
  /// The moment of `date`, to the nearest millisecond.
  init(_ date: Date) {
    let milliseconds = (date.timeIntervalSince1970 * 1000).rounded()
    // Far beyond what it is held to.
    self.init(millisecondsSince1970: Int64(min(max(milliseconds, -1e15), 1e15)))
  }
}
