public import HTTPTypes

/// The `for` parameters of `Forwarded` (RFC 7239 §4): the node from which each proxy received the request. The last hop
/// comes first, because each proxy appends its element.
///
/// The fields are also parsed from the end, so that nothing a client wrote in front of the proxies' elements, such as a
/// quote that is never closed, changes how those are read. The sequence ends before the first element that is malformed
/// or has no `for`.
public struct ForwardedHops: Sequence, IteratorProtocol, Sendable {
  private var lines: [Substring.UTF8View]

  /// Reads the hops from `fields`.
  public init(in fields: HTTPFields) { lines = fields[values: .forwarded].map { Substring($0).utf8 } }

  /// Returns the next hop, from the last one towards the client.
  public mutating func next() -> ForwardedNode? {
    while let element = takeElement() {
      // Recipients must ignore empty list elements (RFC 9110 §5.6.1.2).
      if element.allSatisfy({ $0 == " " || $0 == "\t" }) { continue }
      var scanner = FieldScanner(";" + element)
      if let text = scanner.parameters()?["for"], let node = ForwardedNode(text) { return node }
      lines = []
    }
    return nil
  }

  /// Removes and returns the text after the last comma outside quotes.
  private mutating func takeElement() -> Substring? {
    guard let line = lines.popLast() else { return nil }
    var isQuoted = false
    var index = line.endIndex
    while index > line.startIndex {
      index = line.index(before: index)
      if line[index] == UInt8(ascii: "\"") { isQuoted.toggle() }
      if line[index] == UInt8(ascii: ","), !isQuoted {
        lines.append(line[..<index])
        return Substring(line[line.index(after: index)...])
      }
    }
    return Substring(line)
  }
}

/// A node in `Forwarded`, as the proxy that received the request from it names it (RFC 7239 §6).
public enum ForwardedNode: Hashable, Sendable {
  /// Text in the form of an IPv4 address or, without its brackets, of an IPv6 address, and the port if there is one.
  /// Only the form was checked: the text may be no valid address.
  case address(String, port: UInt16?)
  /// The proxy does not know the node, or does not disclose it.
  case unknown
  /// A name that only the proxy understands: `_` and the characters after it.
  case obfuscated(String)

  /// Reads a node. `text` has no quotes around it.
  public init?(_ text: some StringProtocol) {
    let text = Substring(text)
    let isBracketed = text.first == "["
    let nameEnd = (isBracketed ? text.firstIndex(of: "]").map(text.index(after:)) : text.firstIndex(of: ":"))
    let name = text[..<(nameEnd ?? text.endIndex)]
    let rest = text[name.endIndex...]
    guard rest.isEmpty || rest.first == ":" && Self.isPort(rest.dropFirst()) else { return nil }
    let port = UInt16(rest.dropFirst())
    if isBracketed {
      let inner = name.dropFirst().dropLast()
      guard name.last == "]", inner.contains(":"),
        inner.utf8.allSatisfy({ Self.isHex($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
      else { return nil }
      self = .address(String(inner), port: port)
    } else if Self.isObfuscated(name) {
      self = .obfuscated(String(name))
    } else if name.lowercased() == "unknown" {
      self = .unknown
    } else if !name.isEmpty, name.utf8.allSatisfy({ Self.isDigit($0) || $0 == UInt8(ascii: ".") }) {
      self = .address(String(name), port: port)
    } else {
      return nil
    }
  }

  private static func isPort(_ text: Substring) -> Bool {
    isObfuscated(text) || (1...5).contains(text.utf8.count) && text.utf8.allSatisfy(isDigit)
  }

  private static func isObfuscated(_ text: Substring) -> Bool {
    text.utf8.count > 1 && text.first == "_"
      && text.utf8.dropFirst().allSatisfy { isDigit($0) || isLetter($0) || "._-".utf8.contains($0) }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isHex(_ byte: UInt8) -> Bool {
    isDigit(byte) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
  }
}
