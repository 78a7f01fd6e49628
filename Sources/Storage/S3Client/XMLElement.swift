/// An element of an XML document as S3 sends them: names, text and elements.
///
/// Attributes, namespaces, comments and instructions are skipped. Declarations of a document type are refused, because
/// they can define entities that expand without limit.
struct XMLElement: Sendable, Hashable {
  /// Why a document can't be read.
  struct Malformation: Error, Hashable { let reason: String }

  /// The name without a prefix.
  let name: String
  /// The text directly in the element.
  private(set) var text = ""
  private(set) var elements: [XMLElement] = []

  fileprivate init(name: String) { self.name = name }

  /// Reads a document of at most ``S3Limits/documentBytes``, and returns its outermost element.
  init(document: some Collection<UInt8>) throws(Malformation) {
    guard document.count <= S3Limits.documentBytes else { throw Malformation(reason: "it is too long") }
    var parser = XMLParser(bytes: Array(document))
    self = try parser.document()
  }

  /// The text of the first element with a name; `nil` if there is none.
  subscript(name: String) -> String? { first(name)?.text }

  /// The first element with a name.
  func first(_ name: String) -> XMLElement? { elements.first { $0.name == name } }

  /// All elements with a name.
  func all(_ name: String) -> [XMLElement] { elements.filter { $0.name == name } }

  /// Escapes a text so that it can be the content of an element.
  static func escape(_ text: String) -> String {
    text.reduce(into: "") { escaped, character in
      switch character {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      default: escaped.append(character)
      }
    }
  }

  fileprivate mutating func append(_ element: XMLElement) { elements.append(element) }
  fileprivate mutating func append(_ more: String) { text += more }
}

/// Reads one document.
private struct XMLParser {
  typealias Malformation = XMLElement.Malformation

  let bytes: [UInt8]
  private var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func document() throws(Malformation) -> XMLElement {
    var open: [XMLElement] = []
    while position < bytes.count {
      guard bytes[position] == UInt8(ascii: "<") else {
        let text = try self.text()
        if open.isEmpty {
          guard text.allSatisfy(\.isWhitespace) else { throw Malformation(reason: "it begins with text") }
        } else {
          open[open.count - 1].append(text)
        }
        continue
      }
      if skip("<?") {
        try skipPast("?>")
      } else if skip("<!--") {
        try skipPast("-->")
      } else if skip("<![CDATA[") {
        guard !open.isEmpty else { throw Malformation(reason: "it begins with text") }
        let start = position
        try skipPast("]]>")
        open[open.count - 1].append(try decode(bytes[start..<position - 3]))
      } else if skip("<!") {
        throw Malformation(reason: "it has a declaration")
      } else if skip("</") {
        let name = try self.name()
        try skipPast(">")
        guard let element = open.popLast(), element.name == name else {
          throw Malformation(reason: "an element ends that has not begun")
        }
        if open.isEmpty { return element }
        open[open.count - 1].append(element)
      } else {
        position += 1
        let element = XMLElement(name: try name())
        if try skipAttributes() {
          if open.isEmpty { return element }
          open[open.count - 1].append(element)
        } else {
          guard open.count < S3Limits.documentDepth else { throw Malformation(reason: "it is too deep") }
          open.append(element)
        }
      }
    }
    throw Malformation(reason: "it ends too early")
  }

  private mutating func skip(_ text: StaticString) -> Bool {
    let wanted = Array("\(text)".utf8)
    guard bytes[position...].starts(with: wanted) else { return false }
    position += wanted.count
    return true
  }

  private mutating func skipPast(_ text: StaticString) throws(Malformation) {
    while position < bytes.count {
      if skip(text) { return }
      position += 1
    }
    throw Malformation(reason: "it ends too early")
  }

  /// Reads a name, and drops its prefix.
  private mutating func name() throws(Malformation) -> String {
    let start = position
    while position < bytes.count, !Self.endsName(bytes[position]) { position += 1 }
    guard let name = try decode(bytes[start..<position]).split(separator: ":").last else {
      throw Malformation(reason: "an element has no name")
    }
    return String(name)
  }

  private static func endsName(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: ">") || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "<")
  }

  /// Skips the rest of a tag.
  /// - Returns: whether the element ends with the tag.
  private mutating func skipAttributes() throws(Malformation) -> Bool {
    var quote: UInt8?
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      if let open = quote {
        if byte == open { quote = nil }
      } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
        quote = byte
      } else if byte == UInt8(ascii: ">") {
        return bytes[position - 2] == UInt8(ascii: "/")
      }
    }
    throw Malformation(reason: "it ends too early")
  }

  /// Reads text up to the next tag, and replaces its references.
  private mutating func text() throws(Malformation) -> String {
    let end = bytes[position...].firstIndex(of: UInt8(ascii: "<")) ?? bytes.count
    defer { position = end }
    let parts = try decode(bytes[position..<end]).split(separator: "&", omittingEmptySubsequences: false)
    var text = String(parts[0])
    for part in parts.dropFirst() {
      guard let semicolon = part.firstIndex(of: ";"), let value = Self.value(of: part[..<semicolon]) else {
        throw Malformation(reason: "it has an unknown reference")
      }
      text.unicodeScalars.append(value)
      text += part[part.index(after: semicolon)...]
    }
    return text
  }

  private static func value(of reference: Substring) -> Unicode.Scalar? {
    switch reference {
    case "amp": return "&"
    case "lt": return "<"
    case "gt": return ">"
    case "quot": return "\""
    case "apos": return "'"
    default: break
    }
    if reference.hasPrefix("#x") {
      return UInt32(reference.dropFirst(2), radix: 16).flatMap(Unicode.Scalar.init)
    }
    guard reference.hasPrefix("#") else { return nil }
    return UInt32(reference.dropFirst()).flatMap(Unicode.Scalar.init)
  }

  private func decode(_ bytes: ArraySlice<UInt8>) throws(Malformation) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Malformation(reason: "it is not UTF-8")
    }
    return text
  }
}
