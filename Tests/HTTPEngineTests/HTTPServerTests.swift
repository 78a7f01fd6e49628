import HTTPEngine
import HTTPTypes
import SystemIO
import TestSupport
import Testing

@Suite struct HTTPServerTests {
  @Test func `a request is answered and the connection kept`() async throws {
    try await withServer(handler: echo) { _, port in
      try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        for path in ["/", "/one", "/two"] {
          try client.send("GET \(path) HTTP/1.1\r\nHost: a\r\n\r\n")
          let response = try client.receiveResponse()
          #expect(response.status == 200)
          #expect(response.text == "GET \(path)")
          #expect(response.field("Connection") == nil)
          #expect(response.field("Date")?.hasSuffix(" GMT") == true)
        }
      }
    }
  }
}
