import JSONText

/// Reads a property list in XML, and writes it as JSON.
///
/// The file is untrusted. Only the elements of property lists, without attributes, are accepted, and only the entities
/// that XML predefines. The document type is passed over; one with declarations is an error. Nothing outside the file
/// is read, and the memory used depends on the nesting only.
struct XMLPropertyList {
  private enum Tag: String, CaseIterable {
    case key, string, dict, array, integer, real, date, data, `true`, `false`, plist
  }

  /// What becomes of the text in an element.
  private enum Text {
    /// It is a string or a key.
    case characters
    /// It is base64 with white space.
    case data
    /// It is a number or a date.
    case word
    /// There is none.
    case nothing
  }

  /// A container that has not ended.
  private struct Level {
    let isObject: Bool
    /// Whether the value of a key follows.
    var needsValue = false
  }

  private var input: PropertyListStream
  private var writer: PropertyListWriter
  private let limits: PropertyList.Limits
  private let ignoresEncoding: Bool
  private var levels: [Level] = []
  private var hasValue = false
  private var word: [UInt8] = []
  private var base64 = Base64.Decoder(isStrict: true)

  init(
    _ input: PropertyListStream, _ writer: PropertyListWriter, _ limits: PropertyList.Limits,
    ignoresEncoding: Bool = false
  ) {
    (self.input, self.writer, self.limits) = (input, writer, limits)
    self.ignoresEncoding = ignoresEncoding
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x09 || byte == 0x0D }

  /// Writes the property list.
  /// - Returns: The writer.
  mutating func run() throws(PropertyListError) -> PropertyListWriter {
    _ = try input.take("\u{FEFF}")
    try readBeginning()
    while try readElement() {}
    try input.skipSpace()
    while try skipMiscellany() { try input.skipSpace() }
    guard try input.peek() == nil else { throw failure(.markup) }
    return writer
  }

  // MARK: - Before the first value

  /// Reads up to the end of the start tag `<plist>`.
  private mutating func readBeginning() throws(PropertyListError) {
    var isFirst = true
    while true {
      try input.skipSpace()
      if isFirst, try input.take("<?xml") {
        try readDeclaration()
      } else if try input.take("<!DOCTYPE") {
        try readDocumentType()
      } else if try !skipMiscellany() {
        break
      }
      isFirst = false
    }
    guard try input.take("<") else { throw failure(.markup) }
    guard try name() == Array("plist".utf8) else { throw .otherXML }
    guard try endOfTag(hasAttributes: true) == false else { throw failure(.markup) }
  }

