/// A log event as one line.
enum LogLine {
  /// A JSON object of text alone, its keys in order (RFC 8259 §7). Every request has such a line, and `JSONEncoder` takes
  /// longer over it than the server over the request.
  static func json(_ values: [String: String]) -> String { json(values.map { $0 }) }

  /// A JSON object of text alone, its keys in order; each stands there once.
  static func json(_ values: [(key: String, value: String)]) -> String {
    var line = [UInt8(ascii: "{")]
    line.reserveCapacity(512)
    for (key, value) in values.sorted(by: { $0.key < $1.key }) {
      if line.count > 1 { line.append(UInt8(ascii: ",")) }
      append(key, to: &line)
      line.append(UInt8(ascii: ":"))
      append(value, to: &line)
    }
    line.append(UInt8(ascii: "}"))
    return String(decoding: line, as: UTF8.self)
  }

  private static func append(_ text: String, to line: inout [UInt8]) {
    line.append(UInt8(ascii: "\""))
    let start = line.count
    line.append(contentsOf: text.utf8)
    if !line[start...].allSatisfy(isPlain) {
      line.removeSubrange(start...)
      for byte in text.utf8 { append(byte, to: &line) }
    }
    line.append(UInt8(ascii: "\""))
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    byte >= 0x20 && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
  }

  private static func append(_ byte: UInt8, to line: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): line += [UInt8(ascii: "\\"), byte]
    case ..<0x20: line.append(contentsOf: "\\u00\(byte < 0x10 ? "0" : "")\(String(byte, radix: 16))".utf8)
    default: line.append(byte)
    }
  }
}
