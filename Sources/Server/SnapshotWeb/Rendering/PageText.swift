import Mustache

/// Text as pages show it: never markup, and everything in it to be seen.
///
/// Goes by Unicode's scalars: to Swift a quotation mark with an accent above is one character other than the quotation
/// mark, and to browsers it still ends an attribute.
enum PageText {
  /// The most accents and the like that stand on one character, before they would cover other lines.
  private static let stackedMarks = 4

  /// `text` with everything escaped that could end an element's text or a quoted attribute. Control characters, those
  /// that turn the direction of writing, and those without a form are shown as what they are, but for tabs.
  static func escaped(_ text: String) -> String {
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

  /// How many bytes `text` takes in a page.
  static func length(_ text: String) -> Int {
    var marks = 0
    return text.unicodeScalars.reduce(0) { $0 + length(of: $1, &marks) }
  }

  /// As much of `text` as takes at most `limit` bytes in a page, with `…` at its end where that is not all.
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

  /// What stands for `scalar`; `nil` is the scalar itself.
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
    // They join letters and pictures, or choose between two looks.
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

/// How templates put text into pages.
struct PageContentType: MustacheContentType {
  /// The name that templates call it by.
  static let name = "PAGE"

  func escapeText(_ text: String) -> String { PageText.escaped(text) }
}
