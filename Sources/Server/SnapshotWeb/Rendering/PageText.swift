import Mustache

/// Escapes texts for pages, so that they are never markup and all characters are visible.
///
/// Works on Unicode scalars: for Swift, a quotation mark followed by a combining accent is a single character that
/// differs from the quotation mark, but in a browser it ends an attribute.
package enum PageText {
  /// The maximum number of combining marks on a character. More of them would cover other lines.
  private static let stackedMarks = 4

  /// Returns `text` with all characters escaped that could end an element's text or a quoted attribute. Replaces
  /// control characters except tabs, characters that change the writing direction, and invisible characters by their
  /// code points.
  package static func escaped(_ text: String) -> String {
    if text.utf8.allSatisfy(isPlain) { return text }
    var escaped = ""
    escaped.reserveCapacity(text.utf8.count + text.utf8.count / 8)
    var marks = 0
    for scalar in text.unicodeScalars {
      if let form = form(of: scalar, &marks) {
        escaped += form
      } else {
        escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }

  /// Returns the size of the escaped text in a page, in bytes.
  static func length(_ text: String) -> Int {
    var marks = 0
    return text.unicodeScalars.reduce(0) { $0 + length(of: $1, &marks) }
  }

  /// Truncates `text` to at most `limit` bytes in the page. A truncated text ends with `…`.
  static func cut(_ text: String, to limit: Int) -> (text: String, length: Int, isWhole: Bool) {
    let mark = "…"
    var (length, marks) = (0, 0)
    var end = (index: text.startIndex, length: 0)
    for index in text.unicodeScalars.indices {
      if length + mark.utf8.count <= limit { end = (index, length) }
      length += self.length(of: text.unicodeScalars[index], &marks)
      if length > limit { return (text[..<end.index] + mark, end.length + mark.utf8.count, false) }
    }
    return (text, length, true)
  }

  /// Returns `text` on one line, with backslashes, line breaks and tabs as JSON writes them. The code points of other
  /// control characters replace them when the text is escaped.
  static func inline(_ text: String) -> String {
    guard text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 < 0x20 }) else { return text }
    var inline = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": inline.append(contentsOf: #"\\"#.unicodeScalars)
      case "\n": inline.append(contentsOf: #"\n"#.unicodeScalars)
      case "\r": inline.append(contentsOf: #"\r"#.unicodeScalars)
      case "\t": inline.append(contentsOf: #"\t"#.unicodeScalars)
      default: inline.append(scalar)
      }
    }
    return String(inline)
  }

  private static func length(of scalar: Unicode.Scalar, _ marks: inout Int) -> Int {
    form(of: scalar, &marks)?.utf8.count ?? UTF8.width(scalar)
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "'"): false
    case UInt8(ascii: "\t"), 0x20..<0x7F: true
    default: false
    }
  }

  /// Returns the replacement for `scalar`, or `nil` if it is not replaced.
  private static func form(of scalar: Unicode.Scalar, _ marks: inout Int) -> String? {
    if scalar.isASCII {
      marks = 0
      return form(ofASCII: scalar)
    }
    let properties = scalar.properties
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark:
      marks += 1
      if marks > stackedMarks { return name(of: scalar) }
    default:
      marks = 0
    }
    switch scalar {
    // These join letters and emoji, or select between two variants.
    case "\u{200C}", "\u{200D}", "\u{FE0E}", "\u{FE0F}": return nil
    case "\u{85}", "\u{2028}", "\u{2029}": return name(of: scalar)
    default: break
    }
    let isUnseen =
      properties.generalCategory == .control || properties.isBidiControl
      || properties.isDefaultIgnorableCodePoint || properties.isNoncharacterCodePoint
      || properties.generalCategory == .format && !properties.isEmoji && scalar.value >= 0xFFF0
    return isUnseen ? name(of: scalar) : nil
  }

  private static func form(ofASCII scalar: Unicode.Scalar) -> String? {
    switch scalar {
    case "&": "&amp;"
    case "<": "&lt;"
    case ">": "&gt;"
    case "\"": "&quot;"
    case "'": "&#39;"
    case "\t": nil
    case ..<" ", "\u{7F}": name(of: scalar)
    default: nil
    }
  }

  private static func name(of scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "⟨U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits + "⟩"
  }
}

/// The escaping of texts in templates.
struct PageContentType: MustacheContentType {
  /// The content type's name in templates.
  static let name = "PAGE"

  func escapeText(_ text: String) -> String { PageText.escaped(text) }
}

/// The values of a template by name: texts, numbers, booleans, nested fields, and lists of fields.
///
/// A `nil` value is stored as `false`, so that the template does not continue the lookup in an outer context.
struct Fields: MustacheParent, ExpressibleByDictionaryLiteral, Sendable {
  private var values: [String: any Sendable] = [:]

  init(dictionaryLiteral elements: (String, (any Sendable)?)...) {
    for (name, value) in elements { values[name] = value ?? false }
  }

  subscript(name: String) -> (any Sendable)? {
    get { values[name] }
    set { values[name] = newValue ?? false }
  }

  func child(named name: String) -> Any? { values[name] }
}
