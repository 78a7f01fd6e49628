import SystemIO

/// What a proxy says about a connection before the client's first byte: the PROXY protocol, version 1 or 2 (HAProxy,
/// doc/proxy-protocol.txt).
struct ProxyHeader: Hashable, Sendable {
  /// The most bytes of a header of version 1, with its line end (§2.1).
  static let textLimit = 107
  /// The most bytes of a header of version 2. The protocol permits 65,551, but what is used has at most 232; a proxy can
  /// add a certificate of the client.
  static let binaryLimit = 4096

  /// The client of the proxy. `nil` if the proxy does not name it, or if the connection is its own.
  let client: SocketAddress?
  /// The number of bytes of the header.
  let length: Int

  /// The result of parsing.
  enum Progress: Hashable, Sendable {
    case complete(ProxyHeader)
    /// All bytes belong to the header, and more must follow.
    case incomplete
    case malformed
  }

  /// Parses the header at the start of `bytes`.
  static func parse(_ bytes: [UInt8]) -> Progress {
    guard let first = bytes.first else { return .incomplete }
    return first == signature[0] ? parseBinary(bytes) : parseText(bytes)
  }

  // MARK: Version 1

  private static let word = Array("PROXY ".utf8)

  private static func parseText(_ bytes: [UInt8]) -> Progress {
    guard bytes.starts(with: word.prefix(bytes.count)) else { return .malformed }
    let line = bytes.prefix(textLimit).prefix { (0x20...0x7E).contains($0) }
    let end = bytes[line.endIndex...].prefix(2)
    guard line.count + 2 <= textLimit, end.elementsEqual([0x0D, 0x0A].prefix(end.count)) else {
      return .malformed
    }
    guard end.count == 2 else { return .incomplete }
    let parts = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
    // What follows is to be ignored.
    if parts.count > 1, parts[1] == "UNKNOWN" {
      return .complete(ProxyHeader(client: nil, length: line.count + 2))
    }
    guard parts.count == 6, ["TCP4", "TCP6"].contains(parts[1]) else { return .malformed }
    guard let client = address(parts[2], parts[4]), let server = address(parts[3], parts[5]),
      client.host.isIPv6 == (parts[1] == "TCP6"), server.host.isIPv6 == client.host.isIPv6
    else { return .malformed }
    return .complete(ProxyHeader(client: client, length: line.count + 2))
  }

  private static func address(_ host: Substring, _ port: Substring) -> SocketAddress? {
    guard let host = IPAddress(String(host)), let number = UInt16(port), "\(number)" == port else {
      return nil
    }
    return SocketAddress(host, port: number)
  }

  // MARK: Version 2

  private static let signature: [UInt8] = [
    0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A,
  ]

  /// The header begins with the signature, version and command, family and protocol, and the number of bytes that follow.
  /// These are the addresses, and further values, which are not used.
  private static func parseBinary(_ bytes: [UInt8]) -> Progress {
    guard bytes.starts(with: signature.prefix(bytes.count)) else { return .malformed }
    let fixed = signature.count + 4
    guard bytes.count < 13 || [0x20, 0x21].contains(bytes[12]) else { return .malformed }
    guard bytes.count < 14 || addressLengths[bytes[13]] != nil else { return .malformed }
    guard bytes.count >= fixed else { return .incomplete }
    let length = fixed + Int(bytes[14]) << 8 + Int(bytes[15])
    guard length <= binaryLimit else { return .malformed }
    let (isOwn, family) = (bytes[12] == 0x20, bytes[13])
    guard isOwn || length - fixed >= addressLengths[family] ?? 0 else { return .malformed }
    guard bytes.count >= length else { return .incomplete }
    let client = isOwn ? nil : client(bytes[fixed...], family)
    return .complete(ProxyHeader(client: client, length: length))
  }

  /// The number of bytes of the addresses, by family and protocol: unspecified, and TCP over IPv4, over IPv6 and in Unix
  /// sockets. Other values are for datagrams, or are not defined.
  private static let addressLengths: [UInt8: Int] = [0x00: 0, 0x11: 12, 0x21: 36, 0x31: 216]

  private static func client(_ bytes: ArraySlice<UInt8>, _ family: UInt8) -> SocketAddress? {
    let width: Int
    switch family {
    case 0x11: width = 4
    case 0x21: width = 16
    default: return nil
    }
    // Both hosts come before both ports.
    let port = bytes.dropFirst(2 * width).prefix(2).reduce(0) { $0 << 8 | UInt16($1) }
    return IPAddress(bytes: bytes.prefix(width)).map { SocketAddress($0, port: port) }
  }
}
