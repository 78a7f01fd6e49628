/// The tokens of a text that is JSON as in RFC 8259.
///
/// Redaction edits the text where a token stands, so that all other bytes stay as they were: the order of keys, the
/// digits of numbers, white space.
struct JSONTokens {
  enum Kind { case string, number, boolean, null, object, list }

  /// A value, or the key of one.
  struct Token {
    let kind: Kind
    /// From its first byte to the one after its last.
    var range: Range<Int>
    let isKey: Bool
    /// The way down to the value; of a key, to the value that it is the key of.
    let place: [JSONPath.Place]
  }

  /// Why a text is no JSON.
  struct Malformed: Error, CustomStringConvertible {
    let description: String
  }

  /// The deepest nesting that is read.
  static let maximumDepth = 256

  private let text: [UInt8]
  private var position = 0
  private var place: [JSONPath.Place] = []
  /// Every token, in the order of their first bytes.
  private(set) var tokens: [Token] = []

  /// What some writers put before a text.
  private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

  /// How much a text looks like an object or a list.
  enum Opening {
    case other
    /// A list of numbers, or a line such as `[12:00] started`.
    case likeEither
    case likeJSON
  }

  /// How `text` begins.
  static func opening(of text: [UInt8]) -> Opening {
    let start = text.starts(with: byteOrderMark) ? byteOrderMark.count : 0
    let characters = text[start...].lazy.filter { !isSpace($0) }.prefix(2).map { Unicode.Scalar($0) }
    var iterator = characters.makeIterator()
    switch (iterator.next(), iterator.next()) {
    case ("{"?, _), ("["?, "{"?), ("["?, "["?), ("["?, "\""?): return .likeJSON
    case ("["?, _): return .likeEither
    default: return .other
    }
  }

  /// Reads one value or several in a row.
  init(_ text: [UInt8]) throws {
    self.text = text
    if text.starts(with: Self.byteOrderMark) { position = Self.byteOrderMark.count }
    skipSpace()
    while position < text.count {
      try readValue()
      skipSpace()
    }
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  private var next: UInt8? { position < text.count ? text[position] : nil }

  private mutating func skipSpace() {
    while let byte = next, Self.isSpace(byte) { position += 1 }
  }

  private func malformed(_ expected: String) -> Malformed {
    Malformed(description: "it begins as JSON does, but at byte \(position) \(expected) is missing")
  }

  private mutating func expect(_ character: Unicode.Scalar) throws {
    guard next == UInt8(ascii: character) else { throw malformed("‘\(character)’") }
    position += 1
  }

  private mutating func readValue() throws {
    switch next {
    case UInt8(ascii: "{"): try readObject()
    case UInt8(ascii: "["): try readList()
    case UInt8(ascii: "\""): try append(.string, isKey: false) { try $0.readString() }
    case UInt8(ascii: "t"): try append(.boolean, isKey: false) { try $0.readWord("true") }
    case UInt8(ascii: "f"): try append(.boolean, isKey: false) { try $0.readWord("false") }
    case UInt8(ascii: "n"): try append(.null, isKey: false) { try $0.readWord("null") }
    default: try append(.number, isKey: false) { try $0.readNumber() }
    }
  }

  private mutating func append(_ kind: Kind, isKey: Bool, _ read: (inout Self) throws -> Void) throws {
    let start = position
    let index = tokens.count
    tokens.append(Token(kind: kind, range: start..<start, isKey: isKey, place: place))
    try read(&self)
    tokens[index].range = start..<position
  }

  private mutating func readObject() throws {
    guard place.count < Self.maximumDepth else { throw malformed("an end to the nesting") }
    try append(.object, isKey: false) { reader in
      reader.position += 1
      reader.skipSpace()
      if reader.next == UInt8(ascii: "}") { return reader.position += 1 }
      while true {
        reader.skipSpace()
        guard reader.next == UInt8(ascii: "\"") else { throw reader.malformed("a key") }
        let key = try reader.peekString()
        reader.place.append(.key(key))
        try reader.append(.string, isKey: true) { try $0.readString() }
        reader.skipSpace()
        try reader.expect(":")
        reader.skipSpace()
        try reader.readValue()
        reader.place.removeLast()
        reader.skipSpace()
        if reader.next == UInt8(ascii: "}") { return reader.position += 1 }
        try reader.expect(",")
      }
    }
  }

  private mutating func readList() throws {
    guard place.count < Self.maximumDepth else { throw malformed("an end to the nesting") }
    try append(.list, isKey: false) { reader in
      reader.position += 1
      reader.skipSpace()
      if reader.next == UInt8(ascii: "]") { return reader.position += 1 }
      var index = 0
      while true {
        reader.skipSpace()
        reader.place.append(.index(index))
        try reader.readValue()
        reader.place.removeLast()
        index += 1
        reader.skipSpace()
        if reader.next == UInt8(ascii: "]") { return reader.position += 1 }
        try reader.expect(",")
      }
    }
  }

  private mutating func readWord(_ word: String) throws {
    guard text[position...].starts(with: word.utf8) else { throw malformed("a value") }
    position += word.utf8.count
  }

  private mutating func readNumber() throws {
    if next == UInt8(ascii: "-") { position += 1 }
    guard readDigits() else { throw malformed("a value") }
    if next == UInt8(ascii: ".") {
      position += 1
      guard readDigits() else { throw malformed("a digit") }
    }
    if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
      position += 1
      if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
      guard readDigits() else { throw malformed("a digit") }
    }
  }

  private mutating func readDigits() -> Bool {
    let start = position
    while let byte = next, byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
    return position > start
  }

  private mutating func peekString() throws -> String {
    var ahead = self
    let start = position
    ahead.tokens = []
    try ahead.readString()
    return JSONString.decode(text[start..<ahead.position])
  }

  private mutating func readString() throws {
    position += 1
    while let byte = next {
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\"):
        guard next != nil else { throw malformed("the end of a string") }
        position += 1
      case 0..<0x20: throw malformed("the end of a string")
      default: break
      }
    }
    throw malformed("the end of a string")
  }
}
