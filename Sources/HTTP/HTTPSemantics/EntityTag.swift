/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Sendable, Hashable, LosslessStringConvertible {
  /// Whether the tag is weak: equal weak tags mean equivalent content, not equal bytes.
  public let isWeak: Bool
  /// The text between the quotes.
  public let opaque: String

  /// Creates a tag that changes whenever a byte changes. `opaque` must be visible ASCII without quotes.
  public static func strong(_ opaque: String) -> EntityTag {
    precondition(opaque.utf8.allSatisfy(isTagByte), "no entity tag: \(opaque)")
    return EntityTag(isWeak: false, opaque: opaque)
  }

  private init(isWeak: Bool, opaque: String) {
    self.isWeak = isWeak
    self.opaque = opaque
  }

  /// Reads `"…"` or `W/"…"`. Returns `nil` for any other text.
  public init?(_ text: String) {
    var scanner = FieldScanner(text)
    guard let tag = EntityTag(from: &scanner), scanner.isAtEnd else { return nil }
    self = tag
  }

  fileprivate init?(from scanner: inout FieldScanner) {
    isWeak = scanner.take("W")
    if isWeak, !scanner.take("/") { return nil }
    guard scanner.take("\"") else { return nil }
    opaque = scanner.take(while: Self.isTagByte) ?? ""
    guard scanner.take("\"") else { return nil }
  }

  /// The tag as written in a field.
  public var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

  /// Compares two tags strongly: both are strong and their text is equal (RFC 9110 §8.8.3.2).
  public func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && matchesWeakly(other)
  }

  /// Compares two tags weakly: their text is equal, whether they are weak or not (RFC 9110 §8.8.3.2).
  public func matchesWeakly(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }

  private static func isTagByte(_ byte: UInt8) -> Bool { byte == 0x21 || byte >= 0x23 && byte != 0x7F }

  /// The value of `If-Match` or `If-None-Match`.
  public enum Condition: Sendable, Hashable {
    /// `*`: matches any current representation.
    case any
    /// Matches one of these tags.
    case tags([EntityTag])

    /// Reads a field's value: `*`, or tags separated by commas. Returns `nil` if it is malformed.
    public init?(_ text: String) {
      var scanner = FieldScanner(text)
      scanner.skipWhitespace()
      if scanner.take("*") {
        scanner.skipWhitespace()
        guard scanner.isAtEnd else { return nil }
        self = .any
        return
      }
      var tags: [EntityTag] = []
      while !scanner.isAtEnd {
        if !scanner.take(",") {
          guard let tag = EntityTag(from: &scanner) else { return nil }
          tags.append(tag)
          scanner.skipWhitespace()
          guard scanner.isAtEnd || scanner.take(",") else { return nil }
        }
        scanner.skipWhitespace()
      }
      guard !tags.isEmpty else { return nil }
      self = .tags(tags)
    }
  }
}
