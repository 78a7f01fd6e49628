/// Objects and arrays, and where what is in them begins and ends.
extension JSONTokenizer {
  /// Reads the byte that stands next, where nothing is begun.
  mutating func begin(_ byte: UInt8) throws(JSONFailure) -> Token? {
    switch byte {
    case 0x20, 0x0A, 0x0D, 0x09:
      // Documents that people read are spaces for a good part.
      repeat { position += 1 } while position < piece.count && piece[position] == 0x20
      return nil
    case UInt8(ascii: "\""): try beginText()
    case UInt8(ascii: ","):
      guard expectation == .separator, let isObject = containers.last else { throw failure(.unexpected) }
      expectation = isObject ? .key : .value
      position += 1
    case UInt8(ascii: ":"):
      guard expectation == .colon else { throw failure(.unexpected) }
      expectation = .value
      position += 1
    case UInt8(ascii: "{"), UInt8(ascii: "["): return try open(isObject: byte == UInt8(ascii: "{"))
    case UInt8(ascii: "}"), UInt8(ascii: "]"): return try close(isObject: byte == UInt8(ascii: "}"))
    case UInt8(ascii: "t"): try beginWord(.true)
    case UInt8(ascii: "f"): try beginWord(.false)
    case UInt8(ascii: "n"): try beginWord(.null)
    case 0xEF where offset == 0:
      lexeme = .mark(1)
      position += 1
    default:
      guard let number = JSONNumber(byte, isLenient: configuration.isLenient) else {
        throw failure(.unexpected)
      }
      try beginValue()
      keep(byte)
      lexeme = .number(number)
      position += 1
    }
    return nil
  }

  private mutating func open(isObject: Bool) throws(JSONFailure) -> Token {
    try beginValue()
    guard containers.count < configuration.depth else { throw failure(.depth(configuration.depth)) }
    containers.append(isObject)
    expectation = isObject ? .keyOrEnd : .valueOrEnd
    return take(isObject ? .beginObject : .beginArray)
  }

  private mutating func close(isObject: Bool) throws(JSONFailure) -> Token {
    let isAllowed = expectation == .separator || expectation == (isObject ? .keyOrEnd : .valueOrEnd)
    guard isAllowed, containers.last == isObject else { throw failure(.unexpected) }
    start = offset
    containers.removeLast()
    endValue()
    return take(isObject ? .endObject : .endArray)
  }

  /// Takes a token of one byte, or the last byte of one.
  mutating func take(_ token: Token) -> Token {
    position += 1
    range = start..<offset
    return token
  }

  /// Notes that a value begins here, where one may.
  mutating func beginValue() throws(JSONFailure) {
    guard expectation == .value || expectation == .valueOrEnd else { throw failure(.unexpected) }
    start = offset
    if !text.isEmpty { text.removeAll(keepingCapacity: true) }
    textLength = 0
    isUnicode = true
  }

  mutating func endValue() {
    lexeme = .none
    expectation = !containers.isEmpty ? .separator : configuration.isLenient ? .value : .nothing
  }

  private mutating func beginText() throws(JSONFailure) {
    isKey = expectation == .key || expectation == .keyOrEnd
    if isKey { expectation = .value }
    try beginValue()
    lexeme = .text
    position += 1
  }

  private mutating func beginWord(_ word: Word) throws(JSONFailure) {
    try beginValue()
    lexeme = .word(word, matched: 1)
    position += 1
  }

  /// Ends what only the end of all bytes ends.
  mutating func end() throws(JSONFailure) -> Token? {
    if case .number(let number) = lexeme, number.isWhole {
      endValue()
      range = start..<offset
      return .number
    }
    guard isBetweenDocuments else { throw failure(.incomplete) }
    return nil
  }
}
