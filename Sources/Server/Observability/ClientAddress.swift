import SystemIO

/// Whose requests are counted together, made of what a request says of its sender.
package struct ClientAddress: Sendable, Hashable, CustomStringConvertible {
  /// The address without its port: for people and logs.
  package let description: String
  /// The whole of an IPv4 address, the first 64 bits of an IPv6 address, or a proxy's own name for the client.
  package var counted: String { IPAddress(description).map { "\($0.client)" } ?? description }

  /// Reads `192.0.2.1:4711`, `[2001:db8::1]:4711`, either without its port, `unknown`, or a name like `_hidden`.
  package init(peer: String) {
    var text = Substring(peer).utf8
    if text.first == UInt8(ascii: "[") {
      text = text.dropFirst().prefix { $0 != UInt8(ascii: "]") }
    } else if let colon = text.firstIndex(of: UInt8(ascii: ":")),
      colon == text.lastIndex(of: UInt8(ascii: ":"))
    {
      text = text[..<colon]
    }
    description = String(Substring(text))
  }
}
