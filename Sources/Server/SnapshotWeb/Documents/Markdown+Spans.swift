extension Markdown {
  /// The maximum depth of nested emphasis. Deeper markers are text.
  private static let deepestSpan = 8
  /// The beginnings of the destinations that a link can have.
  private static let destinations = ["https://", "http://", "#"]
  /// The beginning of the destinations that only DocC's pages have, such as the documentation of a library.
  private static let rendered = "/documentation/"

  /// Parses the text of a line.
  static func spans(_ text: String) -> [Span] { spans(text[...], depth: 0, hasLinks: true) }

  /// - Parameter hasLinks: whether there can be links; `false` in the text of a link.
  private static func spans(_ text: Substring, depth: Int, hasLinks: Bool) -> [Span] {
    var spans: [Span] = []
    var plain = ""
    var rest = text
    while let first = rest.first {
      if let (span, after) = span(at: rest, depth: depth, hasLinks: hasLinks) {
        if !plain.isEmpty { spans.append(.text(plain)) }
        plain = ""
        spans.append(span)
        rest = after
      } else if first == "\\", let next = rest.dropFirst().first, isEscapable(next) {
        plain.append(next)
        rest = rest.dropFirst(2)
      } else {
        // Backticks without an end are text, also for shorter runs of them.
        let taken = first == "`" ? rest.prefix { $0 == "`" } : rest.prefix(1)
        plain.append(contentsOf: taken)
        rest = rest[taken.endIndex...]
      }
    }
    return plain.isEmpty ? spans : spans + [.text(plain)]
  }

  /// Returns the span with which `text` begins, and the text after it; `nil` if it begins with plain text.
  private static func span(
    at text: Substring, depth: Int, hasLinks: Bool
  ) -> (span: Span, after: Substring)? {
    guard let first = text.first else { return nil }
    switch first {
    case "`":
      guard let found = code(at: text) else { return nil }
      return (.code(found.code), found.after)
    case "*" where depth < deepestSpan:
      let marker = text.hasPrefix("**") ? "**" : "*"
      let inner = text.dropFirst(marker.count)
      guard inner.first?.isWhitespace == false, let end = end(marker, in: inner) else { return nil }
      let spans = spans(inner[..<end], depth: depth + 1, hasLinks: hasLinks)
      return (
        marker == "**" ? .strong(spans) : .emphasis(spans), inner[end...].dropFirst(marker.count)
      )
    case "[" where hasLinks && depth < deepestSpan:
      let inner = text.dropFirst()
      guard let end = end("]", in: inner) else { return nil }
      let target = inner[end...].dropFirst()
      guard target.hasPrefix("("), let close = target.firstIndex(of: ")") else { return nil }
      let destination = target[..<close].dropFirst()
      if destination.hasPrefix(rendered) {
        let name = spans(inner[..<end], depth: depth + 1, hasLinks: false).plainText
        return (.text(name), target[close...].dropFirst())
      }
      guard isAllowed(destination) else { return nil }
      return (
        .link(spans(inner[..<end], depth: depth + 1, hasLinks: false), String(destination)),
        target[close...].dropFirst()
      )
    case "<" where hasLinks:
      let prefix = "<doc:"
      guard text.hasPrefix(prefix) else { return nil }
      let name = text.dropFirst(prefix.count).prefix { character in
        character.isASCII && (character.isLetter || character.isNumber || character == "-")
      }
      guard !name.isEmpty, text[name.endIndex...].first == ">" else { return nil }
      return (.article(String(name)), text[name.endIndex...].dropFirst())
    default: return nil
    }
  }

  /// Returns the code with which `text` begins, between runs of equally many backticks, and the text after it.
  ///
  /// DocC's link to a symbol of another module, such as ` ``/Module/Type`` `, is the symbol's name.
  private static func code(at text: Substring) -> (code: String, after: Substring)? {
    let fence = text.prefix { $0 == "`" }.count
    let inner = text.dropFirst(fence)
    var rest = inner
    while let start = rest.firstIndex(of: "`") {
      let run = rest[start...].prefix { $0 == "`" }
      if run.count == fence {
        let code = inner[..<start]
        let isPadded = code.first == " " && code.last == " " && !code.isBlank
        let isSymbol = fence == 2 && code.hasPrefix("/")
        let name = isSymbol ? code.split(separator: "/").last : nil
        return (String(name ?? (isPadded ? code.dropFirst().dropLast() : code)), rest[run.endIndex...])
      }
      rest = rest[run.endIndex...]
    }
    return nil
  }

  /// Returns where `marker` ends a span that begins at the start of `text`. It does not end in code, and `*` not directly
  /// after white space.
  private static func end(_ marker: String, in text: Substring) -> Substring.Index? {
    var rest = text
    var isAfterSpace = true
    while let first = rest.first {
      if rest.hasPrefix(marker), marker == "]" || !isAfterSpace, marker != "*" || !rest.hasPrefix("**") {
        return rest.startIndex
      }
      isAfterSpace = first.isWhitespace
      if first == "`" {
        rest = code(at: rest)?.after ?? rest.drop { $0 == "`" }
      } else {
        rest = rest.dropFirst(first == "\\" || marker == "*" && rest.hasPrefix("**") ? 2 : 1)
      }
    }
    return nil
  }

  private static func isEscapable(_ character: Character) -> Bool {
    character.isASCII && (character.isPunctuation || character.isSymbol)
  }

  private static func isAllowed(_ destination: Substring) -> Bool {
    destinations.contains { destination.hasPrefix($0) && destination.count > $0.count }
      && destination.utf8.allSatisfy { 0x21..<0x7F ~= $0 }
  }
}
