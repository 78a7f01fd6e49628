/// One end of a hop, as the proxy that took the request from it names it in `Forwarded` (RFC 7239 §6).
public enum ForwardedNode: Hashable, Sendable {
  /// What looks like an IPv4 address or, without its brackets, an IPv6 address; whether it is one, whoever reads
  /// addresses tells. The port where one was given.
  case address(String, port: UInt16?)
  /// The proxy doesn't know, or doesn't say.
  case unknown
  /// A name that means something to the proxy alone: `_` and what follows.
  case obfuscated(String)

  /// Reads a node without the quotes around it.
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
