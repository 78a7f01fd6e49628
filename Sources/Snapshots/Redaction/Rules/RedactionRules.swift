public import Foundation

/// The redaction rules of a file, which an app and the command `snapshot redact` can read alike.
///
/// The file is JSON. A rule is the name of a preset or an object with one of `keys`, `path` and `matching`, with a
/// `name`, and if it is limited to some identifiers with `only`:
///
///     {
///       "rules": [
///         "usualSecrets",
///         {"name": "health", "keys": ["diagnosis"]},
///         {"name": "streets", "path": "user.addresses[*].street"},
///         {"name": "iban", "matching": "\\bAT\\d{18}\\b", "only": ["accounts/*"]}
///       ],
///       "unknownBinaries": "drop"
///     }
///
/// The presets are `usualSecrets`, `authorization`, `cookies`, `tokens`, `e-mail`, `card-numbers`, `phone-numbers` and
/// `uuids`. `unknownBinaries` is `drop` (default) or `keep`.
public struct RedactionRules: Sendable {
  /// The maximum size of a file in bytes.
  public static let sizeLimit = 1 << 20
  /// The maximum number of rules of a file; a preset can have several.
  public static let countLimit = 1000

  /// The rules, in the order of the file.
  public var rules: [RedactionRule]
  /// What happens to binary data of an unknown format.
  public var unknownBinaries: UnknownBinaries

  /// Creates rules.
  public init(_ rules: [RedactionRule], unknownBinaries: UnknownBinaries = .drop) {
    self.rules = rules
    self.unknownBinaries = unknownBinaries
  }

  /// Reads the rules in `json`, the contents of a file.
  public init(json: Data) throws(RedactionRule.MalformedRule) {
    guard json.count <= Self.sizeLimit else {
      throw .init(description: "the rules have \(json.count) bytes; the limit is \(Self.sizeLimit)")
    }
    let file: File
    do { file = try JSONDecoder().decode(File.self, from: json) } catch let error
      as RedactionRule
      .MalformedRule
    {
      throw error
    } catch {
      throw .init(description: Self.sentence(error))
    }
    guard file.rules.count <= Self.countLimit else {
      throw .init(description: "there are \(file.rules.count) rules; the limit is \(Self.countLimit)")
    }
    rules = file.rules.flatMap(\.rules)
    switch file.unknownBinaries {
    case nil, "drop": unknownBinaries = .drop
    case "keep": unknownBinaries = .keep
    case let word?:
      throw .init(description: "‘unknownBinaries’ is ‘\(word)’; it can be ‘drop’ or ‘keep’")
    }
  }

  private static func sentence(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "\(error)" }
    let context =
      switch error {
      case .typeMismatch(_, let context), .valueNotFound(_, let context), .keyNotFound(_, let context),
        .dataCorrupted(let context):
        context
      @unknown default: DecodingError.Context(codingPath: [], debugDescription: "\(error)")
      }
    let place = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
    return place.isEmpty
      ? "the rules are not valid JSON: \(context.debugDescription)"
      : "at \(place.drop { $0 == "." }): \(context.debugDescription)"
  }
}

extension RedactionRules {
  private struct File: Decodable {
    var rules: [Entry]
    var unknownBinaries: String?

    init(from decoder: any Decoder) throws {
      let members = try decoder.container(keyedBy: Name.self)
      try Name.check(members.allKeys, ["rules", "unknownBinaries"], "the file")
      rules = try members.decode([Entry].self, forKey: Name("rules"))
      unknownBinaries = try members.decodeIfPresent(String.self, forKey: Name("unknownBinaries"))
    }
  }

  private static let presets: [(name: String, rules: [RedactionRule])] = [
    ("usualSecrets", .usualSecrets), ("authorization", [.authorization]), ("cookies", [.cookies]),
    ("tokens", [.tokens]), ("e-mail", [.emailAddresses]), ("card-numbers", [.cardNumbers]),
    ("phone-numbers", [.phoneNumbers]), ("uuids", [.uuids]),
  ]

  /// A preset, or a rule of the user.
  private struct Entry: Decodable {
    let rules: [RedactionRule]

    init(from decoder: any Decoder) throws {
      do {
        let preset = try decoder.singleValueContainer().decode(String.self)
        guard let found = RedactionRules.presets.first(where: { $0.name == preset }) else {
          let names = RedactionRules.presets.map(\.name).joined(separator: ", ")
          throw RedactionRule.MalformedRule(description: "there is no preset ‘\(preset)’; there are \(names)")
        }
        rules = found.rules
      } catch DecodingError.typeMismatch {
        rules = [try Self.rule(decoder.container(keyedBy: Name.self))]
      }
    }

    private static func rule(_ members: KeyedDecodingContainer<Name>) throws -> RedactionRule {
      let name = try members.decode(String.self, forKey: Name("name"))
      try Name.check(members.allKeys, ["name", "keys", "path", "matching", "only"], "the rule ‘\(name)’")
      let keys = try members.decodeIfPresent([String].self, forKey: Name("keys"))
      let path = try members.decodeIfPresent(String.self, forKey: Name("path"))
      let matching = try members.decodeIfPresent(String.self, forKey: Name("matching"))
      var rule: RedactionRule
      switch (keys, path, matching) {
      case (let keys?, nil, nil): rule = .jsonKeys(keys, named: name)
      case (nil, let path?, nil): rule = try .jsonPath(path, named: name)
      case (nil, nil, let pattern?): rule = try .matching(pattern, named: name)
      default:
        throw RedactionRule.MalformedRule(
          description: "the rule ‘\(name)’ needs one of ‘keys’, ‘path’ and ‘matching’")
      }
      if let only = try members.decodeIfPresent([String].self, forKey: Name("only")) {
        rule = rule.only(only)
      }
      return rule
    }
  }

  private struct Name: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(_ name: String) { stringValue = name }
    init?(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }

    /// Throws for a member that is not known, so that a misspelt one is not ignored.
    static func check(_ names: [Name], _ known: [String], _ owner: String) throws(RedactionRule.MalformedRule)
    {
      guard let other = names.map(\.stringValue).filter({ !known.contains($0) }).min() else { return }
      throw .init(description: "\(owner) has an unknown member ‘\(other)’")
    }
  }
}
