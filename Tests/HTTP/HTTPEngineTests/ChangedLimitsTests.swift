import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

/// Other limits and trusted proxies for a server that runs.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ChangedLimitsTests {
  @Test func `other limits apply to open connections too, and close none`() async throws {
    var limits = HTTPLimits()
    limits.fieldCount = 3
    let (limited, request) = (limits, "GET / HTTP/1.1\r\nHost: a\r\nA: 1\r\nB: 2\r\nC: 3\r\n\r\n")
    try await withServer(configure: { $0.eventLoops = 2 }, handler: echo) { server, port in
      let client = try RawHTTPClient(port: port)
      let statuses = { @Sendable () throws -> Int in
        try client.send(request)
        return try client.receiveResponse().status
      }
      #expect(try await RawHTTPClient.run(statuses) == 200)
      await server.change(limits: limited, trustedProxies: [])
      #expect(try await RawHTTPClient.run(statuses) == 431)
      #expect(
        try await RawHTTPClient.run {
          let other = try RawHTTPClient(port: port)
          try other.send(request)
          return try other.receiveResponse().status
        } == 431)
    }
  }

  @Test func `the counted connections remain counted, and a lower limit closes none`() async throws {
    var limits = HTTPLimits()
    limits.connectionsPerAddress = 1
    let limited = limits
    try await withServer(handler: echo) { server, port in
      let clients = try [RawHTTPClient(port: port), RawHTTPClient(port: port)]
      func statuses() async throws -> [Int] {
        try await RawHTTPClient.run {
          try clients.map { client in
            try client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return try client.receiveResponse().status
          }
        }
      }
      #expect(try await statuses() == [200, 200])
      await server.change(limits: limited, trustedProxies: [])
      #expect(try await statuses() == [200, 200])
      let refused = try await RawHTTPClient.run { try RawHTTPClient(port: port).receiveResponse().status }
      #expect(refused == 503)
      #expect(server.openConnections == 2)
    }
  }

  @Test func `a proxy that becomes trusted names the clients of new connections`() async throws {
    let proxy = try #require(TrustedProxy("127.0.0.1"))
    let handler: @Sendable (HTTPServerRequest) async throws -> HTTPServerResponse = { request in
      HTTPServerResponse(status: .ok, body: .bytes(Array(request.peer.utf8)))
    }
    try await withServer(handler: handler) { server, port in
      func peer() async throws -> String {
        try await RawHTTPClient.run {
          let client = try RawHTTPClient(port: port)
          try client.send("GET / HTTP/1.1\r\nHost: a\r\nForwarded: for=192.0.2.7\r\n\r\n")
          return try client.receiveResponse().text
        }
      }
      let former = try await peer()
      #expect(former.hasPrefix("127.0.0.1:"))
      await server.change(limits: HTTPLimits(), trustedProxies: [proxy])
      let new = try await peer()
      #expect(new == "192.0.2.7")
    }
  }
}
