import JSONText

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
      JSONString.append(key, to: &line)
      line.append(UInt8(ascii: ":"))
      JSONString.append(value, to: &line)
    }
    line.append(UInt8(ascii: "}"))
    return String(decoding: line, as: UTF8.self)
  }
}
