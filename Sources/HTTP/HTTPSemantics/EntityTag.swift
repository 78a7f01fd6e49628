/// An entity tag (RFC 9110 §8.8.3).
public struct EntityTag: Sendable, Hashable, LosslessStringConvertible {
  /// Whether it names only what is equivalent, not what is equal byte by byte.
  public let isWeak: Bool
  /// The text between the quotes.
  public let opaque: String

  /// A tag that changes whenever a byte does. `opaque` is of visible ASCII without quotes.
  public static func strong(_ opaque: String) -> EntityTag {
    precondition(opaque.utf8.allSatisfy(isTagByte), "no entity tag: \(opaque)")
    return EntityTag(isWeak: false, opaque: opaque)
  }

  private init(isWeak: Bool, opaque: String) {
    self.isWeak = isWeak
    self.opaque = opaque
  }

  /// Reads `"…"` or `W/"…"`, else `nil`.
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

  /// The form on the wire.
  public var description: String { isWeak ? "W/\"\(opaque)\"" : "\"\(opaque)\"" }

  /// Both are strong and the same (RFC 9110 §8.8.3.2).
  public func matchesStrongly(_ other: EntityTag) -> Bool {
    !isWeak && !other.isWeak && matchesWeakly(other)
  }

  /// The same byte by byte, weak or not (RFC 9110 §8.8.3.2).
  public func matchesWeakly(_ other: EntityTag) -> Bool { opaque.utf8.elementsEqual(other.opaque.utf8) }

  private static func isTagByte(_ byte: UInt8) -> Bool { byte == 0x21 || byte >= 0x23 && byte != 0x7F }

  /// What `If-Match` and `If-None-Match` hold.
  public enum Condition: Sendable, Hashable {
    /// `*`: whatever is there.
    case any
    /// One of these.
    case tags([EntityTag])

    /// Reads a field's value, lists joined by commas; `nil` where it breaks the grammar.
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
