import JSONText

/// A pattern for the paths of JSON values, made of keys, indices and wildcards.
struct JSONPathPattern: Sendable, Hashable {
  enum Part: Sendable, Hashable {
    case key(String)
    case index(Int)
    case anyKey
    case anyIndex
    case anyDepth
  }

  let parts: [Part]

  /// Parses a path such as `user.addresses[*].street`.
  init(_ text: String) throws(RedactionRule.MalformedRule) {
    let malformed = RedactionRule.MalformedRule(
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
  func matches(_ place: [JSONPath.Step]) -> Bool {
    // The set of possible positions in the pattern is updated with each step, so that `**` does not cause backtracking.
    var states: Set<Int> = closure([0])
    for step in place {
      var next: Set<Int> = []
      for state in states where state < parts.count {
        switch (parts[state], step) {
        case (.anyDepth, _): next.insert(state)
        case (.key(let wanted), .key(let key)) where wanted == key: next.insert(state + 1)
        case (.index(let wanted), .index(let index)) where wanted == index: next.insert(state + 1)
        case (.anyKey, .key), (.anyIndex, .index): next.insert(state + 1)
        default: break
        }
      }
      if next.isEmpty { return false }
      states = closure(next)
    }
    return states.contains(parts.count)
  }

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
