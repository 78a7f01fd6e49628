extension ContentQuery {
  /// Why a text is not a query.
  package struct Malformed: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence with what is wrong, and how to write it.
    package let description: String
  }

  /// Parses a query.
  package init(_ source: String, limits: Limits = Limits()) throws(Malformed) {
    guard !source.isEmpty else { throw Malformed(description: "There is no text to find.") }
    guard source.utf8.count <= limits.bytes else {
      throw Malformed(description: "The text to find has more than \(limits.bytes) bytes.")
    }
    self.source = source
    let spaces = Array(source.utf8).drop { $0 == 0x20 }
    let text = spaces.prefix(spaces.count - spaces.reversed().prefix { $0 == 0x20 }.count)
    // A search for spaces is one for a text.
    (place, test, asText) = try Self.parse(text.isEmpty ? Array(source.utf8)[...] : text)
  }

  private typealias Parts = (Place, ContentTest?, SearchPattern?)

  private static func parse(_ text: ArraySlice<UInt8>) throws(Malformed) -> Parts {
    for field in [Field.key, .value] {
      let prefix = Array("\(field.rawValue):".utf8)
      guard text.starts(with: prefix) else { continue }
      let rest = text.dropFirst(prefix.count)
      guard !rest.isEmpty else {
        throw Malformed(
          description: "‘\(field.rawValue):’ needs a text behind it, such as \(field.rawValue):paid.")
      }
      return (.anywhere(field), try plain(rest), nil)
    }
    if let type = type(text) { return (.anywhere(.value), .type(type), nil) }
    if ContentPath.begins(text) {
      let (path, rest) = try ContentPath.parse(text)
      let condition = rest.isEmpty ? nil : try Self.condition(rest.dropFirst(), of: text)
      let canBeText = path.isExact && (condition?.canBeText ?? true)
      return (.path(path), condition, canBeText ? pattern(text) : nil)
    }
    if text.first == UInt8(ascii: "\""), text.count > 1 {
      var rest = text
      guard let quoted = QuotedText(&rest) else { throw .quotation }
      if rest.isEmpty { return (.anywhere(nil), .isText(Array(quoted.text.utf8)), nil) }
      guard rest.first == UInt8(ascii: ":") else { throw .quotation }
      let condition = try Self.condition(rest.dropFirst().drop { $0 == 0x20 }, of: text)
      return (.key(.isText(Array(quoted.text.utf8))), condition, nil)
    }
    if let (key, rest) = member(text) {
      let condition = try Self.condition(rest, of: text)
      return (.key(try Self.key(key)), condition, condition.canBeText ? pattern(text) : nil)
    }
    return (.anywhere(nil), try plain(text), nil)
  }

  /// A text, a number, or a text with wildcards or in quotation marks.
  private static func plain(_ text: ArraySlice<UInt8>) throws(Malformed) -> ContentTest {
    if text.first == UInt8(ascii: "\""), text.count > 1 {
      var rest = text
      guard let quoted = QuotedText(&rest), rest.isEmpty else { throw .quotation }
      return .isText(Array(quoted.text.utf8))
    }
    if let number = DecimalNumber(text) { return .mentions(number, pattern(text)) }
    return try wildcard(text) ?? .contains(pattern(text))
  }

  /// What is behind a colon.
  private static func condition(
    _ text: ArraySlice<UInt8>, of query: ArraySlice<UInt8>
  ) throws(Malformed) -> ContentTest {
    guard !text.isEmpty else { throw .condition(query) }
    for order in ContentTest.Order.allCases where text.starts(with: order.rawValue.utf8) {
      let operand = text.dropFirst(order.rawValue.utf8.count).drop { $0 == 0x20 }
      guard !operand.isEmpty else { throw .condition(query) }
      if let number = DecimalNumber(operand) { return .numbers(order, number) }
      var rest = operand
      if operand.first == UInt8(ascii: "\""), let quoted = QuotedText(&rest), rest.isEmpty {
        return .strings(order, Array(quoted.text.utf8))
      }
      return .strings(order, Array(operand))
    }
    let prefix = Array("type:".utf8)
    if text.starts(with: prefix) {
      guard let type = type(text) else {
        throw .type(String(decoding: text.dropFirst(prefix.count), as: UTF8.self))
      }
      return .type(type)
    }
    if ["true", "false", "null"].contains(where: { text.elementsEqual($0.utf8) }) {
      return .literal(Array(text))
    }
    if let number = DecimalNumber(text) { return .number(number) }
    if text.elementsEqual("*".utf8) { return .any }
    return try plain(text)
  }

  private static func type(_ text: ArraySlice<UInt8>) -> ContentType? {
    let prefix = Array("type:".utf8)
    guard text.starts(with: prefix) else { return nil }
    return ContentType(rawValue: String(decoding: text.dropFirst(prefix.count), as: UTF8.self))
  }

  /// Divides `width:-1`. `nil` if the text is not a key and a condition, such as `https://example.com` and `Error: timeout`.
  private static func member(
    _ text: ArraySlice<UInt8>
  ) -> (key: ArraySlice<UInt8>, rest: ArraySlice<UInt8>)? {
    let key = text.prefix { byte in
      byte >= 0x80 || (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte & 0xDF)
        || "_-.$@*".utf8.contains(byte)
    }
    let rest = text[key.endIndex...].dropFirst()
    guard let first = key.first, !(0x30...0x39).contains(first),
      text[key.endIndex...].first == UInt8(ascii: ":"),
      let next = rest.first, next != 0x20, !rest.starts(with: "//".utf8)
    else { return nil }
    return (key, rest)
  }

  private static func key(_ text: ArraySlice<UInt8>) throws(Malformed) -> ContentTest {
    if text.elementsEqual("*".utf8) { return try wildcard(text) ?? .any }
    return try wildcard(text) ?? .isName(String(decoding: text, as: UTF8.self))
  }

  private static func wildcard(_ text: ArraySlice<UInt8>) throws(Malformed) -> ContentTest? {
    let asterisk = UInt8(ascii: "*")
    // A text of asterisks alone is one.
    guard text.contains(asterisk), text.contains(where: { $0 != asterisk }) else { return nil }
    guard let pattern = WildcardPattern(String(decoding: text, as: UTF8.self)) else {
      throw Malformed(description: "The text to find has more than \(WildcardPattern.limit) asterisks.")
    }
    return .wildcard(pattern)
  }

  private static func pattern(_ text: ArraySlice<UInt8>) -> SearchPattern {
    SearchPattern(String(decoding: text, as: UTF8.self))
  }
}

