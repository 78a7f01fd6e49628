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
  private let scanners: TextScanner.Group
  private let expressions: [TextExpression]
  /// Whether nothing is ever found.
  let isIdle: Bool
  /// Whether text that is not a document can contain secrets.
  let readsText: Bool
  private var verdicts: [[UInt8]: Verdict] = [:]
  /// Whether a regular expression took too long, so that matches can be missing.
  private(set) var hasGivenUp = false

  init(_ steps: [RedactionRule.Step], _ placeholders: Placeholders) {
    self.placeholders = placeholders
    var (names, paths) = ([(Bool, @Sendable (String) -> Bool)](), [JSONPathPattern]())
    var (scanners, expressions) = (TextScanner.Group(), [TextExpression]())
    for step in steps {
      switch step {
      case .names(let isWholeLine, let isWanted): names.append((isWholeLine, isWanted))
      case .path(let path): paths.append(path)
      case .scan(let scanner): scanners.insert(scanner)
      case .expression(let expression): expressions.append(expression)
      case .data: break
      }
    }
    if !names.isEmpty { scanners.insert(.assignments) }
    (self.names, self.paths, self.scanners, self.expressions) = (names, paths, scanners, expressions)
    readsText = !scanners.isEmpty || !expressions.isEmpty
    isIdle = !readsText && paths.isEmpty
  }

  /// Whether a rule may look for a part of any number. Otherwise only long ones matter.
  var readsShortNumbers: Bool { !expressions.isEmpty }

  func verdict(_ name: some Collection<UInt8>) -> Verdict {
    let name = Array(name)
    if let known = verdicts[name] { return known }
    var verdict = Verdict()
    let whole = SecretNames.normalized(String(decoding: name, as: UTF8.self))
    // The last part of a qualified name counts too: `ns:password`, `user[password]`, `http.header.cookie`.
    let parts = name.split { ".:[]/;$".utf8.contains($0) }
    let last = parts.last.map { SecretNames.normalized(String(decoding: $0, as: UTF8.self)) } ?? whole
    for (isWholeLine, isWanted) in names where isWanted(whole) || last != whole && isWanted(last) {
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
    (scanners.scan(text) { self.verdict($0) } + matchesOfExpressions(in: text)).merged()
  }

  /// Finds the matches of regular expressions in a whole text, as ordered ranges that do not overlap.
  func expressionMatches(in text: [UInt8]) -> [Range<Int>] { matchesOfExpressions(in: text).merged() }

  private func matchesOfExpressions(in text: [UInt8]) -> [Range<Int>] {
    expressions.flatMap { expression -> [Range<Int>] in
      // What is left is not used then.
      guard !hasGivenUp, let matches = expression.matches(in: text) else {
        hasGivenUp = true
        return []
      }
      return matches
    }
  }
}

extension [Range<Int>] {
  /// The ranges in order; those that overlap become one.
  fileprivate func merged() -> [Range<Int>] {
    guard !isEmpty else { return [] }
    var merged: [Range<Int>] = []
    for range in sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound < last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<Swift.max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
