/// A piece of HTML. Text that is put into it by interpolation is escaped; nothing else makes markup of text.
///
///     let name = "<script>"
///     let cell: HTML = "<td title=\"\(name)\">\(name)</td>"
///
/// Attribute values stand in double quotes, always.
struct HTML: Sendable, ExpressibleByStringInterpolation, CustomStringConvertible {
  /// The markup.
  let description: String

  /// Markup as it stands in the program.
  init(stringLiteral literal: StaticString) { description = "\(literal)" }

  /// Markup with text in it.
  init(stringInterpolation parts: StringInterpolation) { description = parts.markup }

  /// Pieces one after the other.
  init(_ pieces: [HTML]) { description = pieces.map(\.description).joined(separator: "\n") }

  /// Collects a literal's parts.
  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var markup = ""

    init(literalCapacity: Int, interpolationCount: Int) { markup.reserveCapacity(literalCapacity * 2) }

    mutating func appendLiteral(_ literal: StaticString) { markup += "\(literal)" }

    mutating func appendInterpolation(_ text: some StringProtocol) { markup += HTML.escaped(text) }

    mutating func appendInterpolation(_ number: Int) { markup += String(number) }

    mutating func appendInterpolation(_ html: HTML) { markup += html.description }

    /// `html` where there is some.
    mutating func appendInterpolation(_ html: HTML?) { markup += html?.description ?? "" }

    mutating func appendInterpolation(_ pieces: [HTML]) { markup += HTML(pieces).description }

    /// `html` where `condition` holds.
    mutating func appendInterpolation(_ html: HTML, if condition: Bool) {
      if condition { markup += html.description }
    }
  }

  /// A name that somebody else chose, such as an identifier: cut at `limit` characters, in whatever direction it
  /// is written, without an effect on what stands around it.
  static func name(_ text: String, limit: Int = 200) -> HTML {
    "<bdi>\(text.count > limit ? text.prefix(limit) + "…" : text[...])</bdi>"
  }

  /// `text` with everything escaped that could end an element's text or a quoted attribute, and without control
  /// characters, which HTML does not allow.
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
