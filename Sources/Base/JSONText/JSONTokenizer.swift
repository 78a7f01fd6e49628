/// Reads JSON (RFC 8259, in UTF-8) token by token from bytes that arrive in pieces of any size. It is a pure value
/// without I/O. Its memory use is proportional to the nesting depth and to the length of one string; ``Configuration``
/// limits both.
///
///     tokenizer.feed(piece)
///     while let token = try tokenizer.next() { … }
///
/// Duplicate keys of an object are not detected; the caller decides how to treat them. A byte order mark at the
/// beginning is skipped (§8.1). After an error, nothing more can be read.
package struct JSONTokenizer: Sendable {
  /// Limits and options for reading.
  package struct Configuration: Sendable, Hashable {
    /// The maximum nesting of objects and arrays. Deeper nesting is an error.
    package var depth = 512
    /// The maximum number of bytes of one string or number that are kept. Further bytes are read and counted.
    package var textLength = Int.max
    /// Whether numbers, and keys and strings without escape sequences are kept too. They are in the document as they are.
    package var keepsPlainText = true
    /// Whether strings are kept as written, with escape sequences not decoded.
    package var keepsEscapes = false
    /// Whether to accept common input that RFC 8259 does not allow: several documents in a row (JSON Lines), numbers
    /// with leading zeros, and escape sequences of any character, which stand for that character.
    package var isLenient = false
    /// Whether several documents may follow each other (JSON Lines), also with record separators (RFC 7464).
    package var allowsSequence = false

    /// Creates a configuration with the default values.
    package init() {}
  }

  /// The elements of a document. The contents of keys, strings and numbers are in ``text``.
  package enum Token: Sendable, Hashable {
    case beginObject, endObject, beginArray, endArray, key, string, number, boolean(Bool), null
  }

  /// The tokens that are allowed next, outside a string, number or literal.
  private enum Expectation { case value, valueOrEnd, key, keyOrEnd, colon, separator, nothing }

  /// The token that has begun but not ended.
  private enum Lexeme: Equatable {
    case none
    case mark(Int)
    case text
    case escape
    /// Inside `\u`: the number of digits read and their value.
    case digits(count: Int, value: UInt32)
    case number(JSONNumber)
    case word(Word, matched: Int)
  }

  private enum Word { case `true`, `false`, null }

  /// The decoded characters of the last key or string, or the last number as written, limited to the configured length.
  /// An unpaired surrogate is kept as three bytes, which are not valid UTF-8.
  package var text: [UInt8] { characters.bytes }
  /// The number of bytes that ``text`` would have without the limit.
  package var textLength: Int { characters.length }
  /// Whether the last key or string is valid Unicode, that is, without unpaired surrogates.
  package var isUnicode: Bool { characters.isUnicode }
  /// Whether the last key or string is in the document as it is, between the quotes at ``range``. It is false if that is
  /// not known, as for one in several pieces.
  package private(set) var isPlain = false
  /// The position of the last token, as byte offsets in the document.
  package private(set) var range = 0..<0

  /// Whether there was a record separator before a document (RFC 7464).
  package private(set) var isSeparated = false

  private let configuration: Configuration
  /// The bytes that were fed last.
  package private(set) var piece: [UInt8] = []
  /// The offset of the next byte in `piece`, and the offset of `piece` in the document.
  private var position = 0
  private var base = 0
  private var isAtEnd = false

  private var expectation = Expectation.value
  private var lexeme = Lexeme.none
  /// The open containers; `true` for an object, `false` for an array.
  private var containers: [Bool] = []
  private var start = 0
  private var validation = UTF8Validation()
  private var characters: JSONTextBuffer
  private var isKey = false
  /// The container that is being passed over.
  private var skip: JSONSkip?

  /// Creates a tokenizer at the beginning of a document.
  package init(_ configuration: Configuration = Configuration()) {
    self.configuration = configuration
    characters = JSONTextBuffer(limit: configuration.textLength)
  }

  /// A place in a document at which reading can begin.
  package enum Start: Sendable, Hashable {
    /// A value begins at the offset.
    case value
    /// A member of an object or an element of an array begins at the offset.
    case child(isObject: Bool)
    /// A member of an object or an element of an array ended before the offset.
    case afterChild(isObject: Bool)
  }

  /// Creates a tokenizer that reads a document from `offset` on. The caller knows from an earlier pass over the same
  /// bytes that `start` describes the place. Reading ends with the value, or with the container of the child.
  package init(_ configuration: Configuration, from offset: Int, _ start: Start) {
    self.init(configuration)
    base = offset
    switch start {
    case .value: break
    case .child(let isObject):
      containers = [isObject]
      expectation = isObject ? .key : .value
    case .afterChild(let isObject):
      containers = [isObject]
      expectation = .separator
    }
  }

  /// The number of open objects and arrays.
  package var depth: Int { containers.count }

  /// The number of bytes read.
  package var offset: Int { base + position }

  /// Whether all bytes were read and the document is complete.
  package var isComplete: Bool {
    isAtEnd && position == piece.count && isBetweenDocuments
  }

  /// Whether no token, object or array is open and the document may end.
  private var isBetweenDocuments: Bool {
    let mayEnd = expectation == .nothing || allowsSequence && expectation == .value
    return mayEnd && lexeme == .none && containers.isEmpty
  }

  private var allowsSequence: Bool { configuration.isLenient || configuration.allowsSequence }

  /// Adds the next bytes. Call it after ``next()`` has returned `nil`.
  package mutating func feed(_ bytes: [UInt8]) {
    piece = position == piece.count ? bytes : piece[position...] + bytes
    base += position
    position = 0
  }

  /// Marks the end of the input: no more bytes follow.
  package mutating func finish() { isAtEnd = true }

  /// The next token. Returns `nil` if more bytes are needed, and after ``finish()`` at the end of a complete document.
  package mutating func next() throws(JSONFailure) -> Token? {
    while position < piece.count {
      if case .none = lexeme {
        if let token = try begin(piece[position]) { return token }
      } else if let token = try goOn() {
        return token
      }
    }
    return isAtEnd ? try end() : nil
  }

  private func failure(_ reason: JSONFailure.Reason) -> JSONFailure {
    JSONFailure(reason, offset: offset)
  }

  /// The error for a caller that does not allow the last token at its place.
  package var failure: JSONFailure { JSONFailure(.unexpected, offset: range.lowerBound) }

  // MARK: Objects, arrays, and the beginnings and ends of values

  // The functions that most bytes pass through are inlined into `next()`, which is faster by a fifth.

  /// Reads the next byte outside any token.
  @inline(__always)
  private mutating func begin(_ byte: UInt8) throws(JSONFailure) -> Token? {
    switch byte {
    case 0x20, 0x0A, 0x0D, 0x09:
      // Fast path: formatted documents contain long runs of spaces.
      repeat { position += 1 } while position < piece.count && piece[position] == 0x20
      return nil
    case UInt8(ascii: "\""): return try beginText()
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
    case 0x1E where allowsSequence && containers.isEmpty && expectation == .value:
      isSeparated = true
      position += 1
    case 0xEF where offset == 0:
      lexeme = .mark(1)
      position += 1
    default:
      guard let number = JSONNumber(byte, isLenient: configuration.isLenient) else {
        throw failure(.unexpected)
      }
      try beginValue()
      if configuration.keepsPlainText { characters.append(byte) }
      position += 1
      return try goOn(number)
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

  /// Consumes the only or last byte of a token.
  @inline(__always)
  private mutating func take(_ token: Token) -> Token {
    position += 1
    range = start..<offset
    return token
  }

  /// Starts a value, or throws if no value is allowed here.
  @inline(__always)
  private mutating func beginValue() throws(JSONFailure) {
    guard expectation == .value || expectation == .valueOrEnd else { throw failure(.unexpected) }
    start = offset
    characters.removeAll()
  }

  @inline(__always)
  private mutating func endValue() {
    lexeme = .none
    expectation = !containers.isEmpty ? .separator : allowsSequence ? .value : .nothing
  }

  @inline(__always)
  private mutating func beginText() throws(JSONFailure) -> Token? {
    isKey = expectation == .key || expectation == .keyOrEnd
    if isKey { expectation = .value }
    try beginValue()
    position += 1
    // Fast path: most strings are short, in one piece, in ASCII and without escape sequences.
    let end = JSONRun.asciiEnd(piece, from: position)
    isPlain = end < piece.count && piece[end] == UInt8(ascii: "\"")
    guard isPlain else {
      lexeme = .text
      return nil
    }
    if configuration.keepsPlainText { characters.append(piece, position..<end) }
    position = end
    return endText()
  }

  /// Consumes the quotation mark at the end of a key or string.
  @inline(__always)
  private mutating func endText() -> Token {
    guard isKey else {
      endValue()
      return take(.string)
    }
    isKey = false
    lexeme = .none
    expectation = .colon
    return take(.key)
  }

  private mutating func beginWord(_ word: Word) throws(JSONFailure) {
    try beginValue()
    lexeme = .word(word, matched: 1)
    position += 1
  }

  /// Ends a number at the end of the input; only there is its end not marked by another byte.
  private mutating func end() throws(JSONFailure) -> Token? {
    if case .number(let number) = lexeme, number.isWhole {
      endValue()
      range = start..<offset
      return .number
    }
    guard isBetweenDocuments else { throw failure(.incomplete) }
    return nil
  }

  // MARK: Tokens that have begun

  /// Continues the token that has begun. Returns the token if it ends.
  private mutating func goOn() throws(JSONFailure) -> Token? {
    switch lexeme {
    case .none: return nil
    case .text: return try goOnText()
    case .escape:
      try readEscape(piece[position])
      return nil
    case .digits(let count, let value):
      guard let digit = Hexadecimal.value(piece[position]) else {
        guard configuration.isLenient else { throw failure(.unexpected) }
        lexeme = .text
        return nil
      }
      if configuration.keepsEscapes { characters.append(piece[position]) }
      position += 1
      let sum = value << 4 | UInt32(digit)
      lexeme = .digits(count: count + 1, value: sum)
      if count == 3 {
        lexeme = .text
        if !configuration.keepsEscapes { characters.append(unit: sum) }
      }
      return nil
    case .number(let number): return try goOn(number)
    case .word(let word, let matched): return try goOn(word, matched)
    case .mark(let matched):
      guard piece[position] == (matched == 1 ? 0xBB : 0xBF) else { throw failure(.unexpected) }
      position += 1
      lexeme = matched == 1 ? .mark(2) : .none
      return nil
    }
  }

  private mutating func goOn(_ begun: JSONNumber) throws(JSONFailure) -> Token? {
    var number = begun
    let first = position
    while position < piece.count, number.take(piece[position]) { position += 1 }
    if configuration.keepsPlainText { characters.append(piece, first..<position) }
    guard position < piece.count else {
      lexeme = .number(number)
      return nil
    }
    guard number.isWhole else { throw failure(.unexpected) }
    endValue()
    range = start..<offset
    return .number
  }

  private mutating func goOn(_ word: Word, _ matched: Int) throws(JSONFailure) -> Token? {
    let letters: StaticString
    let token: Token
    switch word {
    case .true: (letters, token) = ("true", .boolean(true))
    case .false: (letters, token) = ("false", .boolean(false))
    case .null: (letters, token) = ("null", .null)
    }
    let expected = unsafe letters.utf8Start[matched]
    guard piece[position] == expected else { throw failure(.unexpected) }
    guard matched + 1 == letters.utf8CodeUnitCount else {
      lexeme = .word(word, matched: matched + 1)
      position += 1
      return nil
    }
    endValue()
    return take(token)
  }

  // MARK: Strings and their escape sequences

  /// Reads up to the next quote or backslash.
  private mutating func goOnText() throws(JSONFailure) -> Token? {
    let bytes = piece
    let first = position
    var index = first
    var validation = validation
    while index < bytes.count {
      if validation.isBetween {
        index = JSONRun.asciiEnd(bytes, from: index)
        guard index < bytes.count else { break }
      }
      let byte = bytes[index]
      if byte < 0x80, validation.isBetween {
        if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { break }
        position = index
        throw failure(.unexpected)
      } else {
        guard validation.take(byte) else {
          position = index
          throw failure(.notUTF8)
        }
      }
      index += 1
    }
    self.validation = validation
    position = index
    if index > first {
      characters.endPair()
      characters.append(bytes, first..<index)
    }
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: "\\") {
      lexeme = .escape
      position += 1
      return nil
    }
    characters.endPair()
    return endText()
  }

  private mutating func readEscape(_ byte: UInt8) throws(JSONFailure) {
    let character: UInt8
    switch byte {
    case UInt8(ascii: "u"):
      if configuration.keepsEscapes { characters.append([UInt8(ascii: "\\"), byte]) }
      lexeme = .digits(count: 0, value: 0)
      position += 1
      return
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): character = byte
    case UInt8(ascii: "b"): character = 0x08
    case UInt8(ascii: "f"): character = 0x0C
    case UInt8(ascii: "n"): character = 0x0A
    case UInt8(ascii: "r"): character = 0x0D
    case UInt8(ascii: "t"): character = 0x09
    default:
      guard configuration.isLenient else { throw failure(.unexpected) }
      // A character outside ASCII is read as part of the string.
      guard byte < 0x80 else {
        lexeme = .text
        return
      }
      character = byte
    }
    if configuration.keepsEscapes {
      characters.append([UInt8(ascii: "\\"), byte])
    } else {
      characters.endPair()
      characters.append(character)
    }
    lexeme = .text
    position += 1
  }

  // MARK: Containers that are not read

  /// Passes over the rest of the innermost container. The caller knows from an earlier pass that the document is valid.
  /// - Returns: `true` if the container has ended; `false` if more bytes are needed: ``feed(_:)`` them, and call it again.
  package mutating func skipContainer() -> Bool {
    guard !containers.isEmpty, lexeme == .none else { return true }
    var skip = skip ?? JSONSkip()
    guard let end = skip.end(in: piece, from: position) else {
      self.skip = skip
      position = piece.count
      return false
    }
    self.skip = nil
    position = end
    containers.removeLast()
    endValue()
    return true
  }
}
