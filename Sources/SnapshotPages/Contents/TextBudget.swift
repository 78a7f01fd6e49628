/// How much text a page has room for, in bytes as its HTML has them.
struct TextBudget {
  private var rest: Int

  init(_ bytes: Int) { rest = bytes }

  /// Takes the room for `text`, which stands there so many times; answers whether there was enough.
  mutating func take(_ text: String, of times: Int = 1, beside markup: Int = 0) -> Bool {
    take(times * Self.length(of: text) + markup)
  }

  mutating func take(_ bytes: Int) -> Bool {
    rest -= bytes
    return rest >= 0
  }

  /// About how many bytes `text` has in HTML, as long as it is shown: characters that mean something there are escaped,
  /// and what can't be seen, or turns around what can, is made visible by an element of its own.
  static func length(of text: String) -> Int {
    var length = 0
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&", "<", ">", "\"", "'": length += 6
      case "\u{20}"..."\u{7E}": length += 1
      case ..<"\u{A0}", "\u{200B}"..."\u{200F}", "\u{2028}"..."\u{202E}", "\u{2060}"..."\u{206F}",
        "\u{61C}", "\u{FEFF}", "\u{E0000}"..."\u{E007F}":
        length += 48
      default: length += UTF8.width(scalar)
      }
      
    }
    return length
  }
}
