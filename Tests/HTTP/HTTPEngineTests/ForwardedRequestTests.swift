import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Requests that are forwarded by proxies.
@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct ForwardedRequestTests {
  private static let loopback = [AddressBlock("127.0.0.0/8")].compactMap { $0 }

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
