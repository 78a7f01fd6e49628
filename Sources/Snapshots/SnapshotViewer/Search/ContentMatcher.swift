import JSONText

/// Follows the tokens of JSON documents, and finds the keys and values that match a query.
struct ContentMatcher {
  /// The maximum number of bytes of a key in a path.
  static let keyLength = 1024

  /// A container that has not ended.
  struct Level {
    var isObject = false
    /// The index of the current child.
    var index = -1
    /// The beginning of its key.
    var key: [UInt8] = []
    /// The positions in the path of the query for the container, and for the current child.
    fileprivate var state: ContentPath.State = 0
    fileprivate var childState: ContentPath.State = 0
    /// Whether the key of the current child matches. For an array, whether its own key does.
    fileprivate var isAtKey = false
    /// A number that the caller gives to the container; `nil` at its beginning.
    var mark: Int?
  }

  /// A key or value that matches.
  struct Match {
    let field: ContentQuery.Field
    /// What matches, and where it does.
    let found: TextMatch
    /// The index of the value in its container, and the number of containers around it.
    let index: Int
    let depth: Int
  }

  private let query: ContentQuery
  private let test: ContentTest
  /// The containers around the current value. The first one contains all documents. Those behind `depth` are kept for
  /// their memory.
  private(set) var levels: [Level]
  /// The number of containers around the current value.
  private(set) var depth = 1

  init(_ query: ContentQuery) {
    self.query = query
    test = query.test ?? .any
    levels = [Level()]
    if case .path(let path) = query.place { levels[0].state = path.start }
  }

  /// The number of documents that have begun.
  var documents: Int { levels[0].index + 1 }

  /// Takes the next token. Returns the match in the key, or in the value that begins with the token.
  /// - Parameter text: the text of a key, a string or a number.
  mutating func take(_ token: JSONTokenizer.Token, _ text: [UInt8]) -> Match? {
    switch token {
    case .key: return key(text)
    case .beginObject, .beginArray:
      let isObject = token == .beginObject
      let isAtKey = beginValue()
      var match: Match?
      if isAtKey, test.holds(isObject: isObject) {
        match = self.match(.value, TextMatch(all: Array((isObject ? "{…}" : "[…]").utf8)[...]))
      }
      push(isObject: isObject)
      return match
    case .endObject, .endArray:
      leave()
      return nil
    case .string: return value(.string, text)
    case .number: return value(.number, text)
    case .boolean(let value): return self.value(.boolean, Array((value ? "true" : "false").utf8))
    case .null: return value(.null, Array("null".utf8))
    }
  }

  /// Continues behind the innermost container.
  mutating func leave() { depth = max(1, depth - 1) }

  /// Continues at a child of the innermost container.
  mutating func move(toChild index: Int) { levels[depth - 1].index = index - 1 }

  private mutating func key(_ text: [UInt8]) -> Match? {
    let last = depth - 1
    levels[last].index += 1
    levels[last].key.removeAll(keepingCapacity: true)
    levels[last].key.append(contentsOf: text.prefix(Self.keyLength))
    switch query.place {
    case .path(let path): levels[last].childState = path.advance(levels[last].state, key: text[...])
    case .key(let test): levels[last].isAtKey = test.match(inKey: text[...]) != nil
    case .anywhere(.value): break
    case .anywhere: return test.match(inKey: text[...]).map { match(.key, $0) }
    }
    return nil
  }

  private mutating func value(_ type: ContentType, _ text: [UInt8]) -> Match? {
    if beginValue(), let found = test.match(type, text[...]) { return match(.value, found) }
    if type == .string, let found = query.asText?.match(in: text[...]) { return match(.value, found) }
    return nil
  }

  private func match(_ field: ContentQuery.Field, _ found: TextMatch) -> Match {
    Match(field: field, found: found, index: levels[depth - 1].index, depth: depth)
  }

  /// Counts a value of the innermost container. Returns whether it is where the query wants it.
  private mutating func beginValue() -> Bool {
    let last = depth - 1
    let isElement = !levels[last].isObject
    if isElement { levels[last].index += 1 }
    switch query.place {
    case .anywhere(let field): return field != .key
    case .key: return levels[last].isAtKey
    case .path(let path):
      if isElement {
        let state = path.advance(levels[last].state, index: levels[last].index)
        // The path is one in the document, or in the list of all documents.
        levels[last].childState = last == 0 ? path.start | state : state
      }
      return path.isMatch(levels[last].childState)
    }
  }

  private mutating func push(isObject: Bool) {
    let parent = levels[depth - 1]
    if depth == levels.count { levels.append(Level()) }
    levels[depth].isObject = isObject
    levels[depth].index = -1
    levels[depth].state = parent.childState
    levels[depth].isAtKey = !isObject && parent.isAtKey
    levels[depth].mark = nil
    depth += 1
  }

  mutating func mark(_ level: Int, as mark: Int) { levels[level].mark = mark }

  /// The path to the current child of the container at `depth`.
  func path(depth: Int, isSequence: Bool) -> JSONPath {
    JSONPath(
      levels[..<depth].dropFirst(isSequence ? 0 : 1).map { level in
        level.isObject ? .key(String(wholeCharactersOf: level.key[...])) : .index(level.index)
      })
  }
}

extension ContentMatcher.Match {
  /// The path to the value.
  func path(in matcher: ContentMatcher, isSequence: Bool) -> JSONPath {
    matcher.path(depth: depth, isSequence: isSequence)
  }
}
