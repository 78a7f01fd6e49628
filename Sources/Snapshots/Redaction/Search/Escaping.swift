/// How the text of a value is written in a document.
enum Escaping {
  case none
  /// The contents of a JSON string.
  case json
  /// Percent-encoding (RFC 3986 §2.1).
  case percent
  /// Percent-encoding with `+` for a space (application/x-www-form-urlencoded).
  case form
  /// The entities of XML, and numeric ones.
  case entities
  /// The lines of an event's data, each of which begins with `data:`.
  case eventData

  /// Decodes `bytes` at `range`.
  func decode(_ bytes: [UInt8], _ range: Range<Int>, into text: inout [UInt8]) {
    guard self != .none, bytes[range].contains(where: isSpecial) else {
      text += bytes[range]
      return
    }
    var index = range.lowerBound
    while index < range.upperBound { index = decodeNext(bytes, index, range.upperBound, into: &text) }
  }

  private func isSpecial(_ byte: UInt8) -> Bool {
    switch self {
    case .none: false
    case .json: byte == UInt8(ascii: "\\")
    case .percent: byte == UInt8(ascii: "%")
    case .form: byte == UInt8(ascii: "%") || byte == UInt8(ascii: "+")
    case .entities: byte == UInt8(ascii: "&")
    case .eventData: byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
    }
  }

  /// Converts `edits` of the decoded text to edits of `bytes`, whose value is at `range`.
  func edits(_ edits: [Edit], in bytes: [UInt8], _ range: Range<Int>) -> [Edit] {
    var converted: [Edit] = []
    var index = range.lowerBound
    var text: [UInt8] = []
    var position = 0
    // The decoded text has `position` bytes before `index`.
    func advance() {
      text.removeAll(keepingCapacity: true)
      index = decodeNext(bytes, index, range.upperBound, into: &text)
      position += text.count
    }
    for edit in edits {
      while index < range.upperBound {
        let (before, place) = (index, position)
        advance()
        if position > edit.range.lowerBound {
          (index, position) = (before, place)
          break
        }
      }
      let start = index
      while position < edit.range.upperBound, index < range.upperBound { advance() }
      converted.append(Edit(range: start..<index, bytes: encode(edit.bytes)))
    }
    return converted
  }

  /// Decodes what begins at `index`: a byte, or an escape sequence. Returns the index after it.
  private func decodeNext(_ bytes: [UInt8], _ index: Int, _ end: Int, into text: inout [UInt8]) -> Int {
    let byte = bytes[index]
    if isSpecial(byte) {
      switch self {
      case .none: break
      case .json: return Self.decodeJSON(bytes, index, end, into: &text)
      case .form where byte == UInt8(ascii: "+"):
        text.append(UInt8(ascii: " "))
        return index + 1
      case .percent, .form:
        if let decoded = Hexadecimal.byte(afterPercent: bytes, index, end) {
          text.append(decoded)
          return index + 3
        }
      case .entities:
        if let next = Self.decodeEntity(bytes, index, end, into: &text) { return next }
      case .eventData:
        text.append(UInt8(ascii: "\n"))
        return EventStreamFormat.startOfData(bytes, afterLineEnd: index, end)
      }
    }
    text.append(byte)
    return index + 1
  }

  private static func decodeJSON(_ bytes: [UInt8], _ index: Int, _ end: Int, into text: inout [UInt8]) -> Int
  {
    guard index + 1 < end else {
      text.append(bytes[index])
      return index + 1
    }
    switch bytes[index + 1] {
    case UInt8(ascii: "n"): text.append(0x0A)
    case UInt8(ascii: "r"): text.append(0x0D)
    case UInt8(ascii: "t"): text.append(0x09)
    case UInt8(ascii: "b"): text.append(0x08)
    case UInt8(ascii: "f"): text.append(0x0C)
    case UInt8(ascii: "u"):
      guard let unit = Hexadecimal.unit(bytes, index + 2, end) else {
        text.append(UInt8(ascii: "u"))
        break
      }
      var units = [unit]
      if UTF16.isLeadSurrogate(unit), index + 7 < end, bytes[index + 6] == UInt8(ascii: "\\"),
        bytes[index + 7] == UInt8(ascii: "u"), let second = Hexadecimal.unit(bytes, index + 8, end),
        UTF16.isTrailSurrogate(second)
      {
        units.append(second)
      }
      text += String(decoding: units, as: UTF16.self).utf8
      return index + 6 * units.count
    case let character: text.append(character)
    }
    return index + 2
  }

  private static let named: [[UInt8]: UInt8] = [
    Array("lt".utf8): UInt8(ascii: "<"), Array("gt".utf8): UInt8(ascii: ">"),
    Array("amp".utf8): UInt8(ascii: "&"), Array("quot".utf8): UInt8(ascii: "\""),
    Array("apos".utf8): UInt8(ascii: "'"),
  ]
  private static let longestEntity = 12

  /// Whether an entity can begin at `index`.
  static func isEntity(_ bytes: [UInt8], _ index: Int, _ end: Int) -> Bool {
    bytes[index..<min(end, index + longestEntity)].contains(UInt8(ascii: ";"))
  }

