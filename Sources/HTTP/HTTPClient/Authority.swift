/// The host and port of an `http` URL (RFC 3986 §3.2, RFC 6874), without user information.
package struct Authority: Hashable, Sendable {
  /// A name, an IPv4 address, or an IPv6 address without its brackets, with its zone if it has one.
  package let host: String
  /// The port, if the URL has one.
  package let port: UInt16?
  /// The authority as written in the URL.
  package let text: String

  /// Reads `host`, `host:port` or `[IPv6]:port`. Returns `nil` for any other text, including one with user information.
  package init?(_ text: String) {
    let bytes = Substring(text)
    let host: Substring
    var rest: Substring
    if bytes.first == "[" {
      guard let end = bytes.firstIndex(of: "]") else { return nil }
      host = bytes[bytes.index(after: bytes.startIndex)..<end]
      rest = bytes[bytes.index(after: end)...]
      let zone = host.firstRange(of: "%25")
      let address = host[..<(zone?.lowerBound ?? host.endIndex)]
      guard address.contains(":"),
        address.utf8.allSatisfy({ Self.isHexadecimal($0) || $0 == 0x3A || $0 == 0x2E })
      else {
        return nil
      }
      if let zone {
        let name = host[zone.upperBound...]
        guard !name.isEmpty, name.utf8.allSatisfy(Self.isNameByte) else { return nil }
      }
    } else {
      host = bytes.prefix { $0 != ":" }
      rest = bytes[host.endIndex...]
      guard !host.isEmpty, host.utf8.allSatisfy(Self.isNameByte) else { return nil }
    }
    if rest.isEmpty {
      port = nil
    } else {
      guard rest.removeFirst() == ":", !rest.isEmpty, rest.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
        let number = UInt16(rest)
      else {
        return nil
      }
      port = number
    }
    self.host = String(host)
    self.text = text
  }

  /// The host in the form in which equal hosts have equal texts: in lower case, without a dot at the end.
  package var name: String {
    let name = host.lowercased()
    return name.hasSuffix(".") ? String(name.dropLast()) : name
  }

  /// Whether the host is certainly this machine: `localhost`, `127.0.0.0/8` as four decimal numbers, or `::1`.
  package var isLoopback: Bool {
    if host.lowercased() == "localhost" || host.prefix(while: { $0 != "%" }) == "::1" { return true }
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil && $0.first != "+" }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"):
      true
    default: false
    }
  }

  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x30...0x39, 0x41...0x46, 0x61...0x66: true
    default: false
    }
  }
}