extension ContentTest {
  /// The test for a key whose case is ignored.
  fileprivate static func isName(_ name: String) -> ContentTest {
    // Without an asterisk, the whole text has to be the same.
    WildcardPattern(name).map { .wildcard($0) } ?? .isText(Array(name.utf8))
  }

  /// Whether a query with this condition can be a text too.
  fileprivate var canBeText: Bool {
    switch self {
    case .contains, .number, .literal: true
    default: false
    }
  }
}

extension ContentQuery.Malformed {
  fileprivate static var quotation: Self {
    Self(
      description: """
        A text that begins with a quotation mark has to end with one, such as "Paid", or go on with a colon, such as \
        "a key":1; \\" is a quotation mark in it.
        """)
  }

  fileprivate static func condition(_ query: ArraySlice<UInt8>) -> Self {
    Self(
      description: """
        ‘\(String(decoding: query, as: UTF8.self))’ ends without a value; a condition is one such as width:-1, width:<0 \
        or width:null.
        """)
  }

  fileprivate static func type(_ name: String) -> Self {
    Self(
      description: """
        There is no type ‘\(name)’; the types are \(ContentType.allCases.map(\.rawValue).joined(separator: ", ")).
        """)
  }

  static var pathTooLong: Self {
    Self(description: "The path has more than \(ContentPath.limit) steps.")
  }

  static func path(_ text: String) -> Self {
    Self(
      description: """
        ‘\(text)’ is not a path such as .items[*].name, $..name or /items/0/name; as a text, it is found by value:\(text).
        """)
  }
}
