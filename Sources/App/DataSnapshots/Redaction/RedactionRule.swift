public import Foundation
import JSONText

/// A rule that finds data which must never be written to disk.
///
/// Rules run in order, each on the result of the previous one, on a background queue before anything is written. They
/// affect only the recording: the result of ``SnapshotMode/process(data:uniqueIdentifier:)`` is never redacted. If a
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
    case keys(@Sendable (String) -> Bool)
    case path(JSONPathPattern)
    case text(TextRule)
    case data(@Sendable (Data, String) throws -> Data)

    /// Whether the step fails for data that begins like JSON but is invalid.
    var isAboutJSON: Bool {
      switch self {
      case .keys, .path: true
      case .text, .data: false
      }
    }
  }

  init(_ name: String, _ steps: [Step]) {
    self.name = name
    self.steps = steps
  }

  /// The replacement for removed text. To keep JSON valid, a number is replaced by `0`, a Boolean by `false`, an array
  /// by `[]` and an object by `{}`. In binary data, each removed byte is replaced by `*`.
  public static let mark = "[redacted]"

  /// Removes the value of each member of a JSON object whose key is one of `keys`, at any depth. Letter case, `-` and
  /// `_` are ignored: `access_token` matches `accessToken`.
  ///
  /// The data can be one JSON value or a sequence of values (JSON Lines), in UTF-8 or UTF-16. The rule fails for data
  /// that begins like JSON, for example with `{`, but is invalid. In other text, it removes the values of `key=value`
  /// and `key: value`, quoted or not.
  public static func jsonKeys(_ keys: [String], named name: String) -> RedactionRule {
    let wanted = Set(keys.map(SecretNames.normalized))
    return RedactionRule(name, [.keys { wanted.contains(SecretNames.normalized($0)) }])
  }

  /// Removes the JSON values at `path`, such as `user.addresses[*].street`. A path consists of keys (case-sensitive),
  /// `[0]` or `[*]` for one or all elements of an array, `*` for any member, `**` for any depth, and `['a.b']` for keys
  /// with special characters; it can start with `$.`. The rule fails for data that begins like JSON but is invalid.
  /// Other data is not changed.
  public static func jsonPath(
    _ path: String, named name: String
  ) throws(MalformedRule) -> RedactionRule {
    do throws(JSONPathPattern.Malformed) {
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
        name, [.text(.expression(try NSRegularExpression(pattern: pattern, options: options)))])
    } catch {
      throw MalformedRule(description: "‘\(pattern)’ is not a regular expression: \(error)")
    }
  }

  /// Replaces the data by the result of `body`, which receives the data and its identifier. If `body` throws, nothing
  /// is stored. Usually limited by ``only(_:)``.
  public static func custom(
    named name: String, _ body: @escaping @Sendable (Data, String) throws -> Data
  ) -> RedactionRule {
    RedactionRule(name, [.data(body)])
  }

  /// Limits the rule to recordings with these identifiers. One that ends in `*` matches all identifiers with that
  /// prefix. The identifier of an attachment is `attachments/` followed by its name.
  public func only(_ identifiers: String...) -> RedactionRule {
    var rule = self
    rule.scope = identifiers.map(IdentifierPattern.init)
    return rule
  }

  func applies(to identifier: String) -> Bool { scope?.contains { $0.matches(identifier) } ?? true }

  /// An invalid path or regular expression.
  public struct MalformedRule: Error, Sendable, CustomStringConvertible {
    /// A description of the problem.
    public let description: String
  }
}

/// An identifier, or a prefix if it ends in `*`.
struct IdentifierPattern: Hashable, Sendable {
  private let text: String
  private let isPrefix: Bool

  init(_ pattern: String) {
    isPrefix = pattern.hasSuffix("*")
    text = isPrefix ? String(pattern.dropLast()) : pattern
  }

  /// The specificity of the pattern: if several patterns match, the one with the highest weight applies.
  var weight: Int { isPrefix ? text.utf8.count : .max }

