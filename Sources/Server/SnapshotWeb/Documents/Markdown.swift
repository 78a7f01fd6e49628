/// A document in the subset of Markdown that the articles use: headings, paragraphs, lists, tables, blocks of code, code,
/// emphasis, links, and DocC's links to articles.
///
/// Everything else is text. In particular, HTML is text.
struct Markdown: Sendable, Hashable {
  /// A part of a document.
  indirect enum Block: Sendable, Hashable {
    /// A heading of a level from 1 to 6. Its id is unique in the document.
    case heading(level: Int, id: String, [Span])
    case paragraph([Span])
    case list(isOrdered: Bool, items: [[Block]])
    /// A table. Each row has as many cells as `header`.
    case table(header: [[Span]], rows: [[[Span]]])
    /// The lines of a block of code.
    case code([String])
  }

  /// A part of a line.
  indirect enum Span: Sendable, Hashable {
    case text(String)
    case code(String)
    case emphasis([Span])
    case strong([Span])
    /// A link to a URL, a path on this server, or `#` and the id of a heading.
    case link([Span], String)
    /// A link to the article with this file name, without its ending: `<doc:API>`.
    case article(String)

    /// The text without its markup.
    var plainText: String {
      switch self {
      case .text(let text), .code(let text), .article(let text): text
      case .emphasis(let spans), .strong(let spans), .link(let spans, _): spans.plainText
      }
    }
  }

  /// The parts of the document.
  let blocks: [Block]

  /// Parses a document. Every text is one.
  init(_ text: String) {
    var parser = BlockParser(text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...])
    blocks = parser.blocks()
  }

  /// Returns the id of a heading: lower-case letters and digits, with hyphens between words.
  static func id(_ heading: String) -> String {
    let words = heading.lowercased().split { !$0.isLetter && !$0.isNumber }
    return words.isEmpty ? "section" : words.joined(separator: "-")
  }
}

extension [Markdown.Span] {
  /// The text without its markup.
  var plainText: String { map(\.plainText).joined() }
}

/// Divides lines into blocks.
private struct BlockParser {
  /// The maximum depth of nested lists. The text of deeper ones is a paragraph.
  private static let deepest = 8
  private static let indentation = "    "

  private var lines: ArraySlice<Substring>
  private let depth: Int
  private var ids: Set<String> = []

  init(_ lines: ArraySlice<Substring>, depth: Int = 0) {
    self.lines = lines
    self.depth = depth
  }

  mutating func blocks() -> [Markdown.Block] {
    var blocks: [Markdown.Block] = []
    while let line = lines.first {
      if line.isBlank { lines.removeFirst() } else { blocks.append(block(line)) }
    }
    return blocks
  }

  /// Takes the lines of the block that begins with `line`.
  private mutating func block(_ line: Substring) -> Markdown.Block {
    if let level = level(line) { return heading(line, level: level) }
    if let fence = Self.fence(line) { return fencedCode(fence) }
    if let header = header() { return table(header) }
    if let marker = marker(line) { return list(isOrdered: marker.isOrdered) }
    if line.hasPrefix(Self.indentation) { return indentedCode() }
    return paragraph()
  }

  /// Whether the first line begins a block that can follow a paragraph without a blank line.
  private var interruptsParagraph: Bool {
    guard let line = lines.first else { return true }
    return line.isBlank || level(line) != nil || Self.fence(line) != nil || marker(line) != nil
      || header() != nil
  }

  private mutating func paragraph() -> Markdown.Block {
    var text = String((lines.popFirst() ?? "").trimmed)
    while !interruptsParagraph, let line = lines.popFirst() {
      text.append(" ")
      text.append(contentsOf: line.trimmed)
    }
    return .paragraph(Markdown.spans(text))
  }

  // MARK: - Headings

  /// Returns the level of the heading in `line`, or `nil` if it has none. Items of lists have no headings.
  private func level(_ line: Substring) -> Int? {
    let level = line.prefix { $0 == "#" }.count
    return depth == 0 && 1...6 ~= level && line.dropFirst(level).first == " " ? level : nil
  }

  private mutating func heading(_ line: Substring, level: Int) -> Markdown.Block {
    lines.removeFirst()
    let spans = Markdown.spans(String(line.dropFirst(level).trimmed))
    let name = Markdown.id(spans.plainText)
    var (id, number) = (name, 1)
    while !ids.insert(id).inserted {
      number += 1
      id = "\(name)-\(number)"
    }
    return .heading(level: level, id: id, spans)
  }

  // MARK: - Code

