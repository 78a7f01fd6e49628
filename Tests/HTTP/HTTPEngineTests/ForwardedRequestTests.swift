import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Requests that are forwarded by proxies.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct ForwardedRequestTests {
  private static let loopback = [TrustedProxy("127.0.0.0/8")].compactMap { $0 }

  private func request(_ forwarded: String, path: String = "/") -> String {
    "GET \(path) HTTP/1.1\r\nHost: a\r\nForwarded: \(forwarded)\r\n\r\n"
  }

  @Test(arguments: [true, false])
  func `handlers and logs get the client that a trusted proxy names, and no other`(isTrusted: Bool)
    async throws
  {
    let (exchanges, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    try await withServer(
      configure: {
        if isTrusted { $0.trustedProxies = Self.loopback }
        $0.onResponse = { continuation.yield($0) }
      },
      handler: { HTTPServerResponse(status: .ok, body: .bytes(Array($0.peer.utf8))) }
    ) { _, port in
      let peers = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        return try ["for=1.2.3.4", "for=9.9.9.9, for=_a"].map { forwarded in
          try client.send(request(forwarded))
          return try client.receiveResponse().text
        }
      }
      var logged: [String] = []
      for await exchange in exchanges {
        logged.append(exchange.peer)
        if logged.count == 2 { break }
      }
      #expect(logged == peers)
      if isTrusted {
        #expect(peers == ["1.2.3.4", "_a"])
      } else {
        #expect(peers.allSatisfy { $0.hasPrefix("127.0.0.1:") })
      }
    }
  }

  @Test(arguments: [true, false])
  func `X-Forwarded fields of trusted proxies are used, if the settings name them`(isTrusted: Bool)
    async throws
  {
    try await withServer(
      configure: {
        if isTrusted { $0.trustedProxies = Self.loopback }
        $0.forwardingFields = .xForwarded
      },
      handler: { request in
        let view = request.forwardedView
        let seen = [view?.isSecure.map { "\($0)" }, view?.authority, view?.basePath].map { $0 ?? "-" }
        return HTTPServerResponse(
          status: .ok, body: .bytes(Array("\(request.peer) \(seen.joined(separator: " "))".utf8)))
      }
    ) { _, port in
      let cases = [
        ("X-Forwarded-For: 1.2.3.4", "1.2.3.4 - - -"),
        ("X-Forwarded-For: 9.9.9.9, 1.2.3.4:5\r\nX-Forwarded-For: 127.0.0.2", "1.2.3.4:5 - - -"),
        ("X-Forwarded-For: 2001:db8::1\r\nX-Forwarded-Proto: HTTPS", "[2001:db8::1] true - -"),
        (
          "X-Forwarded-For: unknown\r\nX-Forwarded-Host: a.example:8\r\nX-Forwarded-Prefix: /a/b/",
          "unknown - a.example:8 /a/b"
        ),
        ("X-Forwarded-For: _a\r\nX-Forwarded-Proto: http\r\nX-Forwarded-Prefix: /", "_a false - "),
        ("X-Forwarded-For: 1.2.3.4\r\nForwarded: for=5.6.7.8", "1.2.3.4 - - -"),
      ]
      let answers = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        return try cases.map { fields, _ in
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
          return try client.receiveResponse().text
        }
      }
      if isTrusted {
        #expect(answers == cases.map(\.1))
      } else {
        #expect(answers.allSatisfy { $0.hasPrefix("127.0.0.1:") && $0.hasSuffix(" - - -") })
      }
    }
  }

  @Test(arguments: [true, false])
  func `malformed and doubled X-Forwarded fields are refused from trusted proxies only`(isTrusted: Bool)
    async throws
  {
    let longest = String(repeating: "a", count: 255)
    let path = "/" + String(repeating: "a", count: 99)
    let refused = [
      "X-Forwarded-For: a", "X-Forwarded-For: 1.2.3.4;5", "X-Forwarded-For: [::1",
      "X-Forwarded-For: x, 1.2.3.4",
      "X-Forwarded-Proto: https\r\nX-Forwarded-Proto: https", "X-Forwarded-Proto: https, http",
      "X-Forwarded-Proto: ftp", "X-Forwarded-Proto:", "X-Forwarded-Host: a\r\nX-Forwarded-Host: a",
      "X-Forwarded-Host: a, b", "X-Forwarded-Host: u@a", "X-Forwarded-Host:", "X-Forwarded-Host: a\(longest)",
      "X-Forwarded-Prefix: /a\r\nX-Forwarded-Prefix: /a", "X-Forwarded-Prefix: a", "X-Forwarded-Prefix: //a",
      "X-Forwarded-Prefix: /a/../b", "X-Forwarded-Prefix: /\"", "X-Forwarded-Prefix: \(path)a",
    ]
    let accepted = ["X-Forwarded-Host: \(longest)", "X-Forwarded-Prefix: \(path)", "X-Forwarded-Prefix:"]
    try await withServer(
      configure: {
        if isTrusted { $0.trustedProxies = Self.loopback }
        $0.forwardingFields = .xForwarded
      }, handler: { try await echo($0) }
    ) { _, port in
      let statuses = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        return try (refused + accepted).map { fields in
          try client.send("GET / HTTP/1.1\r\nHost: a\r\n\(fields)\r\n\r\n")
          return try client.receiveResponse().status
        }
      }
      let expected = refused.map { _ in isTrusted ? 400 : 200 } + accepted.map { _ in 200 }
      #expect(statuses == expected)
    }
  }

  @Test func `a proxy's connections are not limited, but each client's requests are`() async throws {
    let (began, gate) = (Counter(), Signal())
    let full = Signal()
    try await withServer(
      configure: {
        $0.limits.connectionsPerAddress = 2
        $0.trustedProxies = Self.loopback
      },
      handler: { request in
        if request.path == "/wait" {
          began.add()
          if began.value == 4 { full.fire() }
          await gate.wait()
        }
        return try await echo(request)
      }
    ) { _, port in
      let clients = try (0..<5).map { _ in try RawHTTPClient(port: port) }
      for (client, name) in zip(clients, ["1.1.1.1", "1.1.1.1", "2.2.2.2", "2.2.2.2"]) {
        try client.send(request("for=\(name)", path: "/wait"))
      }
      await full.wait()
      try await RawHTTPClient.run {
        let last = clients[4]
        for _ in 0..<2 {
          try last.send(request("for=1.1.1.1"))
          let refusal = try last.receiveResponse()
          #expect(refusal.status == 503)
          #expect(refusal.field("Retry-After") == "1")
          // The connection belongs to the proxy and remains open.
          #expect(refusal.field("Connection") == nil)
        }
        for other in ["3.3.3.3", "unknown", "_a", "127.0.0.1"] {
          try last.send(request("for=\(other)"))
          #expect(try last.receiveResponse().status == 200)
        }
        gate.fire()
        for client in clients.prefix(4) { #expect(try client.receiveResponse().status == 200) }
        try last.send(request("for=1.1.1.1"))
        #expect(try last.receiveResponse().status == 200)
      }
    }
  }

  @Test func `an aborted request no longer counts`() async throws {
    let (began, ended) = (Signal(), Signal())
    let (exchanges, continuation) = AsyncStream.makeStream(of: HTTPExchange.self)
    try await withServer(
      configure: {
        $0.limits.connectionsPerAddress = 1
        $0.trustedProxies = Self.loopback
        $0.onResponse = { continuation.yield($0) }
      },
      handler: { request in
        if request.path == "/wait" {
          began.fire()
          await ended.wait()
        }
        return try await echo(request)
      }
    ) { _, port in
      let first = try RawHTTPClient(port: port)
      try first.send(request("for=1.1.1.1", path: "/wait"))
      await began.wait()
      first.reset()
      for await exchange in exchanges {
        #expect(!exchange.isComplete)
        break
      }
      ended.fire()
      let status = try await RawHTTPClient.run {
        let second = try RawHTTPClient(port: port)
        try second.send(request("for=1.1.1.1"))
        return try second.receiveResponse().status
      }
      #expect(status == 200)
    }
  }
}
