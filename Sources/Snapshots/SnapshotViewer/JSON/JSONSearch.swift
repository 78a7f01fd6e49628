package import JSONText

/// A search in the keys and values of a document. Case is ignored.
package struct JSONSearch: Sendable, Hashable {
  /// Which texts are searched.
  package enum Field: String, Sendable, Hashable {
    case key, value
  }

  /// Limits of a search.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of a query.
    package var query = 256
    /// The maximum number of bytes of one key or value that are searched.
    package var text = 64 << 10
    /// The maximum number of hits that are counted.
    package var hits = 10_000

    /// Creates limits with the default values.
    package init() {}
  }

  /// A key or value that contains the query.
  package struct Hit: Sendable, Hashable {
    /// The path to the value.
    package let path: JSONPath
    /// The index of the value in its container.
    package let index: Int
    /// What contains the query.
    package let field: Field
    /// The match and the text around it.
    package let excerpt: Excerpt
    /// The beginning of the value of a key that contains the query.
    package let value: JSONPreview.Item?
  }

  /// The hits of one page.
  package struct Result: Sendable, Hashable {
    /// The hits.
    package let hits: [Hit]
    /// The number of the first of them, from 0.
    package let from: Int
    /// The number of all hits.
    package let count: Int
    /// Whether there are more hits than ``count``.
    package let isCut: Bool
  }

  /// The text to find.
  package let text: String
  /// The only field to search; `nil` for keys and values.
  package let field: Field?

  private let pattern: SearchPattern

  /// Creates a search from a query: a text, which may begin with `key:` or `value:`. `nil` if it has no text, or more
  /// bytes than the limit.
  package init?(_ query: String, limits: Limits = Limits()) {
    guard query.utf8.count <= limits.query else { return nil }
    var text = query[...]
    var field: Field?
    for candidate in [Field.key, .value] where text.hasPrefix("\(candidate.rawValue):") {
      field = candidate
      text = text.dropFirst(candidate.rawValue.count + 1)
      break
    }
    guard !text.isEmpty else { return nil }
    self.text = String(text)
    self.field = field
    pattern = SearchPattern(self.text)
  }

  /// Finds the hits from number `from` on, at most `count`, by reading the whole document.
  package func hits(
    in view: JSONView, from: Int = 0, count: Int, limits: Limits = Limits()
  ) throws(ViewerError) -> Result {
    var cursor = JSONCursor(view, view.root, textLength: limits.text)
    var scanner = JSONSearchScanner(text, in: view.bytes)
    // All documents, which are one list if there are several.
    var open = [Level(isObject: false)]
    var hits: [Hit] = []
    var found = 0
    var isBetweenChildren = true
    while found <= limits.hits {
      if isBetweenChildren, let place = try scanner?.next(from: cursor.reader.tokenizer.offset) {
        try Self.pass(to: place, &cursor, &open, in: view)
      } else if isBetweenChildren, scanner != nil {
        break
      }
      guard let token = try cursor.token() else { break }
      isBetweenChildren = token != .key
      var text: [UInt8] = []
      switch token {
      case .key:
        open[open.count - 1].key = cursor.reader.tokenizer.range.lowerBound
        open[open.count - 1].index += 1
        if field == .value { continue }
        text = cursor.reader.tokenizer.text
      case .beginObject, .beginArray:
        open[open.count - 1].beginValue()
        open.append(Level(isObject: token == .beginObject))
        continue
      case .endObject, .endArray:
        open.removeLast()
        continue
      case .string, .number, .boolean, .null:
        open[open.count - 1].beginValue()
        if field == .key { continue }
        text = Self.text(of: token, cursor.reader)
      }
      guard let (text, range) = pattern.match(in: text[...]) else { continue }
      if found >= from, hits.count < count {
        let path = try Self.path(open.dropFirst(view.index.isSequence ? 0 : 1), in: view)
        hits.append(
          Hit(
            path: path, index: open[open.count - 1].index, field: token == .key ? .key : .value,
            excerpt: Excerpt(text, around: range),
            value: token == .key ? try Self.value(ofKeyAt: open[open.count - 1].key, in: view) : nil))
      }
      found += 1
    }
    return Result(hits: hits, from: from, count: min(found, limits.hits), isCut: found > limits.hits)
  }

  /// A container that has not ended.
  private struct Level {
    let isObject: Bool
    /// The index of the current child.
    var index = -1
    /// The offset of its key.
    var key = 0

    init(isObject: Bool) { self.isObject = isObject }

    mutating func beginValue() { if !isObject { index += 1 } }
  }

  /// Passes over children of the innermost container that end before `place`, as far as their places are known.
  private static func pass(
    to place: Int, _ cursor: inout JSONCursor, _ open: inout [Level], in view: JSONView
  ) throws(ViewerError) {
    while let container = cursor.container, place - cursor.reader.tokenizer.offset > view.index.shortestPass {
      if place >= Int(container.end) {
        try cursor.leave()
        open.removeLast()
      } else {
        let mark = view.index.lastMark(in: container) { Int($0.offset) <= place }
        guard let mark, Int(mark.offset) > cursor.reader.tokenizer.offset else { return }
        cursor.move(to: mark)
        open[open.count - 1].index = Int(mark.index) - 1
        return
      }
    }
  }

  private static func path(_ levels: ArraySlice<Level>, in view: JSONView) throws(ViewerError) -> JSONPath {
    var steps: [JSONPath.Step] = []
    for level in levels {
      if level.isObject {
        var reader = JSONReader(view.bytes, from: level.key, .value, textLength: view.limits.text)
        _ = try reader.token()
        steps.append(.key(reader.text))
      } else {
        steps.append(.index(level.index))
      }
    }
    return JSONPath(steps)
  }

  private static func value(ofKeyAt offset: Int, in view: JSONView) throws(ViewerError) -> JSONPreview.Item {
    var reader = JSONReader(
      view.bytes, from: offset, .child(isObject: true), textLength: view.limits.itemText)
    guard try reader.token() == .key, let token = try reader.token() else { throw .changed }
    return JSONPreview.Item(nil, token, reader, limit: view.limits.itemText)
  }

  private static func text(of token: JSONTokenizer.Token, _ reader: JSONReader) -> [UInt8] {
    switch token {
    case .boolean(let value): Array((value ? "true" : "false").utf8)
    case .null: Array("null".utf8)
    default: reader.tokenizer.text
    }
  }
}
