import JSONText

/// Rules for JSON values that differ in any two snapshots, such as timestamps and tokens, and are not compared.
///
/// A rule that contains `.`, `[` or `*`, or starts with `$`, is a path such as `$.items[*].token`: keys, `[0]` or `[*]`
/// for one or all elements of an array, `*` for any member, `**` for any depth, and `['a.b']` for keys with special
/// characters. Any other rule is a key. It matches at any depth, and letter case, `-` and `_` make no difference:
/// `updated_at` matches `updatedAt`.
///
/// A value that matches is not compared, nor is any value in it. It makes no difference whether it is there at all.
public struct ComparisonFilter: Sendable, Hashable {
  /// The limits for rules.
  public enum Limits {
    /// The maximum number of rules.
    public static let rules = 100
    /// The maximum length of a rule, in bytes.
    public static let ruleLength = 200
  }

  /// The reason why rules can't be used.
  public struct MalformedRule: Error, Sendable, Hashable, CustomStringConvertible {
    /// A sentence that contains the malformed rule.
    public let description: String
  }

  /// The rules as they were given.
  public let rules: [String]

  private let keys: Set<String>
  private let patterns: [JSONPathPattern]

  /// Creates a filter that omits nothing.
  public init() { (rules, keys, patterns) = ([], [], []) }

  /// Creates a filter from rules. White space around a rule, empty rules and repeated ones are ignored.
  /// - Throws: A description of the first rule that is not one, or the exceeded limit.
  public init(rules texts: some Sequence<String>) throws(MalformedRule) {
    var rules: [String] = []
    var keys: Set<String> = []
    var patterns: [JSONPathPattern] = []
    for text in texts {
      let rule = Self.trimmed(text)
      if rule.isEmpty || rules.contains(rule) { continue }
      guard rule.utf8.count <= Limits.ruleLength else {
        throw MalformedRule(description: "A rule can have at most \(Limits.ruleLength) bytes.")
      }
      guard rules.count < Limits.rules else {
        throw MalformedRule(description: "There can be at most \(Limits.rules) rules.")
      }
      rules.append(rule)
      if rule.utf8.contains(where: { ".[*$".utf8.contains($0) }) {
        do {
          patterns.append(try JSONPathPattern(rule))
        } catch {
          throw MalformedRule(description: error.description + ".")
        }
      } else {
        keys.insert(Self.normalized(rule))
      }
    }
    (self.rules, self.keys, self.patterns) = (rules, keys, patterns)
  }

  /// Creates a filter from rules that are separated by commas or line ends.
  public init(_ text: String) throws(MalformedRule) {
    try self.init(rules: text.split { $0 == "," || $0.isNewline }.map(String.init))
  }

  /// Whether nothing is omitted.
  public var isEmpty: Bool { rules.isEmpty }

  /// Whether the value at `path` or one around it is omitted.
  package func omits(_ path: JSONPath) -> Bool {
    guard !isEmpty else { return false }
    var position = start
    for step in path.steps {
      position = advance(position, by: step)
      if case .key(let key) = step, omits(key: key) { return true }
      if omits(position) { return true }
    }
    return false
  }

  /// Whether paths matter, and not only keys.
  var hasPatterns: Bool { !patterns.isEmpty }

  /// Whether a value with this key is omitted, wherever it is.
  func omits(key: String) -> Bool { !keys.isEmpty && keys.contains(Self.normalized(key)) }

  private static func trimmed(_ text: String) -> String {
    let start = text.drop { $0.isWhitespace }
    guard let end = start.lastIndex(where: { !$0.isWhitespace }) else { return "" }
    return String(start[...end])
  }

  private static func normalized(_ key: String) -> String {
    String(key.lowercased().filter { $0 != "-" && $0 != "_" })
  }
}

extension ComparisonFilter {
  /// The states of all patterns at a value.
  struct Position {
    fileprivate var states: [JSONPathPattern.State]
  }

  /// The position of the top-level value.
  var start: Position { Position(states: patterns.map(\.start)) }

  /// Returns the position of a child.
  func advance(_ position: Position, by step: JSONPath.Step) -> Position {
    Position(states: zip(patterns, position.states).map { $1.isEmpty ? [] : $0.advance($1, by: step) })
  }

  /// Whether the value at `position` is omitted.
  func omits(_ position: Position) -> Bool {
    zip(patterns, position.states).contains { $0.isMatch($1) }
  }
}
