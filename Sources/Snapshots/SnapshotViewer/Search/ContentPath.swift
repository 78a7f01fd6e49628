import JSONText

/// A pattern for the paths of values in JSON: keys, indices, and wildcards for both.
///
/// The positions in the pattern that a path can have reached are the bits of a ``State``, so that a step costs the same
/// for every pattern, and any depth does not cause backtracking.
package struct ContentPath: Sendable, Hashable {
  /// The positions in the pattern after the steps of a path.
  typealias State = UInt64

  /// The maximum number of steps.
  static let limit = 60

  private enum Step: Sendable, Hashable {
    case key([UInt8])
    case index(Int)
    case anyKey
    case anyIndex
    /// A token of a JSON Pointer that consists of digits: an index in an array, a key in an object.
    case token([UInt8], index: Int)
  }

  private var steps: [Step] = []
  /// The positions that also stay where they are, because any number of steps may come first.
  private var deep: State = 0

  /// Whether the pattern can stand for only one path.
  private(set) var isExact = true

  /// The state for a whole document.
  var start: State { 1 }

  /// The state after another step.
  func advance(_ state: State, key: ArraySlice<UInt8>) -> State {
    advance(state) { step in
      switch step {
      case .key(let wanted), .token(let wanted, _): wanted.elementsEqual(key)
      case .anyKey: true
      case .index, .anyIndex: false
      }
    }
  }

  /// The state after another step.
  func advance(_ state: State, index: Int) -> State {
    advance(state) { step in
      switch step {
      case .index(let wanted), .token(_, let wanted): wanted == index
      case .anyIndex: true
      case .key, .anyKey: false
      }
    }
  }

  /// Whether the pattern matches the path that led to `state`.
  func isMatch(_ state: State) -> Bool { state & 1 << State(steps.count) != 0 }

  private func advance(_ state: State, _ matches: (Step) -> Bool) -> State {
    var next = state & deep
    var rest = state
    while rest != 0 {
      let position = rest.trailingZeroBitCount
      rest &= rest - 1
      if position < steps.count, matches(steps[position]) { next |= 1 << State(position + 1) }
    }
    return next
  }

  /// The last key, if the last step is a key.
  var lastKey: String? {
    if case .key(let key) = steps.last { String(decoding: key, as: UTF8.self) } else { nil }
  }

  /// The longest key.
  var longestKey: String? {
    let keys = steps.compactMap { step -> [UInt8]? in if case .key(let key) = step { key } else { nil } }
    return keys.max { $0.count < $1.count }.map { String(decoding: $0, as: UTF8.self) }
  }

  private mutating func append(_ step: Step, isDeep: Bool) throws(ContentQuery.Malformed) {
    guard steps.count < Self.limit else { throw .pathTooLong }
    if isDeep {
      deep |= 1 << State(steps.count)
      isExact = false
    }
    switch step {
    case .anyKey, .anyIndex: isExact = false
    default: break
    }
    steps.append(step)
  }
}

