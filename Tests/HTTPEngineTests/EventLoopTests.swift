import HTTPEngine
import TestSupport
import Testing

@Suite struct EventLoopTests {
  @Test func `a connection after a long silence has all its time`() async throws {
    // Nothing makes this server's loop look at its clock until the other one has given up a silent client.
    try await withServer(
      configure: {
        $0.eventLoops = 1
        $0.limits.idleTime = .milliseconds(1000)
      }, handler: echo
    ) { _, port in
      try await withServer(configure: { $0.limits.idleTime = .milliseconds(1500) }, handler: echo) {
        _, other in
        try await RawHTTPClient.run {
          #expect(try RawHTTPClient(port: other).isClosedByPeer())
          let client = try RawHTTPClient(port: port)
          let clock = try RawHTTPClient(port: other)
          for _ in 0..<20 {
            try clock.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            _ = try clock.receiveResponse()
          }
          try client.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
          #expect(try client.receiveResponse().text == "GET /late")
        }
      }
    }
  }
}
