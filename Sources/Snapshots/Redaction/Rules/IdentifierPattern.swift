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