  /// Reads the XML declaration, in which only the encoding matters.
  private mutating func readDeclaration() throws(PropertyListError) {
    word.removeAll()
    while try !input.take("?>") { try keepByte() }
    guard !ignoresEncoding, let place = word.firstRange(of: Array("encoding".utf8)) else { return }
    let rest = word[place.upperBound...].drop { Self.isSpace($0) || $0 == UInt8(ascii: "=") }
    guard let quote = rest.first, quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
      throw failure(.encoding)
    }
    let encoding = String(decoding: rest.dropFirst().prefix { $0 != quote }, as: UTF8.self).lowercased()
    guard ["utf-8", "utf8", "us-ascii", "ascii"].contains(encoding) else { throw failure(.encoding) }
  }

  /// Passes over the document type declaration, which names an external file that is not read.
  private mutating func readDocumentType() throws(PropertyListError) {
    try input.skipSpace()
    guard try name() == Array("plist".utf8) else { throw .otherXML }
    var quote: UInt8?
    word.removeAll()
    while true {
      let byte = try keepByte()
      if let open = quote {
        if byte == open { quote = nil }
      } else {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): quote = byte
        case UInt8(ascii: "["): throw failure(.declarations)
        case UInt8(ascii: ">"): return
        default: break
        }
      }
    }
  }

  /// Passes over a comment or a processing instruction, if one follows.
  private mutating func skipMiscellany() throws(PropertyListError) -> Bool {
    if try input.take("<!--") {
      guard try input.skip(past: "-->") else { throw failure(.incomplete) }
      return true
    }
    if try input.take("<?") {
      guard try input.skip(past: "?>") else { throw failure(.incomplete) }
      return true
    }
    return false
  }

  // MARK: - Elements

  /// Reads the next tag, and a value that is not a container with it. Returns `false` at the end of the property list.
  private mutating func readElement() throws(PropertyListError) -> Bool {
    try input.skipSpace()
    if try skipMiscellany() { return true }
    if try input.take("</") { return try readEnd() }
    guard try input.take("<") else { throw failure(try input.peek() == nil ? .incomplete : .markup) }
    let tag = try self.tag()
    let isEmpty = try endOfTag(hasAttributes: false)
    guard tag == .key else {
      try beginValue()
      try readValue(tag, isEmpty: isEmpty)
      return true
    }
    guard let level = levels.last, level.isObject, !level.needsValue else { throw failure(.markup) }
    levels[levels.count - 1].needsValue = true
    try writer.beginKey()
    if !isEmpty { try readText(.characters, in: .key) }
    try writer.endKey()
    return true
  }

  /// Records that a value follows, or throws if none is allowed.
  private mutating func beginValue() throws(PropertyListError) {
    guard let level = levels.last else {
      guard !hasValue else { throw failure(.markup) }
      hasValue = true
      return
    }
    guard level.isObject == level.needsValue else { throw failure(.markup) }
    levels[levels.count - 1].needsValue = false
  }

  private mutating func readEnd() throws(PropertyListError) -> Bool {
    let tag = try self.tag()
    guard try endOfTag(hasAttributes: false) == false else { throw failure(.markup) }
    guard let level = levels.popLast() else {
      guard tag == .plist, hasValue else { throw failure(.markup) }
      return false
    }
    guard tag == (level.isObject ? .dict : .array), !level.needsValue else { throw failure(.markup) }
    try writer.end()
    return true
  }

  private mutating func readValue(_ tag: Tag, isEmpty: Bool) throws(PropertyListError) {
    switch tag {
    case .dict, .array:
      try writer.begin(isObject: tag == .dict)
      if isEmpty { try writer.end() } else { levels.append(Level(isObject: tag == .dict)) }
    case .true, .false:
      if !isEmpty { try readText(.nothing, in: tag) }
      try writer.add(tag.rawValue)
    case .string:
      try writer.beginString()
      if !isEmpty { try readText(.characters, in: tag) }
      try writer.endString()
    case .data:
      try writer.beginString(.data)
      base64 = Base64.Decoder(isStrict: true)
      if !isEmpty { try readText(.data, in: tag) }
      guard base64.isComplete else { throw failure(.data) }
      try writer.endString()
    case .integer, .real, .date:
      word.removeAll()
      if !isEmpty { try readText(.word, in: tag) }
      try writeWord(tag)
    case .plist, .key: throw failure(.markup)
    }
  }

  private mutating func writeWord(_ tag: Tag) throws(PropertyListError) {
    while word.last.map(Self.isSpace) == true { word.removeLast() }
    let text = word.drop(while: Self.isSpace)
    if tag == .date {
      guard PropertyListDate.isDate(text) else { throw failure(.date) }
      try writer.add(string: String(decoding: text, as: UTF8.self), .date)
    } else if let number = tag == .integer
      ? PropertyListNumber(integer: text) : PropertyListNumber(real: text)
    {
      if number.isJSON { try writer.add(number.text) } else { try writer.add(string: number.text, .number) }
    } else {
      throw failure(.number)
    }
  }

  // MARK: - Tags

  /// Reads the name of an element.
  private mutating func name() throws(PropertyListError) -> [UInt8] {
    var name: [UInt8] = []
    while let byte = try input.peek(), Self.isOfName(byte) {
      guard name.count < limits.word else { throw failure(.markup) }
      name.append(byte)
      input.skip(1)
    }
    return name
  }

  /// Whether a byte can be part of a name.
  private static func isOfName(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x0A, 0x09, 0x0D, UInt8(ascii: "/"), UInt8(ascii: ">"), UInt8(ascii: "<"), UInt8(ascii: "="),
      UInt8(ascii: "["), UInt8(ascii: "\""), UInt8(ascii: "'"):
      false
    default: true
    }
  }

  private mutating func tag() throws(PropertyListError) -> Tag {
    let name = try name()
    guard let known = Self.tags.first(where: { $0.name == name }) else { throw failure(.markup) }
    return known.tag
  }

  private static let tags = Tag.allCases.map { (name: Array($0.rawValue.utf8), tag: $0) }

  /// Reads the rest of a tag. Returns whether it is the tag of an empty element.
  private mutating func endOfTag(hasAttributes: Bool) throws(PropertyListError) -> Bool {
    try input.skipSpace()
    if try input.take(">") { return false }
    if try input.take("/>") { return true }
    guard hasAttributes else { throw failure(try input.peek() == nil ? .incomplete : .markup) }
    var quote: UInt8?
    word.removeAll()
    while true {
      if quote == nil, try input.take("/>") { return true }
      let byte = try keepByte()
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return false
      } else if byte == UInt8(ascii: "<") {
        throw failure(.markup)
      }
    }
  }

  /// Moves the next byte to `word`.
  @discardableResult
  private mutating func keepByte() throws(PropertyListError) -> UInt8 {
    guard let byte = try input.peek() else { throw failure(.incomplete) }
    guard word.count < limits.word else { throw failure(.markup) }
    word.append(byte)
    input.skip(1)
    return byte
  }

  // MARK: - Text

  /// Reads the text of an element up to the end of its end tag.
  private mutating func readText(_ kind: Text, in tag: Tag) throws(PropertyListError) {
    var isAfterReturn = false
    while let byte = try input.peek() {
      switch byte {
      case UInt8(ascii: "<"):
        if try input.take("</") {
          guard try self.tag() == tag, try endOfTag(hasAttributes: false) == false else {
            throw failure(.markup)
          }
          return
        }
        if try input.take("<![CDATA[") {
          try readLiteral(kind)
        } else if try !skipMiscellany() {
          throw failure(.markup)
        }
      case UInt8(ascii: "&"): try take(kind, Array(String(try entity()).utf8)[...])
      case 0x0D:
        // The line ends of other systems are one line feed (XML 1.0 §2.11).
        input.skip(1)
        try take(kind, [0x0A])
        isAfterReturn = true
        continue
      case 0x0A where isAfterReturn: input.skip(1)
      default:
        let (piece, start) = (input.piece, input.position)
        var end = start + 1
        while end < piece.count, piece[end] != UInt8(ascii: "<"), piece[end] != UInt8(ascii: "&"),
          piece[end] != 0x0D
        {
          end += 1
        }
        try take(kind, piece[start..<end])
        input.skip(end - start)
      }
      isAfterReturn = false
    }
    throw failure(.incomplete)
  }

  /// Reads up to the end of a section in which `<` and `&` are text.
  private mutating func readLiteral(_ kind: Text) throws(PropertyListError) {
    while try !input.take("]]>") {
      guard try input.has(1) else { throw failure(.incomplete) }
      let (piece, start) = (input.piece, input.position)
      let end = piece[(start + 1)...].firstIndex(of: UInt8(ascii: "]")) ?? piece.count
      try take(kind, piece[start..<end])
      input.skip(end - start)
    }
  }

  /// Reads a reference to a character.
  private mutating func entity() throws(PropertyListError) -> Unicode.Scalar {
    for (text, scalar) in Self.entities where try input.take(text) { return scalar }
    guard try input.take("&#") else { throw failure(.entity) }
    let radix: UInt32 = try input.take("x") ? 16 : 10
    var value: UInt32 = 0
    var hasDigits = false
    while let byte = try input.peek(), byte != UInt8(ascii: ";") {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, digit < radix, value <= 0x10FFFF else {
        throw failure(.entity)
      }
      value = value * radix + UInt32(digit)
      hasDigits = true
      input.skip(1)
    }
    guard hasDigits, try input.take(";"), value > 0, let scalar = Unicode.Scalar(value) else {
      throw failure(.entity)
    }
    return scalar
  }

  private static let entities: [(StaticString, Unicode.Scalar)] = [
    ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"), ("&quot;", "\""), ("&apos;", "'"),
  ]

  private mutating func take(_ kind: Text, _ text: ArraySlice<UInt8>) throws(PropertyListError) {
    switch kind {
    case .characters: try writer.append(text)
    case .data:
      let digits = text.filter { !Self.isSpace($0) }
      guard base64.decode(digits) != nil else { throw failure(.data) }
      try writer.append(plain: digits)
    case .word:
      guard word.count + text.count <= limits.word else { throw failure(.markup) }
      word += text
    case .nothing: guard text.allSatisfy(Self.isSpace) else { throw failure(.markup) }
    }
  }

  private func failure(_ reason: PropertyListFailure.Reason) -> PropertyListError {
    .malformed(PropertyListFailure(reason, offset: input.offset))
  }
}
