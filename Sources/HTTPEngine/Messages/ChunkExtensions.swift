/// Judges what stands between a chunk's size and the end of its line, from the first `;` on (RFC 9112 §7.1.1):
/// names, each with a token or a quoted string at most. Nobody wants what they say; but what another reader could take
/// for a line's end must not hide in them.
struct ChunkExtensions: Hashable {
  private enum State: Hashable {
    /// A name has to come.
    case nameStart
    case name, nameEnd
    case valueStart
    case value, quoted, escape, quotedEnd, valueEnd
  }

  private var state = State.nameStart

  /// Whether the line may end here.
  var mayEnd: Bool { state == .name || state == .value || state == .quotedEnd }

  /// Takes the next byte behind the first `;`.
  /// - Returns: `false` where it breaks the grammar.
  mutating func read(_ byte: UInt8) -> Bool {
    switch state {
    case .nameStart where CharacterClass.token.contains(byte): state = .name
    case .valueStart where CharacterClass.token.contains(byte): state = .value
    case .valueStart where byte == UInt8(ascii: "\""): state = .quoted
    case .nameStart where Self.isBlank(byte), .valueStart where Self.isBlank(byte): break

    case .name where CharacterClass.token.contains(byte), .value where CharacterClass.token.contains(byte):
      break
    case .name where Self.isBlank(byte), .nameEnd where Self.isBlank(byte): state = .nameEnd
    case .name where byte == UInt8(ascii: "="), .nameEnd where byte == UInt8(ascii: "="): state = .valueStart

    case .quoted where byte == UInt8(ascii: "\""): state = .quotedEnd
    case .quoted where byte == UInt8(ascii: "\\"): state = .escape
    case .quoted where isFieldValueByte(byte), .escape where isFieldValueByte(byte): state = .quoted

    case .nameStart, .valueStart, .quoted, .escape: return false
    // A name or a value has ended, and so may be followed by the next.
    case _ where byte == UInt8(ascii: ";"): state = .nameStart
    case .value where Self.isBlank(byte), .quotedEnd where Self.isBlank(byte),
      .valueEnd where Self.isBlank(byte):
      state = .valueEnd
    default: return false
    }
    return true
  }

  /// “Bad” white space, which is to be read though nobody may send it.
  private static func isBlank(_ byte: UInt8) -> Bool { byte == .space || byte == .tab }
}
