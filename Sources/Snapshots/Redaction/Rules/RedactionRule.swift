public import Foundation
import JSONText

/// A rule that finds data which must never be written to disk.
///
/// Rules run in order, each on the result of the previous one, on a background queue before anything is written. They
/// affect only the recording: the app always gets the data as it was. If a
/// rule fails, the recording is not stored.
///
///     configuration.redaction = .usualSecrets
///     configuration.redaction.append(.jsonKeys(["diagnosis"], named: "health"))
///     configuration.redaction.append(try .jsonPath("user.addresses[*].street", named: "streets"))
///     configuration.redaction.append(try .matching(#"\bAT\d{18}\b"#, named: "iban"))
public struct RedactionRule: Sendable {
  /// The rule's name in the manifest's `redactions`.
  public let name: String
  let steps: [Step]
  var scope: [IdentifierPattern]?

  /// One search method of a rule.
  enum Step: Sendable {
    /// The values with a name, which is normalized.
    case names(wholeLine: Bool, @Sendable (String) -> Bool)
    case path(JSONPathPattern)
    case scan(TextScanner)
    case expression(TextExpression)
    case data(@Sendable (Data, String) throws -> Data)
  }

  init(_ name: String, _ steps: [Step]) {
    self.name = name
    self.steps = steps
  }

  /// The replacement for text in identifiers and URLs, which must be the same at every launch.
  ///
  /// In contents, equal texts become equal placeholders with roughly the same length, such as `[redacted-0F1E2D3C]`, until
  /// the app ends. An integer with at least six digits becomes another one with as many, another number `0`, a Boolean
  /// `false`, an array `[]` and an object `{}`. In binary data, each removed byte is replaced by `*`.
  public static let mark = "[redacted]"
  static let markBytes = Array(mark.utf8)

  /// Removes the value of each member of a JSON object whose key is one of `keys`, at any depth. Letter case, `-` and
  /// `_` are ignored: `access_token` matches `accessToken`.
  ///
  /// The data can be one JSON value or a sequence of values (JSON Lines), in UTF-8 or UTF-16. In other
  /// text, it removes the values of `key=value` and `key: value`, quoted or not.
  public static func jsonKeys(_ keys: [String], named name: String) -> RedactionRule {
    let wanted = Set(keys.map(SecretNames.normalized))
    return RedactionRule(name, [.names(wholeLine: false) { wanted.contains($0) }])
  }

  /// Removes the JSON values at `path`, such as `user.addresses[*].street`. A path consists of keys (case-sensitive),
  /// `[0]` or `[*]` for one or all elements of an array, `*` for any member, `**` for any depth, and `['a.b']` for keys
  /// with special characters; it can start with `$.`. Data that
  /// is not valid JSON is not changed.
  public static func jsonPath(
    _ path: String, named name: String
  ) throws(MalformedRule) -> RedactionRule {
    do {
      return RedactionRule(name, [.path(try JSONPathPattern(path))])
    } catch {
      throw MalformedRule(description: error.description)
    }
  }

  /// Removes the matches of the regular expression `pattern` (ICU syntax) in text; if it has a capture group, only the
  /// match of the first group.
  ///
  /// In JSON, it is applied to keys, strings (unescaped) and numbers, and then to the whole text. It is also applied to
  /// identifiers. Data that is neither UTF-8 nor UTF-16 is read as ISO 8859-1.
  public static func matching(
    _ pattern: String, options: NSRegularExpression.Options = [], named name: String
  ) throws(MalformedRule) -> RedactionRule {
    do {
      return RedactionRule(
        name, [.expression(TextExpression(try NSRegularExpression(pattern: pattern, options: options)))])
    } catch {
      throw MalformedRule(description: "‘\(pattern)’ is not a regular expression: \(error)")
    }
  }

  /// Replaces the data by the result of `body`, which receives the data and its identifier. If `body` throws, nothing
  /// is stored. Usually limited by ``only(_:)-(String...)``.
  public static func custom(
    named name: String, _ body: @escaping @Sendable (Data, String) throws -> Data
  ) -> RedactionRule {
    RedactionRule(name, [.data(body)])
  }

  /// Limits the rule to recordings with these identifiers. One that ends in `*` matches all identifiers with that
  /// prefix. The identifier of an attachment is `attachments/` followed by its name.
  public func only(_ identifiers: String...) -> RedactionRule { only(identifiers) }

  /// Limits the rule to recordings with these identifiers, as the form with single arguments does.
  public func only(_ identifiers: [String]) -> RedactionRule {
    var rule = self
    rule.scope = identifiers.map(IdentifierPattern.init)
    return rule
  }

  /// Whether the rule can be applied to its own result: an expression could find the marks, and code of the app anything.
  package var isRepeatable: Bool {
    steps.allSatisfy { step in
      switch step {
      case .names, .path, .scan: true
      case .expression, .data: false
      }
    }
  }

  /// Whether the rule also applies to identifiers.
  var isAboutText: Bool {
    steps.contains { step in
      switch step {
      case .scan, .expression: true
      case .names, .path, .data: false
      }
    }
  }

  /// Whether the rule looks for a path in JSON, which may not exist.
  package var isAboutPath: Bool { steps.contains { if case .path = $0 { true } else { false } } }

  package func applies(to identifier: String) -> Bool { scope?.contains { $0.matches(identifier) } ?? true }

  /// An invalid path or regular expression.
  public struct MalformedRule: Error, Sendable, CustomStringConvertible {
    /// A description of the problem.
    public let description: String
  }
}

/// An identifier, or a prefix if it ends in `*`.
package struct IdentifierPattern: Hashable, Sendable {
  private let text: String
  private let isPrefix: Bool

  package init(_ pattern: String) {
    isPrefix = pattern.hasSuffix("*")
    text = isPrefix ? String(pattern.dropLast()) : pattern
  }

  /// The specificity of the pattern: if several patterns match, the one with the highest weight applies.
  package var weight: Int { isPrefix ? text.utf8.count : .max }

  package func matches(_ identifier: String) -> Bool {
    isPrefix ? identifier.hasPrefix(text) : identifier == text
  }
}
