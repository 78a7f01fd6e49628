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
    let isToken = CharacterClass.token.contains(byte)
    // “Bad” white space, which is to be read though nobody may send it.
    let isBlank = byte == .space || byte == .tab
    let next: State? =
      switch state {
      case .nameStart: isToken ? .name : isBlank ? .nameStart : nil
      case .name where isToken: .name
      case .name, .nameEnd:
        byte == UInt8(ascii: "=")
          ? .valueStart : byte == UInt8(ascii: ";") ? .nameStart : isBlank ? .nameEnd : nil
      case .valueStart: isToken ? .value : byte == UInt8(ascii: "\"") ? .quoted : isBlank ? .valueStart : nil
      case .value where isToken: .value
      case .value, .quotedEnd, .valueEnd: byte == UInt8(ascii: ";") ? .nameStart : isBlank ? .valueEnd : nil
      case .quoted where byte == UInt8(ascii: "\""): .quotedEnd
      case .quoted where byte == UInt8(ascii: "\\"): .escape
      case .quoted, .escape: isFieldValueByte(byte) ? .quoted : nil
      }
    guard let next else { return false }
    state = next
    return true
  }
}
