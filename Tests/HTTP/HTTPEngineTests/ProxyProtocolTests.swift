import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Connections that begin with a header of the PROXY protocol.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct ProxyProtocolTests {
  private static let text = Array("PROXY TCP4 192.0.2.1 10.0.0.1 4711 443\r\n".utf8)
  private static let binary: [UInt8] =
    [0x0D, 0x0A, 0x0D, 0x0A, 0, 0x0D, 0x0A] + Array("QUIT\n".utf8)
    + [0x21, 0x11, 0, 12, 192, 0, 2, 1, 10, 0, 0, 1, 0x12, 0x67, 0x01, 0xBB]

  private static let request = "GET / HTTP/1.1\r\nHost: a\r\nForwarded: for=203.0.113.9\r\n\r\n"

  /// Runs `body` with the port of a server that trusts `proxies`, and answers with the name of the client.
  private func withProxyServer<Result: Sendable>(
    trusting proxies: [String] = ["127.0.0.0/8"],
    _ change: (inout HTTPServer.Configuration) -> Void = { _ in },
    _ body: @escaping @Sendable (UInt16) throws -> Result
  ) async throws -> Result {
    try await withServer(
      configure: {
        $0.proxyProtocol = true
        $0.trustedProxies = proxies.compactMap(TrustedProxy.init)
        change(&$0)
      },
      handler: { HTTPServerResponse(status: .ok, body: .bytes(Array($0.peer.utf8))) }
    ) { _, port in try await RawHTTPClient.run { try body(port) } }
  }

  @Test(arguments: [text, binary])
  func `the client is the one that the header names, wherever it is split`(header: [UInt8]) async throws {
    try await withProxyServer { port in
      for end in header.indices where end % 3 == 0 {
        let client = try RawHTTPClient(port: port, preface: Array(header[..<end]), tls: nil)
        try client.send(Array(header[end...]))
        guard !RawHTTPClient.usesTLS else { continue }
        for _ in 0..<2 {
          try client.send(Self.request)
          #expect(try client.receiveResponse().text == "192.0.2.1:4711")
        }
      }
      let client = try RawHTTPClient(port: port, preface: header)
      try client.send(Self.request + Self.request)
      for _ in 0..<2 { #expect(try client.receiveResponse().text == "192.0.2.1:4711") }
    }
  }

  @Test func `a named client that is a trusted proxy itself names the client in its requests`() async throws {
    try await withProxyServer(trusting: ["127.0.0.0/8", "192.0.2.0/24"]) { port in
      let client = try RawHTTPClient(port: port, preface: Self.text)
      try client.send(Self.request)
      #expect(try client.receiveResponse().text == "203.0.113.9")
    }
  }

  @Test func `without a named client the address is the proxy's, and no field is believed`() async throws {
    let own = Array(Self.binary[..<12]) + [0x20, 0, 0, 0]
    try await withProxyServer { port in
      for header in [Array("PROXY UNKNOWN\r\n".utf8), own] {
        let client = try RawHTTPClient(port: port, preface: header)
        try client.send(Self.request)
        #expect(try client.receiveResponse().text.hasPrefix("127.0.0.1:"))
      }
    }
  }

  @Test func `a connection from elsewhere is closed, with a header or without`() async throws {
    try await withProxyServer(trusting: ["10.0.0.0/8"]) { port in
      for preface in [Self.text, []] {
        let client = try RawHTTPClient(port: port, preface: preface, tls: nil)
        // The server may have closed the connection by now.
        do { try client.send(Self.request) } catch is RawHTTPClient.Failure {}
        #expect(Self.isClosed(client))
      }
    }
  }

  @Test func `a connection without a header is closed`() async throws {
    try await withProxyServer { port in
      for preface in ["GET / HTTP/1.1\r\nHost: a\r\n\r\n", "PROXY TCP4 a b 1 2\r\n", "\u{16}\u{3}\u{1}"] {
        let client = try RawHTTPClient(port: port, preface: Array(preface.utf8), tls: nil)
        #expect(Self.isClosed(client))
      }
      // One that ends within its header, and one that only examines whether the server listens.
      for preface in [Array(Self.text.prefix(10)), []] {
        let client = try RawHTTPClient(port: port, preface: preface, tls: nil)
        client.endSending()
        #expect(Self.isClosed(client))
      }
      let client = try RawHTTPClient(port: port, preface: Self.text)
      try client.send(Self.request)
      #expect(try client.receiveResponse().status == 200)
    }
  }

  @Test func `a header that does not arrive in time ends the connection`() async throws {
    try await withProxyServer({ $0.limits.handshakeTime = .milliseconds(50) }) { port in
      for preface in [Array(Self.text.prefix(20)), []] {
        let client = try RawHTTPClient(port: port, preface: preface, tls: nil)
        #expect(Self.isClosed(client))
      }
    }
  }

  @Test func `each named client has a limited number of connections`() async throws {
    try await withProxyServer({ $0.limits.connectionsPerAddress = 1 }) { port in
      let other = Array("PROXY TCP4 192.0.2.2 10.0.0.1 4711 443\r\n".utf8)
      let clients = try [Self.text, Self.binary, other].map { header in
        let client = try RawHTTPClient(port: port, preface: header)
        try client.send(Self.request)
        return (client, try client.receiveResponse().status)
      }
      #expect(clients.map(\.1) == [200, 503, 200])
    }
  }

  @Test func `an idle connection does not delay the end of the server`() async throws {
    let client = try await withProxyServer { port in
      try RawHTTPClient(port: port, preface: Array(Self.text.prefix(5)), tls: nil)
    }
    #expect(Self.isClosed(client))
  }

  /// Whether the server has closed the connection without a response.
  private static func isClosed(_ client: RawHTTPClient) -> Bool {
    // A reset says the same.
    do { return try client.receive().isEmpty } catch { return true }
  }
}
