/// Formats text for a terminal with 80 columns.
enum Columns {
  static let width = 80

  /// Pads `text` at the end with spaces, to `width` characters.
  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  /// Pads `text` at the beginning with spaces, to `width` characters.
  static func aligned(_ text: String, to width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// Shortens `text` to `width` characters, including a final `…`, if it is longer.
  static func cut(_ text: String, to width: Int) -> String {
    text.count <= width ? text : text.prefix(max(0, width - 1)) + "…"
  }

  /// Joins `words` with commas, and wraps them into lines that are indented by `indent` spaces.
  static func list(_ words: [String], indent: Int) -> [String] {
    var lines: [String] = []
    for (index, word) in words.enumerated() {
      let word = index < words.count - 1 ? word + "," : word
      if let last = lines.last, last.count + 1 + word.count <= width {
        lines[lines.count - 1] += " " + word
      } else {
        lines.append(String(repeating: " ", count: indent) + word)
      }
    }
    return lines
  }

  /// A bar of up to ten characters for the share of `part` in `whole`. A positive part has at least one character.
  static func bar(_ part: Int64, of whole: Int64) -> String {
    let length = part > 0 ? max(1, Int((Double(part) / Double(max(whole, 1)) * 10).rounded())) : 0
    return padded(String(repeating: "█", count: min(length, 10)), to: 10)
  }
}
