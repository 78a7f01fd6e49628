public import Foundation

/// Something that never reaches the disk, and by what it is found.
///
/// Rules run one after another, each over what the former left, on a queue of their own and before anything is
/// written. They see the recording only: what ``SnapshotMode/process(data:uniqueIdentifier:)`` answers is never
/// redacted. A rule that fails keeps its recording from being stored at all.
///
///     configuration.redaction = .usualSecrets
///     configuration.redaction.append(.jsonKeys(["diagnosis"], named: "health"))
///     configuration.redaction.append(try .jsonPath("user.addresses[*].street", named: "streets"))
///     configuration.redaction.append(try .matching(#"\bAT\d{18}\b"#, named: "iban"))
public struct RedactionRule: Sendable {
  /// The name that stands in the manifest's `redactions`.
  public let name: String
  let steps: [Step]
  var scope: [IdentifierPattern]?

  /// One way to find something.
  enum Step: Sendable {
    case keys(@Sendable (String) -> Bool)
    case path(JSONPathPattern)
    case text(TextRule)
    case data(@Sendable (Data, String) throws -> Data)

    /// Whether it can't be done to what begins as JSON and is none.
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

  /// What stands in the place of text that was removed. A number becomes `0`, a boolean `false`, a list `[]` and an
  /// object `{}`, so that JSON stays JSON; in binary data as many `*` stand as there were bytes.
  public static let mark = "[redacted]"

  /// Removes the value of every member of a JSON object that has one of `keys`, at any depth. Upper and lower case,
  /// `-` and `_` make no difference: `access_token` finds `accessToken`.
  ///
  /// Reads one JSON value or several in a row (JSON Lines), in UTF-8 or UTF-16. Data that begins as JSON does, such as
  /// with `{`, and goes on in another way can't be judged: the rule fails. In other text, the values of `key=value`
  /// and `key: value` go, with or without quotes.
  public static func jsonKeys(_ keys: [String], named name: String) -> RedactionRule {
    let wanted = Set(keys.map(SecretNames.normalized))
    return RedactionRule(name, [.keys { wanted.contains(SecretNames.normalized($0)) }])
  }

  /// Removes the JSON values at `path`, such as `user.addresses[*].street`: keys as they are spelt, `[0]` or `[*]`
  /// for one element of a list or each, `*` for any member, `**` for any depth, `['a.b']` for a key with such
  /// characters; `$.` may stand in front. Data that begins as JSON does and is none fails; other data has no paths, and passes.
  public static func jsonPath(
    _ path: String, named name: String
  ) throws(MalformedRule) -> RedactionRule {
    RedactionRule(name, [.path(try JSONPathPattern(path))])
  }

  /// Removes what the regular expression `pattern` (in ICU's syntax) finds in text; where it has a group, what the
  /// first group finds.
  ///
  /// In JSON it looks at keys, strings (as they read without escapes) and numbers, and then at the whole text. It
  /// runs over identifiers too. Data that is no UTF-8 or UTF-16 is read as ISO 8859-1.
  public static func matching(
    _ pattern: String, options: NSRegularExpression.Options = [], named name: String
  ) throws(MalformedRule) -> RedactionRule {
    do {
      return RedactionRule(
        name, [.text(.expression(try NSRegularExpression(pattern: pattern, options: options)))])
    } catch {
      throw MalformedRule(description: "‘\(pattern)’ is no regular expression: \(error)")
    }
  }

  /// Runs `body` over the data, and the identifier that it came under; what it answers is stored. When it throws,
  /// nothing is. Usually limited by ``only(_:)``.
  public static func custom(
    named name: String, _ body: @escaping @Sendable (Data, String) throws -> Data
  ) -> RedactionRule {
    RedactionRule(name, [.data(body)])
  }

  /// The same rule for recordings under these identifiers alone; one that ends in `*` stands for all that begin so.
  /// Attachments have the identifier `attachments/` and their name.
  public func only(_ identifiers: String...) -> RedactionRule {
    var rule = self
    rule.scope = identifiers.map(IdentifierPattern.init)
    return rule
  }

  func applies(to identifier: String) -> Bool { scope?.contains { $0.matches(identifier) } ?? true }

  /// A path or an expression that can't be read.
  public struct MalformedRule: Error, Sendable, CustomStringConvertible {
    /// What is wrong with it.
    public let description: String
  }
}

/// An identifier, or with a `*` at its end all that begin so.
struct IdentifierPattern: Hashable, Sendable {
  private let text: String
  private let isPrefix: Bool

  init(_ pattern: String) {
    isPrefix = pattern.hasSuffix("*")
    text = isPrefix ? String(pattern.dropLast()) : pattern
  }

  /// How exact the pattern is: of several that match, the highest counts.
  var weight: Int { isPrefix ? text.utf8.count : .max }

  func matches(_ identifier: String) -> Bool { isPrefix ? identifier.hasPrefix(text) : identifier == text }
}
