/// Reads the grammar that most field values share: tokens, quoted strings, optional white space (RFC 9110 §5.6). If the
/// next characters match, a method consumes and returns them. Otherwise it returns `nil` or `false` and consumes
/// nothing.
struct FieldScanner {
  private var rest: Substring.UTF8View

  init(_ text: some StringProtocol) { rest = Substring(text).utf8 }

  var isAtEnd: Bool { rest.isEmpty }

  mutating func skipWhitespace() {
    rest = rest.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard let first = rest.first, first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  mutating func take(while isTaken: (UInt8) -> Bool) -> String? {
    let taken = rest.prefix(while: isTaken)
    guard !taken.isEmpty else { return nil }
    rest = rest[taken.endIndex...]
    return String(Substring(taken))
  }

  mutating func token() -> String? { take(while: Self.isTokenByte) }

  /// Reads a quoted string and returns its text without the quotes. A backslash escapes only a quote or another
  /// backslash, because browsers send file names with unescaped backslashes.
  mutating func quotedString() -> String? {
    var scanner = rest
    guard scanner.popFirst() == UInt8(ascii: "\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = scanner.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        rest = scanner
        return String(validating: bytes, as: UTF8.self)
      case UInt8(ascii: "\\")
      where scanner.first == UInt8(ascii: "\"") || scanner.first == UInt8(ascii: "\\"):
        bytes.append(scanner.removeFirst())
      case 0..<0x09, 0x0A..<0x20, 0x7F: return nil
      default: bytes.append(byte)
      }
    }
    return nil
  }

  /// Reads `; name=value` pairs to the end of the text. The names are in lower case. Returns `nil` if the text is
  /// malformed or a name occurs twice.
  mutating func parameters() -> [String: String]? {
    var parameters: [String: String] = [:]
    while true {
      skipWhitespace()
      if isAtEnd { return parameters }
      guard take(";") else { return nil }
      skipWhitespace()
      // Recipients must accept empty parameters (RFC 9110 §5.6.6).
      guard let name = token()?.lowercased() else { continue }
      guard take("="), let value = quotedString() ?? token(), parameters[name] == nil else { return nil }
      parameters[name] = value
    }
  }

  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
