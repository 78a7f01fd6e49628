/// Finds the values of `name=value` and `name: value` in text, such as a query, a form, a message's header or a log
/// line. Names and values can be quoted, names can be percent-encoded.
struct AssignmentScanner {
  /// The maximum length of a name. It keeps the cost of a long text without separators linear.
  static let nameLimit = 96
  /// The maximum length of a list after one that was not complete.
  private static let containerLimit = 1 << 10

  /// Whether there was a list that was not complete.
  private var isLimited = false
  private var recent = RecentVerdicts()

  /// Looks at the separator at `index`, and returns the index from which the search goes on.
  mutating func scan(
    _ text: [UInt8], _ index: Int, _ verdict: (ArraySlice<UInt8>) -> Judge.Verdict,
    _ found: inout [Range<Int>]
  ) -> Int {
    let isColon = text[index] == UInt8(ascii: ":")
    if isColon, Characters.isSchemeEnd(text, index) { return index + 1 }
    guard let name = Self.name(before: index, in: text) else { return index + 1 }
    let verdict = recent.verdict(text, name) { verdict(Self.decoded(text[name])) }
    guard verdict.isSecret else { return index + 1 }
    var isQuery = !isColon && name.upperBound == index
    if isQuery {
      isQuery =
        Self.beginsValue(text, name.lowerBound)
        ? Self.isForm(text, name.lowerBound) : "?&#".utf8.contains(text[name.lowerBound - 1])
    }
    let extent: Extent = isQuery ? .item : verdict.isWholeLine ? .line : .word
    guard let value = value(after: index, in: text, extent) else { return index + 1 }
    found.append(value)
    return max(index + 1, value.upperBound)
  }

  /// Whether a text begins at `index`, or a value of a document: see ``Findings/texts``.
  private static func beginsValue(_ text: [UInt8], _ index: Int) -> Bool {
    index == 0 || index >= 2 && text[index - 1] == 0x0A && text[index - 2] == 0
  }

  /// Whether the value that begins at `start` has no spaces, as a form. The first item of a form follows no separator.
  private static func isForm(_ text: [UInt8], _ start: Int) -> Bool {
    text[start...].first { $0 <= 0x20 } ?? 0 == 0
  }

  private static func decoded(_ name: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    guard name.contains(UInt8(ascii: "%")) else { return name }
    var decoded: [UInt8] = []
    let bytes = Array(name)
    Escaping.percent.decode(bytes, bytes.indices, into: &decoded)
    return decoded[...]
  }

  private static func name(before separator: Int, in text: [UInt8]) -> Range<Int>? {
    var end = separator
    while end > 0, isBlank(text[end - 1]) { end -= 1 }
    while end > 0, Characters.isQuote(text[end - 1]) || text[end - 1] == UInt8(ascii: "\\") { end -= 1 }
    var start = end
    let nameBytes = nameBytes
    while start > 0, end - start < nameLimit, nameBytes.contains(text[start - 1]) { start -= 1 }
    return start < end ? start..<end : nil
  }

  private mutating func value(after separator: Int, in text: [UInt8], _ extent: Extent) -> Range<Int>? {
    var start = separator + 1
    // After the operator, as in `:=` and `=>`.
    while start < text.count, Self.isBlank(text[start]) || Self.isOperator(text, start) { start += 1 }
    guard start < text.count else { return nil }
    var end = start
    if Characters.isQuote(text[start]) {
      start += 1
      end = Self.endOfQuoted(text, start)
      // Another rule, or an earlier redaction, has already replaced it.
      if Placeholders.end(in: text, from: start) == end { return nil }
    } else if Placeholders.end(in: text, from: start) != nil {
      return nil
    } else if "{[(".utf8.contains(text[start]) {
      end = endOfContainer(text, start)
    } else if let open = Self.startOfContents(text, start), extent == .word {
      end =
        text[open] == UInt8(ascii: "(")
        ? endOfContainer(text, open) : Self.endOfQuoted(text, open + 1)
    } else {
      while end < text.count, !extent.ends(at: text[end]) { end += 1 }
    }
    return start < end ? start..<end : nil
  }