  func matches(_ identifier: String) -> Bool { isPrefix ? identifier.hasPrefix(text) : identifier == text }
}

extension [RedactionRule] {
  /// Rules for common secrets: ``RedactionRule/authorization``, ``RedactionRule/cookies``, ``RedactionRule/tokens``,
  /// ``RedactionRule/emailAddresses`` and ``RedactionRule/cardNumbers``.
  public static var usualSecrets: [RedactionRule] {
    [.authorization, .cookies, .tokens, .emailAddresses, .cardNumbers]
  }
}

extension RedactionRule {
  /// `Authorization` and similar names, as JSON keys and header fields; `Bearer …` and `Basic …` anywhere.
  public static let authorization = RedactionRule(
    "authorization",
    [
      .keys { SecretNames.authorization.contains(SecretNames.normalized($0)) },
      .text(.scan { AssignmentScanner(wholeLine: true) { SecretNames.authorization.contains($0) }.scan($0) }),
      .text(.scan(SecretScanner.schemes)),
    ])

  /// `Cookie` and `Set-Cookie`, as JSON keys and header fields.
  public static let cookies = RedactionRule(
    "cookies",
    [
      .keys { SecretNames.cookies.contains(SecretNames.normalized($0)) },
      .text(.scan { AssignmentScanner(wholeLine: true) { SecretNames.cookies.contains($0) }.scan($0) }),
    ])

  /// Tokens, passwords, keys and session ids: JSON values with such a key, `name=value` and `name: value` in text and
  /// identifiers, and JSON Web Tokens anywhere. Page tokens such as `pageToken` are kept, because a replay needs them.
  public static let tokens = RedactionRule(
    "tokens",
    [
      .keys(SecretNames.isCredential),
      .text(.scan { AssignmentScanner(wholeLine: false, SecretNames.isCredential).scan($0) }),
      .text(.scan(SecretScanner.webTokens)),
    ])

  /// E-mail addresses such as `anna@example.com`, including those with `%40` instead of `@`.
  public static let emailAddresses = RedactionRule("e-mail", [.text(.scan(SecretScanner.emailAddresses))])

  /// Payment card numbers, with or without single spaces or hyphens between digits. The issuer's prefix, the length and
  /// the check digit (Luhn) must be valid.
  public static let cardNumbers = RedactionRule("card-numbers", [.text(.scan(SecretScanner.cardNumbers))])
}

/// A search in text.
enum TextRule: Sendable {
  case expression(NSRegularExpression)
  case scan(@Sendable ([UInt8]) -> [Range<Int>])

  /// Whether the rule also applies to whole texts: true for custom regular expressions.
  var looksAtWholeText: Bool { if case .expression = self { true } else { false } }

  /// Returns the matches in `text`, which is UTF-8, as ordered ranges that do not overlap.
  func matches(in text: [UInt8]) -> [Range<Int>] {
    switch self {
    case .scan(let scan): return Self.merged(scan(text))
    case .expression(let expression):
      let string = String(decoding: text, as: UTF8.self)
      let all = NSRange(location: 0, length: string.utf16.count)
      let ranges = expression.matches(in: string, range: all).compactMap { match -> Range<Int>? in
        let group =
          match.numberOfRanges > 1 && match.range(at: 1).length > 0 ? match.range(at: 1) : match.range
        guard group.length > 0, let range = Range(group, in: string) else { return nil }
        let start = string.utf8.distance(from: string.startIndex, to: range.lowerBound)
        return start..<start + string.utf8.distance(from: range.lowerBound, to: range.upperBound)
      }
      return Self.merged(ranges)
    }
  }

  private static func merged(_ ranges: [Range<Int>]) -> [Range<Int>] {
    var merged: [Range<Int>] = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = merged.last, range.lowerBound < last.upperBound {
        merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        merged.append(range)
      }
    }
    return merged
  }
}