  private static func decodeEntity(_ bytes: [UInt8], _ index: Int, _ end: Int, into text: inout [UInt8])
    -> Int?
  {
    let limit = min(end, index + longestEntity)
    guard let last = bytes[index..<limit].firstIndex(of: UInt8(ascii: ";")) else { return nil }
    let name = Array(bytes[index + 1..<last])
    if let character = named[name] {
      text.append(character)
    } else if name.first == UInt8(ascii: "#") {
      let isHexadecimal = name.dropFirst().first.map { $0 | 0x20 } == UInt8(ascii: "x")
      let digits = String(decoding: name.dropFirst(isHexadecimal ? 2 : 1), as: UTF8.self)
      guard let value = UInt32(digits, radix: isHexadecimal ? 16 : 10), let scalar = Unicode.Scalar(value)
      else { return nil }
      text += String(scalar).utf8
    } else {
      return nil
    }
    return last + 1
  }

  // MARK: - Encoding

  /// Encodes `text`, which is UTF-8.
  func encode(_ text: [UInt8]) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count)
    for byte in text { encode(byte, into: &bytes) }
    return bytes
  }

  private func encode(_ byte: UInt8, into bytes: inout [UInt8]) {
    switch (self, byte) {
    case (.json, UInt8(ascii: "\"")), (.json, UInt8(ascii: "\\")): bytes += [UInt8(ascii: "\\"), byte]
    case (.json, 0..<0x20): bytes += Array("\\u00".utf8) + Hexadecimal.digits(byte)
    case (.percent, _), (.form, _):
      // The brackets of the mark are not encoded, so that it can be recognised.
      let isPlain = Characters.isAlphanumeric(byte) || "-._~[]".utf8.contains(byte)
      bytes += isPlain ? [byte] : [UInt8(ascii: "%")] + Hexadecimal.digits(byte)
    case (.entities, UInt8(ascii: "<")): bytes += "&lt;".utf8
    case (.entities, UInt8(ascii: ">")): bytes += "&gt;".utf8
    case (.entities, UInt8(ascii: "&")): bytes += "&amp;".utf8
    case (.entities, UInt8(ascii: "\"")): bytes += "&quot;".utf8
    case (.entities, UInt8(ascii: "'")): bytes += "&#39;".utf8
    case (.eventData, UInt8(ascii: "\n")): bytes += "\ndata:".utf8
    default: bytes.append(byte)
    }
  }
}

/// Hexadecimal digits in escape sequences.
enum Hexadecimal {
  static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
    default: nil
    }
  }

  /// The two digits of a byte.
  static func digits(_ byte: UInt8) -> [UInt8] {
    [byte >> 4, byte & 0xF].map { $0 < 10 ? $0 + UInt8(ascii: "0") : $0 - 10 + UInt8(ascii: "A") }
  }

  /// The byte that is percent-encoded at `index`.
  static func byte(afterPercent bytes: [UInt8], _ index: Int, _ end: Int) -> UInt8? {
    guard index + 2 < end, let high = value(bytes[index + 1]), let low = value(bytes[index + 2]) else {
      return nil
    }
    return high << 4 | low
  }

  /// The UTF-16 code unit of four digits.
  static func unit(_ bytes: [UInt8], _ index: Int, _ end: Int) -> UInt16? {
    guard index + 4 <= end else { return nil }
    var unit: UInt16 = 0
    for digit in bytes[index..<index + 4] {
      guard let value = value(digit) else { return nil }
      unit = unit << 4 | UInt16(value)
    }
    return unit
  }
}

/// A set of bytes, for a test of each byte of a text.
struct ByteSet: Sendable {
  private var members = [Bool](repeating: false, count: 256)

  init(_ characters: String) { self.init(characters.utf8) }

  init(_ bytes: some Sequence<UInt8>) { for byte in bytes { members[Int(byte)] = true } }

  func contains(_ byte: UInt8) -> Bool { members[Int(byte)] }

  mutating func remove(_ byte: UInt8) { members[Int(byte)] = false }

  /// The end of the members that `range` begins with.
  @inline(never)
  func end(_ text: [UInt8], _ range: Range<Int>) -> Int {
    // Checked once instead of for each byte.
    precondition(range.lowerBound >= 0 && range.upperBound <= text.count)
    return unsafe members.withUnsafeBufferPointer { members in
      unsafe text.withUnsafeBufferPointer { text in
        var index = range.lowerBound
        while unsafe index < range.upperBound && members[Int(text[index])] { index += 1 }
        return index
      }
    }
  }
}

/// Classes of ASCII characters.
enum Characters {
  static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }
  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    isDigit(byte) || (byte | 0x20) &- UInt8(ascii: "a") < 26
  }
  static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || 0x09...0x0D ~= byte }
  static func isLineEnd(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D }
  static func isQuote(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") }
  /// Whether the colon at `index` is that after the scheme of a URL.
  static func isSchemeEnd(_ text: [UInt8], _ index: Int) -> Bool {
    index + 2 < text.count && text[index + 1] == UInt8(ascii: "/") && text[index + 2] == UInt8(ascii: "/")
  }
}
