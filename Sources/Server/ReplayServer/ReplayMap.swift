import Foundation
import HTTPTypes

/// Rules by which recordings that are not exchanges answer requests: `news/feed=/api/feed`.
///
/// A rule is an identifier, `=`, and a path. Both can end in `*`, which stands for the same text in both:
/// `news/*=/api/*`. A method can precede the path, as in `login=POST /api/login`; without one, the rule applies to `GET`
/// and `HEAD`. A path without a query answers requests with any query, and a path with one only those with the same. The
/// first rule that fits an identifier applies.
package struct ReplayMap: Sendable {
  /// A text that is not a rule, with the reason.
  package struct Malformed: Error, CustomStringConvertible {
    package let description: String
  }

  /// What a rule makes of an identifier.
  struct Target: Hashable {
    let method: String
    /// The path and the query, as they are requested.
    let path: String
  }

  /// A rule.
  package struct Rule: Sendable {
    /// The rule as it was written.
    package let text: String
    /// The identifier, or the beginning of identifiers.
    package let identifier: String
    fileprivate let method: String
    fileprivate let path: String
    fileprivate let isPattern: Bool

    /// Reads a rule.
    package init(_ text: String) throws(Malformed) {
      self.text = text
      guard let sign = Self.sign(in: text) else {
        throw Malformed(
          description:
            "‘\(text.prefix(200))’ is not an identifier, an equals sign and a path, as news/feed=/api/feed."
        )
      }
      var identifier = String(text[..<sign])
      let target = text[text.index(after: sign)...]
      let place = target.firstIndex(of: "/") ?? target.endIndex
      var path = String(target[place...])
      method = place == target.startIndex ? "GET" : String(target[..<place].dropLast())
      isPattern = identifier.hasSuffix("*") && path.hasSuffix("*")
      if isPattern {
        identifier.removeLast()
        path.removeLast()
      } else if identifier.hasSuffix("*") || path.hasSuffix("*") {
        throw Malformed(description: "‘\(text.prefix(200))’ has a * at the end of one side only.")
      }
      guard path.utf8.allSatisfy({ (0x21...0x7E).contains($0) && $0 != UInt8(ascii: "#") }) else {
        throw Malformed(
          description: "The path of ‘\(text.prefix(200))’ has a character that must be percent-encoded.")
      }
      self.identifier = identifier
      self.path = path
    }

    /// The equals sign before the path or the method.
    private static func sign(in text: String) -> String.Index? {
      text.indices.first { index in
        guard text[index] == "=" else { return false }
        let rest = text[text.index(after: index)...]
        if rest.first == "/" { return true }
        let method = rest.prefix { $0.isASCII && $0.isUppercase }
        return !method.isEmpty && rest.dropFirst(method.count).hasPrefix(" /")
      }
    }

    fileprivate func target(of name: String) -> Target? {
      guard isPattern else { return name == identifier ? Target(method: method, path: path) : nil }
      guard name.hasPrefix(identifier) else { return nil }
      return Target(method: method, path: path + Self.encoded(name.dropFirst(identifier.count)))
    }

    /// Escapes what a path can't contain. Slashes, and escapes that are there already, stay.
    private static func encoded(_ text: Substring) -> String {
      text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }

    private static let plain = CharacterSet(charactersIn: "a"..."z").union(
      CharacterSet(charactersIn: "A"..."Z")
    )
    .union(CharacterSet(charactersIn: "0123456789!$&'()*+,-./:;=@_~%"))
  }

  /// The rules in the order in which they are tried.
  package let rules: [Rule]

  /// Creates a map of `rules`.
  package init(_ rules: [Rule] = []) throws(Malformed) {
    guard rules.count <= ReplayLimits.rules else {
      throw Malformed(description: "There are \(rules.count) rules; the limit is \(ReplayLimits.rules).")
    }
    self.rules = rules
  }

  /// Reads the rules in a file: one a line. Empty lines and those that begin with `#` are ignored.
  package static func rules(in file: String) throws(Malformed) -> [Rule] {
    var rules: [Rule] = []
    for (index, line) in file.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let text = String(line.drop { $0 == " " || $0 == "\t" })
      if text.isEmpty || text.hasPrefix("#") { continue }
      do {
        rules.append(try Rule(text))
      } catch {
        throw Malformed(description: "Line \(index + 1): \(error.description)")
      }
    }
    return rules
  }

  /// What the rules make of `identifier`, and the index of the rule; `nil` if none fits.
  func target(of identifier: String) -> (target: Target, rule: Int)? {
    for (index, rule) in rules.enumerated() {
      if let target = rule.target(of: identifier) { return (target, index) }
    }
    return nil
  }
}
