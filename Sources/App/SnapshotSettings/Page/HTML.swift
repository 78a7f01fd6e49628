/// HTML markup. Interpolated text is always escaped; only string literals and other `HTML` values become markup.
///
///     let name = "<script>"
///     let cell: HTML = "<td title=\"\(name)\">\(name)</td>"
///
/// Attribute values must be in double quotes.
struct HTML: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
  /// The markup.
  let description: String

  /// Markup from a string literal.
  init(stringLiteral literal: StaticString) { description = "\(literal)" }

  /// Markup with interpolated text, which is escaped.
  init(stringInterpolation parts: StringInterpolation) { description = parts.markup }

  /// Joins pieces with line breaks.
  init(_ pieces: [HTML]) { description = pieces.map(\.description).joined(separator: "\n") }

  /// Collects the parts of an interpolated literal.
  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: StaticString) { markup += "\(literal)" }

    mutating func appendInterpolation(_ text: some StringProtocol) { markup += HTML.escaped(text) }

    mutating func appendInterpolation(_ number: Int) { markup += String(number) }

    mutating func appendInterpolation(_ html: HTML) { markup += html.description }

    /// Appends `html`, unless it is `nil`.
    mutating func appendInterpolation(_ html: HTML?) { markup += html?.description ?? "" }

    mutating func appendInterpolation(_ pieces: [HTML]) { markup += HTML(pieces).description }

    /// Appends `html` if `condition` is true.
    mutating func appendInterpolation(_ html: HTML, if condition: Bool) {
      if condition { markup += html.description }
    }
  }

  /// A name from an untrusted source, such as an identifier. It is truncated to `limit` characters, and isolated so
  /// that its writing direction does not affect the surrounding text.
  static func name(_ text: String, limit: Int = 200) -> HTML {
    "<bdi>\(text.count > limit ? text.prefix(limit) + "…" : text[...])</bdi>"
  }

  /// Escapes each character that could end an element's text or a quoted attribute, and replaces control characters,
  /// which HTML does not allow.
  private static func escaped(_ text: some StringProtocol) -> String {
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count)
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      case "\n", "\t": escaped.unicodeScalars.append(scalar)
      case _ where scalar.properties.generalCategory == .control: escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
