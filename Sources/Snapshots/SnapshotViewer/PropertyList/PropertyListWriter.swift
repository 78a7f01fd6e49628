import JSONText

/// Writes the JSON document of a property list in pieces, up to its limits.
struct PropertyListWriter {
  typealias Write = (_ piece: [UInt8], _ offset: Int) throws(ViewerError) -> Void

  /// A container that has not ended.
  private struct Level {
    let isObject: Bool
    var isEmpty = true
  }

  private static let pieceSize = 64 << 10

  /// Whether the property list is a dictionary with the key `$archiver`.
  private(set) var isKeyedArchive = false

  private let limits: PropertyList.Limits
  private let write: Write
  private var piece: [UInt8] = []
  /// The number of bytes before `piece`.
  private var written = 0
  private var values = 0
  private var levels: [Level] = []
  private var keyStart: Int?
  private var highSurrogate: UInt16?
  private var validation = UTF8Validation()

  init(_ limits: PropertyList.Limits, _ write: @escaping Write) {
    (self.limits, self.write) = (limits, write)
    piece.reserveCapacity(Self.pieceSize + (Self.pieceSize >> 2))
  }

  /// The number of open containers.
  var depth: Int { levels.count }

  // MARK: - Containers

  mutating func begin(isObject: Bool, _ type: PropertyListType? = nil) throws(PropertyListError) {
    guard levels.count < limits.depth else { throw failure(.depth(limits.depth)) }
    try beginValue(type)
    levels.append(Level(isObject: isObject))
    piece.append(UInt8(ascii: isObject ? "{" : "["))
  }

  mutating func end() throws(PropertyListError) {
    guard let level = levels.popLast() else { return }
    piece.append(UInt8(ascii: level.isObject ? "}" : "]"))
    try flushIfFull()
  }

  // MARK: - Texts

  /// Begins the key of a member. It consists of what is appended until ``endKey()``.
  mutating func beginKey() throws(PropertyListError) {
    beginElement()
    try flushIfFull()
    if levels.count == 1 { keyStart = piece.count }
    piece.append(UInt8(ascii: "\""))
  }

  mutating func endKey() throws(PropertyListError) {
    try endText()
    if let keyStart {
      if piece[keyStart...].elementsEqual("\"$archiver\"".utf8) { isKeyedArchive = true }
      self.keyStart = nil
    }
    piece.append(UInt8(ascii: ":"))
  }

  /// Begins a string. It consists of what is appended until ``endString()``.
  mutating func beginString(_ type: PropertyListType? = nil) throws(PropertyListError) {
    try beginValue(type)
    piece.append(UInt8(ascii: "\""))
  }

  mutating func endString() throws(PropertyListError) {
    try endText()
    try flushIfFull()
  }

  /// Appends UTF-8, which may begin or end within a character.
  mutating func append(_ text: ArraySlice<UInt8>) throws(PropertyListError) {
    var start = text.startIndex
    for index in text.indices {
      let byte = text[index]
      if byte >= 0x80 || !validation.isBetween {
        guard validation.take(byte) else { throw failure(.text) }
      } else if byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        piece += text[start..<index]
        start = index + 1
        appendEscape(UInt16(byte))
      }
    }
    piece += text[start...]
    try flushIfFull()
  }

  /// Appends a character.
  mutating func append(_ scalar: Unicode.Scalar) throws(PropertyListError) {
    try append(Array(String(scalar).utf8)[...])
  }

  /// Appends a code unit of UTF-16. Halves of pairs are kept.
  mutating func append(unit: UInt16) throws(PropertyListError) {
    if let high = highSurrogate {
      highSurrogate = nil
      if (0xDC00..<0xE000).contains(unit) {
        let value = 0x10000 + (UInt32(high) - 0xD800) << 10 + (UInt32(unit) - 0xDC00)
        if let scalar = Unicode.Scalar(value) { piece += Array(String(scalar).utf8) }
        return
      }
      appendEscape(high)
    }
    switch unit {
    case 0xD800..<0xDC00: highSurrogate = unit
    case 0xDC00..<0xE000, ..<0x20, 0x22, 0x5C: appendEscape(unit)
    case ..<0x80: piece.append(UInt8(unit))
    default: if let scalar = Unicode.Scalar(unit) { piece += Array(String(scalar).utf8) }
    }
    try flushIfFull()
  }

  /// Appends text that needs no escapes, such as base64.
  mutating func append(plain text: some Collection<UInt8>) throws(PropertyListError) {
    piece += text
    try flushIfFull()
  }

  private mutating func endText() throws(PropertyListError) {
    guard validation.isBetween else { throw failure(.text) }
    if let high = highSurrogate { appendEscape(high) }
    highSurrogate = nil
    piece.append(UInt8(ascii: "\""))
  }

  private mutating func appendEscape(_ unit: UInt16) {
    if unit == 0x22 || unit == 0x5C {
      piece += [UInt8(ascii: "\\"), UInt8(unit)]
    } else {
      let digits = String(unit, radix: 16)
      piece += Array("\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".utf8)
    }
  }

  // MARK: - Numbers and words

  /// Writes a number or word of JSON.
  mutating func add(_ word: some StringProtocol) throws(PropertyListError) {
    try beginValue(nil)
    piece += word.utf8
    try flushIfFull()
  }

  /// Writes a string of plain characters.
  mutating func add(string: String, _ type: PropertyListType) throws(PropertyListError) {
    try beginString(type)
    try append(plain: string.utf8)
    try endString()
  }

  /// Writes a number; as a string if JSON does not have it.
  mutating func add(real: Double, _ text: String) throws(PropertyListError) {
    if real.isFinite { try add(text) } else { try add(string: text, .number) }
  }

  /// Writes the reference of a keyed archive to another object.
  mutating func add(uid: UInt64) throws(PropertyListError) {
    try begin(isObject: true)
    try beginKey()
    try append(plain: "CF$UID".utf8)
    try endKey()
    try add("\(uid)")
    try end()
  }

  // MARK: - Pieces

  /// Writes the last piece.
  mutating func finish() throws(PropertyListError) {
    try flush()
  }

  private mutating func beginValue(_ type: PropertyListType?) throws(PropertyListError) {
    values += 1
    guard values <= limits.values else { throw failure(.values(limits.values)) }
    if let level = levels.last, !level.isObject { beginElement() }
    if let type { piece.append(type.rawValue) }
  }

  private mutating func beginElement() {
    let last = levels.count - 1
    guard last >= 0 else { return }
    if levels[last].isEmpty { levels[last].isEmpty = false } else { piece.append(UInt8(ascii: ",")) }
  }

  private mutating func flushIfFull() throws(PropertyListError) {
    // The key that is being compared stays.
    if piece.count >= Self.pieceSize, keyStart == nil || piece.count >= 2 * Self.pieceSize { try flush() }
  }

  private mutating func flush() throws(PropertyListError) {
    guard written + piece.count <= limits.bytes else { throw failure(.bytes(limits.bytes)) }
    do { try write(piece, written) } catch { throw .viewer(error) }
    written += piece.count
    piece.removeAll(keepingCapacity: true)
    keyStart = nil
  }

  private func failure(_ reason: PropertyListFailure.Reason) -> PropertyListError {
    .malformed(PropertyListFailure(reason, offset: nil))
  }
}