  private static func isOperator(_ text: [UInt8], _ index: Int) -> Bool {
    switch text[index] {
    case UInt8(ascii: "\\"), UInt8(ascii: "="), UInt8(ascii: ":"): true
    case UInt8(ascii: ">"): text[index - 1] == UInt8(ascii: "=")
    default: false
    }
  }

  /// The end of the contents that begin after a quote.
  private static func endOfQuoted(_ text: [UInt8], _ start: Int) -> Int {
    let quote = text[start - 1]
    // In quoted JSON, the quotes are escaped too: `\"name\":\"value\"`.
    let isEscaped = start > 1 && text[start - 2] == UInt8(ascii: "\\")
    var end = start
    while end < text.count, text[end] != quote, !Extent.line.ends(at: text[end]) {
      if text[end] == UInt8(ascii: "\\") {
        if isEscaped, end + 1 < text.count, text[end + 1] == quote { break }
        end += end + 1 < text.count ? 2 : 1
      } else {
        end += 1
      }
    }
    return min(end, text.count)
  }

  /// If the value is written as in code, such as `Optional("…")` or `b'…'`, the index of the parenthesis or the quote.
  private static func startOfContents(_ text: [UInt8], _ start: Int) -> Int? {
    var index = start
    while index < text.count, index - start < nameLimit,
      Characters.isAlphanumeric(text[index]) || text[index] == UInt8(ascii: ".")
    {
      index += 1
    }
    guard index < text.count else { return nil }
    if text[index] == UInt8(ascii: "("), index > start { return index }
    let isPrefixed = index == start + 1 && "bBuUrR".utf8.contains(text[start])
    return isPrefixed && Characters.isQuote(text[index]) ? index : nil
  }

  /// The end of what begins with a bracket. If it is not complete, an object extends to the end of the text, as in JSON
  /// that was cut off, and anything else to the end of the line.
  ///
  /// After one that is not complete, others are read only up to a limit, so that the cost is linear.
  private mutating func endOfContainer(_ text: [UInt8], _ start: Int) -> Int {
    var (index, depth, isQuoted) = (start, 0, false)
    let isObject = text[start] == UInt8(ascii: "{")
    let limit = isLimited && !isObject ? min(text.count, start + Self.containerLimit) : text.count
    loop: while index < limit {
      switch text[index] {
      case 0: break loop
      case UInt8(ascii: "\\") where isQuoted: index += 1
      case UInt8(ascii: "\""): isQuoted.toggle()
      case UInt8(ascii: "{"), UInt8(ascii: "["), UInt8(ascii: "("): if !isQuoted { depth += 1 }
      case UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: ")"):
        if !isQuoted { depth -= 1 }
        if depth == 0 { return index + 1 }
      default: break
      }
      index += 1
    }
    isLimited = true
    let end = min(index, text.count)
    guard !isObject else { return end }
    return text[start..<end].firstIndex(where: Extent.line.ends) ?? end
  }

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static let nameBytes = ByteSet(
    (0...255).filter { Characters.isAlphanumeric($0) || "_-.%[]$".utf8.contains($0) || $0 >= 0x80 })

  /// How far an unquoted value extends.
  private enum Extent {
    case word
    /// An item of a query or a form.
    case item
    case line

    func ends(at byte: UInt8) -> Bool {
      switch (self, byte) {
      case (.line, _): byte == 0x0A || byte == 0x0D || byte == 0
      case (_, 0...0x20), (_, UInt8(ascii: "&")), (_, UInt8(ascii: "<")), (_, UInt8(ascii: ">")),
        (_, UInt8(ascii: "\"")):
        true
      case (.item, _): byte == UInt8(ascii: "#") || byte == UInt8(ascii: "\\")
      case (.word, _): ";,)]}'".utf8.contains(byte)
      }
    }
  }
}
