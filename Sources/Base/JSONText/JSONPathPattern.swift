/// A pattern for the paths of JSON values, made of keys, indices and wildcards: `user.addresses[*].street`.
///
/// It consists of keys, `[0]` or `[*]` for one or all elements of an array, `*` for any member, `**` for any depth, and
/// `['a.b']` for keys with special characters. It can start with `$.`.
package struct JSONPathPattern: Sendable, Hashable {
  private enum Part: Sendable, Hashable {
    case key(String)
    case index(Int)
    case anyKey
    case anyIndex
    case anyDepth
  }

  /// A text that is not a pattern.
  package struct Malformed: Error, Sendable, CustomStringConvertible {
    /// A sentence without a full stop that contains the text and shows correct patterns.
    package let description: String
  }

  private let parts: [Part]

  /// Parses a pattern.
  package init(_ text: String) throws(Malformed) {
    let malformed = Malformed(
      description: "‘\(text)’ is not a path such as user.addresses[*].street or $['a.b'].**.c")
    var rest = Substring(text)
    var parts: [Part] = []
    if rest.first == "$" {
      rest.removeFirst()
      if rest.first == "." { rest.removeFirst() }
    }
    while let first = rest.first {
      if first == "[" {
        guard let end = Self.end(ofBracket: rest) else { throw malformed }
        let content = rest[rest.index(after: rest.startIndex)..<end]
        rest = rest[rest.index(after: end)...]
        if content == "*" {
          parts.append(.anyIndex)
        } else if let index = Int(content), index >= 0 {
          parts.append(.index(index))
        } else if content.count >= 2, let quote = content.first, "'\"".contains(quote), content.last == quote
        {
          parts.append(.key(String(content.dropFirst().dropLast())))
        } else {
          throw malformed
        }
        if rest.first == "." {
          rest.removeFirst()
          if rest.isEmpty { throw malformed }
        }
      } else {
        let key = rest.prefix { $0 != "." && $0 != "[" }
        rest = rest[key.endIndex...]
        switch key {
        case "": throw malformed
        case "*": parts.append(.anyKey)
        case "**": parts.append(.anyDepth)
        default: parts.append(.key(String(key)))
        }
        if rest.first == "." {
          rest.removeFirst()
          if rest.isEmpty { throw malformed }
        }
      }
    }
    guard !parts.isEmpty, parts.last != .anyDepth else { throw malformed }
    self.parts = parts
  }

  /// The index of the bracket that closes the one at the start of `text`; a quoted key can contain brackets.
  private static func end(ofBracket text: Substring) -> Substring.Index? {
    let content = text.dropFirst()
    guard let quote = content.first, "'\"".contains(quote) else { return content.firstIndex(of: "]") }
    var index = content.index(after: content.startIndex)
    while index < content.endIndex {
      let next = content.index(after: index)
      if content[index] == quote, next < content.endIndex, content[next] == "]" { return next }
      index = next
    }
    return nil
  }

  /// Whether the pattern matches the value at `place`.
  package func matches(_ place: [JSONPath.Step]) -> Bool {
    var state = start
    for step in place {
      state = advance(state, by: step)
      if state.isEmpty { return false }
    }
    return isMatch(state)
  }

  // MARK: - Step by step

  /// The possible positions in the pattern after some steps of a path. If it is empty, no longer path matches either.
  ///
  /// All positions are tracked at once, so that `**` does not cause backtracking.
  package typealias State = Set<Int>

  /// The state for the top-level value.
  package var start: State { closure([0]) }

  /// Returns the state after another step.
  package func advance(_ state: State, by step: JSONPath.Step) -> State {
    var next: Set<Int> = []
    for position in state where position < parts.count {
      switch (parts[position], step) {
      case (.anyDepth, _): next.insert(position)
      case (.key(let wanted), .key(let key)) where wanted == key: next.insert(position + 1)
      case (.index(let wanted), .index(let index)) where wanted == index: next.insert(position + 1)
      case (.anyKey, .key), (.anyIndex, .index): next.insert(position + 1)
      default: break
      }
    }
    return closure(next)
  }

  /// Whether the pattern matches the path that led to `state`.
  package func isMatch(_ state: State) -> Bool { state.contains(parts.count) }

  private func closure(_ states: Set<Int>) -> Set<Int> {
    var all = states
    for var state in states {
      while state < parts.count, parts[state] == .anyDepth {
        state += 1
        all.insert(state)
      }
    }
    return all
  }
}
