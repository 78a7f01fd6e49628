import JSONText

/// Decides by the rules which names and texts are secret. It is made for one recording, and judges each name only once.
final class Judge {
  /// What the rules say about a name, such as the key of a JSON value or the name of a header field.
  struct Verdict {
    /// Whether the value with this name is removed.
    var isSecret = false
    /// Whether it extends to the end of the line in text, as that of a header field does.
    var isWholeLine = false
    /// Whether a rule finds something in the name itself.
    var hasMatches = false
    var role = Role.other
  }

  /// The part of a name in a list of pairs, such as `{"name": "Authorization", "value": "…"}`.
  enum Role { case name, value, other }

  /// What replaces what is secret.
  let placeholders: Placeholders
  private let names: [(isWholeLine: Bool, isWanted: @Sendable (String) -> Bool)]
  let paths: [JSONPathPattern]
  private let texts: [TextRule]
  /// Whether a rule may look for a part of any number. Otherwise only long ones matter.
  let readsShortNumbers: Bool
  private var verdicts: [[UInt8]: Verdict] = [:]
  /// Whether a regular expression took too long, so that matches can be missing.
  private(set) var hasGivenUp = false

  init(_ steps: [RedactionRule.Step], _ placeholders: Placeholders) {
    self.placeholders = placeholders
    var (names, paths, texts) = ([(Bool, @Sendable (String) -> Bool)](), [JSONPathPattern](), [TextRule]())
    for step in steps {
      switch step {
      case .names(let isWholeLine, let isWanted): names.append((isWholeLine, isWanted))
      case .path(let path): paths.append(path)
      case .text(let rule): texts.append(rule)
      case .data: break
      }
    }
    (self.names, self.paths, self.texts) = (names, paths, texts)
    readsShortNumbers = texts.contains { $0.isExpression }
  }

  /// Whether nothing is ever found.
  var isIdle: Bool { names.isEmpty && paths.isEmpty && texts.isEmpty }
  /// Whether text that is not a document can contain secrets.
  var readsText: Bool { !names.isEmpty || !texts.isEmpty }

  func verdict(_ name: some Collection<UInt8>) -> Verdict {
    let name = Array(name)
    if let known = verdicts[name] { return known }
    var verdict = Verdict()
    let whole = String(decoding: name, as: UTF8.self)
    // The last part of a qualified name counts too: `ns:password`, `user[password]`, `http.header.cookie`.
    let last = name.split { ".:[]/;$".utf8.contains($0) }.last.map { String(decoding: $0, as: UTF8.self) }
    for (isWholeLine, isWanted) in names where isWanted(whole) || last.map(isWanted) == true {
      verdict.isSecret = true
      verdict.isWholeLine = verdict.isWholeLine || isWholeLine
    }
    verdict.role = SecretNames.role(whole)
    verdict.hasMatches = !matches(in: name).isEmpty
    verdicts[name] = verdict
    return verdict
  }

  /// Finds secrets in `text`, as ordered ranges that do not overlap.
  func matches(in text: [UInt8]) -> [Range<Int>] {
    var found = names.isEmpty ? [] : AssignmentScanner(verdict: verdict).scan(text)
    for rule in texts { found += matches(of: rule, in: text) }
    return TextRule.merged(found)
  }

  private func matches(of rule: TextRule, in text: [UInt8]) -> [Range<Int>] {
    // What is left is not used then.
    guard !hasGivenUp, let matches = rule.matches(in: text) else {
      hasGivenUp = true
      return []
    }
    return matches
  }

  /// Finds the matches of regular expressions in a whole text, as ordered ranges that do not overlap.
  func expressionMatches(in text: [UInt8]) -> [Range<Int>] {
    guard readsShortNumbers else { return [] }
    return TextRule.merged(texts.filter(\.isExpression).flatMap { matches(of: $0, in: text) })
  }
}
