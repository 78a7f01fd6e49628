/// Finds the values of `name=value` and `name: value` in text, such as a query, a form, a message's header or a log
/// line. Names and values can be quoted.
struct AssignmentScanner {
  /// Whether an unquoted value extends to the end of the line.
  let wholeLine: Bool
  private let isWanted: (String) -> Bool

  /// - Parameter isWanted: returns whether the value of a name is wanted. If `wholeLine` is true, it receives the
  ///   normalized name: in lower case, without hyphens, underscores and spaces.
  init(wholeLine: Bool, _ isWanted: @escaping (String) -> Bool) {
    self.wholeLine = wholeLine
    self.isWanted = isWanted
  }

  func scan(_ text: [UInt8]) -> [Range<Int>] {
    var found: [Range<Int>] = []
    var index = 0
    while index < text.count {
      guard text[index] == UInt8(ascii: "=") || text[index] == UInt8(ascii: ":") else {
        index += 1
        continue
      }
      if let name = name(before: index, in: text), let value = value(after: index, in: text),
        isWanted(wholeLine ? SecretNames.normalized(name) : name)
      {
        found.append(value)
        index = max(index + 1, value.upperBound)
      } else {
        index += 1
      }
    }
    return found
  }

  private func name(before separator: Int, in text: [UInt8]) -> String? {
    var end = separator
    while end > 0, Self.isBlank(text[end - 1]) { end -= 1 }
    while end > 0, Self.isQuote(text[end - 1]) || text[end - 1] == UInt8(ascii: "\\") { end -= 1 }
    var start = end
    // The limit keeps the cost of a long text without separators linear.
    while start > 0, end - start < 64, Self.isWord(text[start - 1]) { start -= 1 }
    return start < end ? String(decoding: text[start..<end], as: UTF8.self) : nil
  }

  private func value(after separator: Int, in text: [UInt8]) -> Range<Int>? {
    var start = separator + 1
    while start < text.count, Self.isBlank(text[start]) || text[start] == UInt8(ascii: "\\") { start += 1 }
    guard start < text.count else { return nil }
    var end = start
    if Self.isQuote(text[start]) {
      let quote = text[start]
      start += 1
      end = start
      while end < text.count, text[end] != quote, !Self.isLineEnd(text[end]) {
        // A quote after a backslash belongs to the value, or ends a value in quoted JSON; in that case, the following
        // text is removed too.
        end += text[end] == UInt8(ascii: "\\") && end + 1 < text.count ? 2 : 1
      }
      end = min(end, text.count)
    } else if wholeLine {
      while end < text.count, !Self.isLineEnd(text[end]) { end += 1 }
    } else if text[start...].starts(with: RedactionRule.mark.utf8) {
      // Another rule has already redacted the value.
      return nil
    } else {
      while end < text.count, !Self.endsValue(text[end]) { end += 1 }
    }
    return start < end ? start..<end : nil
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
  private static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
  private static func isQuote(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'")
  }

  private static func isWord(_ byte: UInt8) -> Bool {
    SecretScanner.isAlphanumeric(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
  }

  private static func endsValue(_ byte: UInt8) -> Bool {
    switch byte {
    case 0...0x20, UInt8(ascii: "&"), UInt8(ascii: ";"), UInt8(ascii: ","), UInt8(ascii: "<"),
      UInt8(ascii: ">"),
      UInt8(ascii: ")"), UInt8(ascii: "]"), UInt8(ascii: "}"), UInt8(ascii: "\""), UInt8(ascii: "'"):
      true
    default: false
    }
  }
}
