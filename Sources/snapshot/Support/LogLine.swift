/// A log event as one line.
enum LogLine {
  /// A JSON object of text alone, its keys in order (RFC 8259 §7). Every request has such a line, and `JSONEncoder` takes
  /// longer over it than the server over the request.
  static func json(_ values: [String: String]) -> String {
    var line = "{"
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if line.utf8.count > 1 { line += "," }
      append(key, to: &line)
      line += ":"
      append(value, to: &line)
    }
    return line + "}"
  }

  private static func append(_ text: String, to line: inout String) {
    func isPlain(_ byte: UInt8) -> Bool {
      byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
    }
    line += "\""
    if text.utf8.allSatisfy(isPlain) {
      line += text
    } else {
      for scalar in text.unicodeScalars {
        switch scalar {
        case "\"", "\\": line += "\\\(scalar)"
        case "\u{0}"..<" ":
          line += scalar.value < 0x10 ? "\\u000" : "\\u00"
          line += String(scalar.value, radix: 16)
        default: line.unicodeScalars.append(scalar)
        }
      }
    }
    line += "\""
  }
}
