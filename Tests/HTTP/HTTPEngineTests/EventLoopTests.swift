import HTTPEngine
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct EventLoopTests {
  @Test func `a connection after a long silence has all its time`() async throws {
    // Nothing makes this server's loop look at its clock until the other one has given up a silent client.
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
          // Once the second is answered, the first has been let in and judged.
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