extension ContentPath {
  /// Whether `text` begins as a path does, and not as another text: `.name`, `["name"]` after a dot, `..name`, `$.`, `$[`
  /// or `/name`.
  static func begins(_ text: ArraySlice<UInt8>) -> Bool {
    let rest = text.dropFirst()
    func isStep(_ byte: UInt8?) -> Bool {
      guard let byte else { return false }
      return byte >= 0x80 || (0x41...0x5A).contains(byte & 0xDF) || "_[*".utf8.contains(byte)
    }
    switch text.first {
    case UInt8(ascii: "$"): return rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: "[")
    case UInt8(ascii: "."):
      return isStep(rest.first == UInt8(ascii: ".") ? rest.dropFirst().first : rest.first)
    case UInt8(ascii: "/"): return !rest.isEmpty && rest.first != UInt8(ascii: "/")
    default: return false
    }
  }

  /// Reads the path at the beginning of `text`, up to a colon outside of brackets and quotation marks.
  /// - Returns: The path, and what follows it.
  static func parse(
    _ text: ArraySlice<UInt8>
  ) throws(ContentQuery.Malformed) -> (ContentPath, rest: ArraySlice<UInt8>) {
    text.first == UInt8(ascii: "/") ? try pointer(text) : try steps(text)
  }

  private static func pointer(
    _ text: ArraySlice<UInt8>
  ) throws(ContentQuery.Malformed) -> (ContentPath, rest: ArraySlice<UInt8>) {
    let written = text.prefix { $0 != UInt8(ascii: ":") }
    guard let tokens = JSONPath.tokens(ofPointer: String(decoding: written, as: UTF8.self)) else {
      throw .path(String(decoding: written, as: UTF8.self))
    }
    var path = ContentPath()
    for token in tokens {
      let key = Array(token.utf8)
      if let index = Int(token), index >= 0, token == "\(index)" {
        try path.append(.token(key, index: index), isDeep: false)
      } else {
        try path.append(.key(key), isDeep: false)
      }
    }
    return (path, text[written.endIndex...])
  }

  private static func steps(
    _ text: ArraySlice<UInt8>
  ) throws(ContentQuery.Malformed) -> (ContentPath, rest: ArraySlice<UInt8>) {
    let (dot, bracket) = (UInt8(ascii: "."), UInt8(ascii: "["))
    var rest = text
    if rest.first == UInt8(ascii: "$") { rest.removeFirst() }
    var path = ContentPath()
    while let first = rest.first, first == dot || first == bracket {
      let isDeep = rest.starts(with: [dot, dot])
      if first == dot { rest = rest.dropFirst(isDeep ? 2 : 1) }
      if rest.first == bracket {
        try path.append(Self.bracket(&rest, text), isDeep: isDeep)
        continue
      }
      let key = rest.prefix { $0 != dot && $0 != bracket && $0 != UInt8(ascii: ":") }
      rest = rest[key.endIndex...]
      if key.elementsEqual([UInt8(ascii: "*")]) {
        try path.append(.anyKey, isDeep: isDeep)
      } else {
        guard !key.isEmpty, !key.contains(UInt8(ascii: "*")) else {
          throw .path(String(decoding: text, as: UTF8.self))
        }
        try path.append(.key(Array(key)), isDeep: isDeep)
      }
    }
    guard !path.steps.isEmpty, rest.isEmpty || rest.first == UInt8(ascii: ":") else {
      throw .path(String(decoding: text, as: UTF8.self))
    }
    return (path, rest)
  }

  /// Reads `[0]`, `[*]`, `["key"]` or `['key']`.
  private static func bracket(
    _ rest: inout ArraySlice<UInt8>, _ text: ArraySlice<UInt8>
  ) throws(ContentQuery.Malformed) -> Step {
    let malformed = ContentQuery.Malformed.path(String(decoding: text, as: UTF8.self))
    rest.removeFirst()
    let step: Step
    switch rest.first {
    case UInt8(ascii: "*"):
      rest.removeFirst()
      step = .anyIndex
    case UInt8(ascii: "\""):
      guard let quoted = QuotedText(&rest) else { throw malformed }
      step = .key(Array(quoted.text.utf8))
    case UInt8(ascii: "'"):
      let key = rest.dropFirst().prefix { $0 != UInt8(ascii: "'") }
      rest = rest[min(key.endIndex + 1, rest.endIndex)...]
      step = .key(Array(key))
    default:
      let digits = rest.prefix { (0x30...0x39).contains($0) }
      guard let index = Int(String(decoding: digits, as: UTF8.self)) else { throw malformed }
      rest = rest[digits.endIndex...]
      step = .index(index)
    }
    guard rest.popFirst() == UInt8(ascii: "]") else { throw malformed }
    return step
  }
}

/// A text between quotation marks, with the escape sequences of JSON.
struct QuotedText {
  let text: String

  /// Reads the text at the beginning of `rest` and removes it; `nil` if there is none, or if it has no end.
  init?(_ rest: inout ArraySlice<UInt8>) {
    var tokenizer = JSONTokenizer()
    tokenizer.feed(Array(rest))
    do { guard try tokenizer.next() == .string else { return nil } } catch { return nil }
    text = String(decoding: tokenizer.text, as: UTF8.self)
    rest = rest.dropFirst(tokenizer.range.upperBound)
  }
}
