/// Writes text as JSON strings (RFC 8259 §7).
///
/// Escapes quotes, backslashes, and characters that are invisible or can end a line: control characters, line and
/// paragraph separators, bidirectional controls, and the byte order mark. The result is safe to print to a terminal.
package enum JSONString {
  /// Appends `text`, with quotes, to `bytes`.
  /// - Parameter escapesMarkup: Whether to escape `<`, `>` and `&` too, so that the string cannot end an HTML script
  ///   element. Line ends and tabs are then written in their short form.
  package static func append(_ text: String, to bytes: inout [UInt8], escapesMarkup: Bool = false) {
    bytes.append(UInt8(ascii: "\""))
    // Fast path: nearly all text is plain ASCII and needs no escapes.
    let isDone = unsafe text.utf8.withContiguousStorageIfAvailable { text in
      guard unsafe text.allSatisfy({ isPlain($0) && !(escapesMarkup && isMarkup($0)) }) else { return false }
      unsafe bytes.append(contentsOf: text)
      return true
    }
    if isDone != true { for scalar in text.unicodeScalars { append(scalar, to: &bytes, escapesMarkup) } }
    bytes.append(UInt8(ascii: "\""))
  }

  /// `text` as a JSON string, with quotes.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    append(text, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func isMarkup(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "&")
  }

  private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8], _ escapesMarkup: Bool) {
    switch scalar {
    case "\"", "\\": bytes += [UInt8(ascii: "\\"), UInt8(ascii: scalar)]
    case "\n" where escapesMarkup: bytes += "\\n".utf8
    case "\r" where escapesMarkup: bytes += "\\r".utf8
    case "\t" where escapesMarkup: bytes += "\\t".utf8
    case ..<" ", "\u{7F}"..."\u{9F}", "\u{2028}"..."\u{202E}", "\u{2066}"..."\u{2069}", "\u{FEFF}":
      appendEscape(scalar, to: &bytes)
    case "<", ">", "&":
      if escapesMarkup { appendEscape(scalar, to: &bytes) } else { bytes.append(UInt8(ascii: scalar)) }
    default: bytes.append(contentsOf: String(scalar).utf8)
    }
  }

  /// Appends a `\u` escape. All characters that need one are below U+10000.
  private static func appendEscape(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    let digits = String(scalar.value, radix: 16)
    bytes.append(contentsOf: "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
  }
}
