import JSONText

/// A JSON value of an archive that is written as it was read: numbers and escape sequences keep their spelling, objects
/// the order of their members. Only white space is lost. Of members with the same name, the last one counts.
package indirect enum ArchiveValue: Hashable, Sendable {
  /// A member of an object.
  package struct Member: Hashable, Sendable {
    package var name: String
    package var value: ArchiveValue

    package init(_ name: String, _ value: ArchiveValue) { (self.name, self.value) = (name, value) }
  }

  case null
  case boolean(Bool)
  /// A number as it is written.
  case number([UInt8])
  /// The text between the quotes, with escape sequences.
  case string([UInt8])
  case array([ArchiveValue])
  case object([Member])

  /// A string with this text.
  package init(_ text: String) { self = .string(Self.escaped(Array(text.utf8))) }

  /// A number.
  package init(_ number: Int) { self = .number(Array(String(number).utf8)) }

  /// A string with this text, which must be UTF-8.
  package init(text: [UInt8]) { self = .string(Self.escaped(text)) }

  // MARK: - Reading

  /// The member with this name of an object.
  package subscript(_ name: String) -> ArchiveValue? {
    get {
      guard case .object(let members) = self else { return nil }
      return members.first { $0.name == name }?.value
    }
    set {
      guard case .object(var members) = self else { return }
      if let index = members.firstIndex(where: { $0.name == name }) {
        if let newValue { members[index].value = newValue } else { members.remove(at: index) }
      } else if let newValue {
        members.append(Member(name, newValue))
      }
      self = .object(members)
    }
  }

  package var isObject: Bool { if case .object = self { true } else { false } }

  /// The elements of an array; none for another value.
  package var elements: [ArchiveValue] { if case .array(let values) = self { values } else { [] } }

  /// The text of a string as UTF-8. An unpaired surrogate becomes a replacement character.
  package var bytes: [UInt8]? {
    guard case .string(let text) = self else { return nil }
    guard text.contains(UInt8(ascii: "\\")) else { return text }
    var tokenizer = JSONTokenizer()
    tokenizer.feed([UInt8(ascii: "\"")] + text + [UInt8(ascii: "\"")])
    do { guard try tokenizer.next() == .string else { return nil } } catch { return nil }
    return tokenizer.isUnicode
      ? tokenizer.text : Array(String(decoding: tokenizer.text, as: UTF8.self).utf8)
  }

  /// The text of a string.
  package var text: String? { bytes.map { String(decoding: $0, as: UTF8.self) } }

  /// A finite number.
  package var double: Double? {
    guard case .number(let digits) = self, let number = Double(String(decoding: digits, as: UTF8.self)),
      number.isFinite
    else { return nil }
    return number
  }

  /// A number, rounded to the nearest integer that an `Int64` can hold.
  package var integer: Int64? {
    double.map { $0.magnitude < 9e18 ? Int64($0.rounded()) : $0 < 0 ? .min : .max }
  }

  // MARK: - Writing

  /// The value as JSON without white space.
  package var json: [UInt8] {
    var bytes: [UInt8] = []
    append(to: &bytes)
    return bytes
  }

  private func append(to bytes: inout [UInt8]) {
    switch self {
    case .null: bytes += "null".utf8
    case .boolean(let value): bytes += (value ? "true" : "false").utf8
    case .number(let digits): bytes += digits
    case .string(let text):
      bytes.append(UInt8(ascii: "\""))
      bytes += text
      bytes.append(UInt8(ascii: "\""))
    case .array(let values):
      bytes.append(UInt8(ascii: "["))
      for (index, value) in values.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let members):
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        JSONString.append(member.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        member.value.append(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// Bodies are large, so runs of plain bytes are copied as a whole.
  private static func escaped(_ text: [UInt8]) -> [UInt8] {
    var escaped: [UInt8] = []
    escaped.reserveCapacity(text.count + text.count / 16)
    var index = 0
    while index < text.count {
      let end = JSONRun.plainEnd(text, from: index)
      escaped += text[index..<end]
      guard end < text.count else { break }
      switch text[end] {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): escaped += [UInt8(ascii: "\\"), text[end]]
      case 0x0A: escaped += "\\n".utf8
      case 0x0D: escaped += "\\r".utf8
      case 0x09: escaped += "\\t".utf8
      default: escaped += "\\u00\(text[end] < 16 ? "0" : "")\(String(text[end], radix: 16))".utf8
      }
      index = end + 1
    }
    return escaped
  }
}