  /// Returns the number of backticks with which `line` begins a block of code, or `nil` if it does not.
  private static func fence(_ line: Substring) -> Int? {
    let count = line.prefix { $0 == "`" }.count
    return count >= 3 && !line.dropFirst(count).contains("`") ? count : nil
  }

  /// Takes a block of code up to its last line, or up to the end of the document.
  private mutating func fencedCode(_ fence: Int) -> Markdown.Block {
    lines.removeFirst()
    var code: [String] = []
    while let line = lines.popFirst() {
      let end = line.trimmed
      if end.count >= fence, end.allSatisfy({ $0 == "`" }) { break }
      code.append(String(line))
    }
    return .code(code)
  }

  private mutating func indentedCode() -> Markdown.Block {
    var code: [String] = []
    while let line = lines.first, line.isBlank || line.hasPrefix(Self.indentation) {
      code.append(String(line.dropFirst(Self.indentation.count)))
      lines.removeFirst()
    }
    while code.last?[...].isBlank == true { code.removeLast() }
    return .code(code)
  }

  // MARK: - Tables

  /// Returns the cells of the head if the first two lines are the head of a table and its rule.
  private func header() -> [String]? {
    guard let line = lines.first, line.hasPrefix("|"), let rule = lines.dropFirst().first, rule.hasPrefix("|")
    else { return nil }
    let (header, rules) = (Self.cells(line), Self.cells(rule))
    guard header.count == rules.count, !header.isEmpty,
      rules.allSatisfy({ $0.contains("-") && $0.allSatisfy { $0 == "-" || $0 == ":" } })
    else { return nil }
    return header
  }

  private mutating func table(_ header: [String]) -> Markdown.Block {
    lines.removeFirst(2)
    var rows: [[[Markdown.Span]]] = []
    while let line = lines.first, line.hasPrefix("|") {
      lines.removeFirst()
      var cells = Self.cells(line).prefix(header.count).map(Markdown.spans)
      while cells.count < header.count { cells.append([]) }
      rows.append(cells)
    }
    return .table(header: header.map(Markdown.spans), rows: rows)
  }

  /// Returns the texts between the bars of `line`. `\|` is not a bar, even in code (GitHub Flavored Markdown §4.10).
  private static func cells(_ line: Substring) -> [String] {
    var cells: [String] = []
    var cell = ""
    var isEscaped = false
    for character in line.trimmed.dropFirst() {
      if character == "|", !isEscaped {
        cells.append(String(cell[...].trimmed))
        cell = ""
      } else {
        if character == "|" { cell.removeLast() }
        cell.append(character)
      }
      isEscaped = character == "\\" && !isEscaped
    }
    return cell[...].isBlank ? cells : cells + [String(cell[...].trimmed)]
  }

  // MARK: - Lists

  /// Returns the length and kind of the marker with which `line` begins an item of a list, or `nil` if it does not.
  private func marker(_ line: Substring) -> (length: Int, isOrdered: Bool)? {
    guard depth < Self.deepest else { return nil }
    if line.hasPrefix("- ") || line.hasPrefix("* ") { return (2, false) }
    let digits = line.prefix { "0"..."9" ~= $0 }.count
    return 1...9 ~= digits && line.dropFirst(digits).hasPrefix(". ") ? (digits + 2, true) : nil
  }

  private mutating func list(isOrdered: Bool) -> Markdown.Block {
    var items: [[Markdown.Block]] = []
    while let line = lines.first, let marker = marker(line), marker.isOrdered == isOrdered {
      items.append(item(marker.length))
      let next = lines.drop(while: \.isBlank)
      if let line = next.first, self.marker(line) != nil { lines = next }
    }
    return .list(isOrdered: isOrdered, items: items)
  }

  /// Takes the lines of an item: the first, and those that are indented like its text.
  private mutating func item(_ length: Int) -> [Markdown.Block] {
    let indentation = String(repeating: " ", count: length)
    var item = [(lines.popFirst() ?? "").dropFirst(length)]
    while let line = lines.drop(while: \.isBlank).first, line.hasPrefix(indentation) {
      while let line = lines.first, line.isBlank || line.hasPrefix(indentation) {
        item.append(line.dropFirst(length))
        lines.removeFirst()
      }
    }
    var parser = BlockParser(item[...], depth: depth + 1)
    return parser.blocks()
  }
}

extension Substring {
  /// Whether the text has nothing but white space.
  var isBlank: Bool { allSatisfy(\.isWhitespace) }

  /// The text without white space at its ends.
  var trimmed: Substring {
    var text = drop(while: \.isWhitespace)
    while text.last?.isWhitespace == true { text.removeLast() }
    return text
  }
}
