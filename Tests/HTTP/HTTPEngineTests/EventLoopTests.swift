import HTTPEngine
import TestSupport
import Testing

@Suite(.alsoOverTLS, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct EventLoopTests {
  @Test func `a connection after a long idle time gets its full time limit`() async throws {
    // The loop of this server updates its time only after the other server has closed an idle connection.
    try await withServer(
      configure: {
        $0.eventLoops = 1
        $0.limits.idleTime = .seconds(2)
      }, handler: echo
    ) { _, port in
      try await withServer(configure: { $0.limits.idleTime = .milliseconds(2200) }, handler: echo) {
        _, other in
        try await RawHTTPClient.run {
          #expect(try RawHTTPClient(port: other).isClosedByPeer())
          let first = try RawHTTPClient(port: port)
          // The response to the second request shows that the first connection was accepted and handled.
          let second = try RawHTTPClient(port: port)
          for client in [second, first] {
            try client.send("GET /late HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.receiveResponse().text == "GET /late")
          }
        }
      }
    }
  }
}
