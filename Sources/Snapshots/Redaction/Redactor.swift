package import Foundation

/// Applies rules to data before it is stored.
package struct Redactor: Sendable {
  /// Increases when rules find more than before, so that an app applies them to its recordings again.
  package static let engine = 2

  package let rules: [RedactionRule]
  package let unknownBinaries: UnknownBinaries
  private let placeholders: Placeholders

  package init(
    rules: [RedactionRule], unknownBinaries: UnknownBinaries = .drop, placeholders: Placeholders = .uniform
  ) {
    self.rules = rules
    self.unknownBinaries = unknownBinaries
    self.placeholders = placeholders
  }

  /// Returns a redactor with the rules for which `isIncluded` is true, and with the same placeholders.
  package func filtered(_ isIncluded: (RedactionRule) -> Bool) -> Redactor {
    Redactor(
      rules: rules.filter(isIncluded), unknownBinaries: unknownBinaries, placeholders: placeholders)
  }

  /// The reason why data could not be redacted.
  package struct Failure: Error, CustomStringConvertible {
    /// The rule that failed; `nil` if no rule can be applied.
    let rule: String?
    let cause: any Error

    /// The limit that was reached; `nil` if a rule failed.
    package var limit: RedactionLimit? { cause as? RedactionLimit }

    package var description: String {
      guard let rule else { return "no redaction rule can be applied, so nothing was stored: \(cause)" }
      return "the rule ‘\(rule)’ could not be applied, so nothing was stored: \(cause)"
    }
  }

  /// Returns `data` after redaction; unchanged if no rule matches. `identifier` is the data's identifier.
  package func redact(_ data: Data, as identifier: String) throws(Failure) -> Data {
    try redact(data, as: identifier, placeholders)
  }

  /// Returns `data` after redaction, the same for all secrets, also if it is redacted already. This is for comparisons.
  package func redactUniformly(_ data: Data, as identifier: String) throws(Failure) -> Data {
    Data(Placeholders.unified(Array(try redact(data, as: identifier, .uniform))))
  }

  private func redact(
    _ data: Data, as identifier: String, _ placeholders: Placeholders
  ) throws(Failure) -> Data {
    var data = data
    // Rules up to the next one with code of the app are applied together, so that the data is read only once.
    var steps: [RedactionRule.Step] = []
    for rule in rules where rule.applies(to: identifier) {
      for step in rule.steps {
        guard case .data(let body) = step else {
          steps.append(step)
          continue
        }
        data = try search(data, steps, placeholders)
        steps = []
        do { data = try body(data, identifier) } catch { throw Failure(rule: rule.name, cause: error) }
      }
    }
    return try search(data, steps, placeholders)
  }

  private func search(
    _ data: Data, _ steps: [RedactionRule.Step], _ placeholders: Placeholders
  ) throws(Failure) -> Data {
    let judge = Judge(steps, placeholders)
    guard !judge.isIdle, !data.isEmpty else { return data }
    do throws(RedactionLimit) {
      let bytes = Array(data)
      let left = try SecretSearch(judge: judge, unknownBinaries: unknownBinaries).cleaned(bytes)
      if judge.hasGivenUp { throw .tooSlow }
      return left == bytes ? data : Data(left)
    } catch {
      throw Failure(rule: nil, cause: error)
    }
  }

  /// Returns `identifier` after redaction. All text rules apply to it, even if they are limited to other identifiers.
  ///
  /// The result is the same at every launch and for all secrets, so that the recording is found.
  package func redact(identifier: String) -> String {
    guard !rules.isEmpty else { return identifier }
    let redacted = redact(identifier, Judge(steps(aboutText: identifier), .uniform))
    return String(decoding: Placeholders.unified(Array(redacted.utf8)), as: UTF8.self)
  }

  /// Returns text that a user or the app has written, such as a note, after redaction.
  package func redact(words: String) -> String {
    rules.isEmpty ? words : redact(words, Judge(steps(aboutText: ""), placeholders))
  }

  private func steps(aboutText identifier: String) -> [RedactionRule.Step] {
    rules.filter { $0.isAboutText || $0.applies(to: identifier) }.flatMap(\.steps)
  }

  private func redact(_ text: String, _ judge: Judge) -> String {
    let bytes = Array(text.utf8)
    let edits: [Edit]
    do throws(RedactionLimit) {
      edits = try TextFormat.edits(in: bytes, SecretSearch(judge: judge, unknownBinaries: .keep), 0).merged()
      if judge.hasGivenUp { throw .tooSlow }
    } catch {
      return RedactionRule.mark
    }
    return edits.isEmpty ? text : String(decoding: edits.applied(to: bytes), as: UTF8.self)
  }

  /// Returns the value of a header field or of another named text after redaction by the rules that apply to
  /// `identifier`.
  package func redact(field name: String, _ value: String, as identifier: String) -> String {
    let judge = Judge(rules.filter { $0.applies(to: identifier) }.flatMap(\.steps), placeholders)
    guard judge.verdict(name.utf8).isSecret else { return redact(value, judge) }
    return placeholders.keeps(Array(value.utf8))
      ? value : String(decoding: placeholders.text(value.utf8), as: UTF8.self)
  }

  /// The names of the rules that apply to data with `identifier` or to the identifier itself.
  package func names(for identifier: String) -> [String] {
    rules.filter { $0.isAboutText || $0.applies(to: identifier) }.map(\.name)
  }
}
