import SystemIO
import Testing

@testable import HTTPEngine

/// The parser of the PROXY protocol.
@Suite struct ProxyHeaderTests {
  /// A header, and the client that it names.
  struct Sample: Sendable, CustomTestStringConvertible {
    let bytes: [UInt8]
    let client: String?
    var testDescription: String { "\(bytes.prefix(60))" }

    init(_ bytes: [UInt8], _ client: String?) { (self.bytes, self.client) = (bytes, client) }
    init(_ text: String, _ client: String?) { self.init(Array(text.utf8), client) }
  }

  private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A] + Array("QUIT\n".utf8)

  private static func binary(_ command: UInt8, _ family: UInt8, _ rest: [UInt8]) -> [UInt8] {
    signature + [command, family, UInt8(rest.count >> 8), UInt8(rest.count & 0xFF)] + rest
  }

  private static let v4: [UInt8] = [192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x67, 0x01, 0xBB]
  private static let v6: [UInt8] =
    [0x20, 0x01, 0x0D, 0xB8] + [UInt8](repeating: 0, count: 11) + [0x17]
    + [UInt8](repeating: 0, count: 15) + [1, 0x00, 0x50, 0x01, 0xBB]
  private static let longest =
    "PROXY UNKNOWN ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff "
    + "65535 65535\r\n"

  static let samples: [Sample] = [
    Sample("PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n", "192.0.2.1:4711"),
    Sample("PROXY TCP4 255.255.255.255 255.255.255.255 65535 65535\r\n", "255.255.255.255:65535"),
    Sample("PROXY TCP4 192.0.2.1 10.0.0.1 0 0\r\n", "192.0.2.1:0"),
    Sample("PROXY TCP6 2001:DB8::17 ::1 80 443\r\n", "[2001:db8::17]:80"),
    Sample("PROXY TCP6 ::ffff:192.0.2.1 ::1 80 443\r\n", "[::ffff:192.0.2.1]:80"),
    Sample("PROXY UNKNOWN\r\n", nil), Sample("PROXY UNKNOWN \r\n", nil), Sample(longest, nil),
    Sample(binary(0x21, 0x11, v4), "192.0.2.1:4711"),
    Sample(binary(0x21, 0x21, v6), "[2001:db8::17]:80"),
    // Further values follow the addresses: a name of the host, and room.
    Sample(binary(0x21, 0x11, v4 + [0x02, 0, 1, 0x61, 0x04, 0, 2, 0, 0]), "192.0.2.1:4711"),
    Sample(binary(0x21, 0x31, [UInt8](repeating: 0x61, count: 216)), nil),
    Sample(binary(0x21, 0x00, []), nil), Sample(binary(0x21, 0x00, [1, 2, 3]), nil),
    // The connection is the proxy's own, whatever the addresses are.
    Sample(binary(0x20, 0x00, []), nil), Sample(binary(0x20, 0x11, v4), nil),
    Sample(binary(0x20, 0x11, []), nil),
  ]

  @Test(arguments: samples)
  func `a header ends at its last byte, wherever it is split`(sample: Sample) {
    let header = ProxyHeader(client: nil, length: sample.bytes.count)
    let following = Array("GET / HTTP/1.1\r\n".utf8)
    for end in 0..<sample.bytes.count {
      #expect(ProxyHeader.parse(Array(sample.bytes[..<end])) == .incomplete, "\(end) bytes")
    }
    for bytes in [sample.bytes, sample.bytes + following] {
      guard case .complete(let parsed) = ProxyHeader.parse(bytes) else {
        Issue.record("not complete")
        continue
      }
      #expect(parsed.length == header.length)
      #expect(parsed.client?.description == sample.client)
    }
  }

  @Test func `a header has at most as many bytes as the limits say`() {
    #expect(Self.longest.utf8.count == ProxyHeader.textLimit)
    let fill = { (count: Int) in
      Array(("PROXY UNKNOWN " + String(repeating: "a", count: count - 16) + "\r\n").utf8)
    }
    for count in [ProxyHeader.textLimit - 1, ProxyHeader.textLimit] {
      #expect(ProxyHeader.parse(fill(count)) == .complete(ProxyHeader(client: nil, length: count)))
    }
    #expect(ProxyHeader.parse(fill(ProxyHeader.textLimit + 1)) == .malformed)
    #expect(ProxyHeader.parse(Array(fill(ProxyHeader.textLimit + 1).dropLast(3))) == .incomplete)
    #expect(ProxyHeader.parse(Array(fill(ProxyHeader.textLimit + 1).dropLast(2))) == .malformed)

    let values = { (count: Int) in Self.binary(0x21, 0x11, Self.v4 + [UInt8](repeating: 0, count: count - 28))
    }
    for count in [ProxyHeader.binaryLimit - 1, ProxyHeader.binaryLimit] {
      guard case .complete(let header) = ProxyHeader.parse(values(count)) else {
        Issue.record("\(count) bytes are not complete")
        continue
      }
      #expect(header.length == count)
    }
    // Refused as soon as the length has arrived.
    #expect(ProxyHeader.parse(Array(values(ProxyHeader.binaryLimit + 1).prefix(16))) == .malformed)
    #expect(ProxyHeader.parse(Self.binary(0x20, 0x00, [UInt8](repeating: 0, count: 65_535))) == .malformed)
  }

  @Test(arguments: [
    "G", "GET / HTTP/1.1\r\n", "proxy UNKNOWN\r\n", "PROXY\tUNKNOWN\r\n", "PROXY  UNKNOWN\r\n",
    "PROXY UNKNOWNS\r\n",
    "PROXY\r\n", "PROXY \r\n", "PROXY TCP4\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 4711\r\n",
    "PROXY TCP4 192.0.2.1 10.0.0.1 4711 443 1\r\n", "PROXY TCP4  192.0.2.1 10.0.0.1 4711 443\r\n",
    "PROXY TCP4 192.0.2.1 10.0.0.1 4711 443 \r\n", "PROXY TCP4 192.0.2.256 10.0.0.1 4711 443\r\n",
    "PROXY TCP4 192.0.2 10.0.0.1 4711 443\r\n", "PROXY TCP4 ::1 ::1 4711 443\r\n",
    "PROXY TCP6 192.0.2.1 10.0.0.1 4711 443\r\n", "PROXY TCP6 ::1 10.0.0.1 4711 443\r\n",
    "PROXY TCP4 192.0.2.1 10.0.0.1 65536 443\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 4711 65536\r\n",
    "PROXY TCP4 192.0.2.1 10.0.0.1 04711 443\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1 +1 443\r\n",
    "PROXY TCP4 192.0.2.1 10.0.0.1 -1 443\r\n", "PROXY TCP4 192.0.2.1 10.0.0.1  443\r\n",
    "PROXY UDP4 192.0.2.1 10.0.0.1 4711 443\r\n", "PROXY UNKNOWN\n", "PROXY UNKNOWN\rX",
    "PROXY UNKNOWN \u{1}\r\n",
    "PROXY UNKNOWN ä\r\n", "PROXY TCP4 a b 1 2\r\n",
  ]) func `a malformed header of version 1 is refused`(text: String) {
    #expect(ProxyHeader.parse(Array(text.utf8)) == .malformed)
  }

  @Test func `a malformed header of version 2 is refused, as early as possible`() {
    let short: [[UInt8]] = [
      // The version, the command, the family, the protocol.
      [0x11], [0x01], [0x31], [0x22], [0x2F], [0x21, 0x12], [0x21, 0x22], [0x21, 0x32], [0x21, 0x10],
      [0x21, 0x41],
      [0x21, 0x01], [0x20, 0x12],
      // The addresses do not fit into the length.
      [0x21, 0x11, 0, 11], [0x21, 0x21, 0, 35], [0x21, 0x31, 0, 215],
    ]
    for rest in short { #expect(ProxyHeader.parse(Self.signature + rest) == .malformed, "\(rest)") }
    for index in Self.signature.indices {
      var changed = Array(Self.signature[...index])
      changed[index] ^= 0x20
      #expect(ProxyHeader.parse(changed) == .malformed)
    }
  }

  @Test func `a warning is let through once a minute, with the number of those left out`() {
    var warning = RareWarning()
    #expect(warning.admit(at: 0) == 0)
    for now in [0, 1, RareWarning.interval - 1] { #expect(warning.admit(at: now) == nil) }
    #expect(warning.admit(at: RareWarning.interval) == 3)
    #expect(warning.admit(at: RareWarning.interval + 1) == nil)
    #expect(warning.admit(at: 10 * RareWarning.interval) == 1)
  }
}
