package import JSONText

/// A search in the keys and values of a document.
package struct JSONSearch: Sendable, Hashable {
  /// Limits of a search.
  package struct Limits: Sendable, Hashable {
    /// The maximum number of bytes of one key or value that are searched.
    package var text = 64 << 10
    /// The maximum number of hits that are counted.
    package var hits = 10_000

    /// Creates limits with the default values.
    package init() {}
  }

  /// A key or value that matches the query.
  package struct Hit: Sendable, Hashable {
    /// The path to the value.
    package let path: JSONPath
    /// The index of the value in its container.
    package let index: Int
    /// What matches the query.
    package let field: ContentQuery.Field
    /// The match and the text around it.
    package let excerpt: Excerpt
    /// The beginning of the value of a key that matches the query.
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

  private let query: ContentQuery

  /// Creates a search.
  package init(_ query: ContentQuery) { self.query = query }

  /// Finds the hits from number `from` on, at most `count`, by reading the whole document.
  package func hits(
    in view: JSONView, from: Int = 0, count: Int, limits: Limits = Limits()
  ) throws(ViewerError) -> Result {
    var cursor = JSONCursor(view, view.root, textLength: limits.text)
    var scanner = query.matchLiteral.flatMap { JSONSearchScanner($0, in: view.bytes) }
    var matcher = ContentMatcher(query)
    var hits: [Hit] = []
    var found = 0
    var isBetweenChildren = true
    while found <= limits.hits {
      if isBetweenChildren, let place = try scanner?.next(from: cursor.reader.tokenizer.offset) {
        try Self.pass(to: place, &cursor, &matcher, in: view)
      } else if isBetweenChildren, scanner != nil {
        break
      }
      guard let token = try cursor.token() else { break }
      isBetweenChildren = token != .key
      guard let match = matcher.take(token, cursor.reader.tokenizer.text) else { continue }
      if found >= from, hits.count < count {
        let isKey = match.field == .key
        hits.append(
          Hit(
            path: match.path(in: matcher, isSequence: view.index.isSequence), index: match.index,
            field: match.field, excerpt: Excerpt(match.found),
            value: isKey ? try Self.value(ofKeyAt: cursor.reader.tokenizer.range.lowerBound, in: view) : nil))
      }
      found += 1
    }
    return Result(hits: hits, from: from, count: min(found, limits.hits), isCut: found > limits.hits)
  }

  /// Passes over children of the innermost container that end before `place`, as far as their places are known.
  private static func pass(
    to place: Int, _ cursor: inout JSONCursor, _ matcher: inout ContentMatcher, in view: JSONView
  ) throws(ViewerError) {
    while let container = cursor.container, place - cursor.reader.tokenizer.offset > view.index.shortestPass {
      if place >= Int(container.end) {
        try cursor.leave()
        matcher.leave()
      } else {
        let mark = view.index.lastMark(in: container) { Int($0.offset) <= place }
        guard let mark, Int(mark.offset) > cursor.reader.tokenizer.offset else { return }
        cursor.move(to: mark)
        matcher.move(toChild: Int(mark.index))
        return
      }
    }
  }

  private static func value(ofKeyAt offset: Int, in view: JSONView) throws(ViewerError) -> JSONPreview.Item {
    var reader = JSONReader(
      view.bytes, from: offset, .child(isObject: true), textLength: view.limits.itemText)
    guard try reader.token() == .key, let token = try reader.token() else { throw .changed }
    return JSONPreview.Item(nil, token, reader, limit: view.limits.itemText)
  }
}
