import Foundation
import SnapshotSettings
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct BetaSettingsServerTests {
  @Test func `the page is at its link until the server is stopped`() async throws {
    let app = try SampleApp(server: try #require(URL(string: "http://127.0.0.1:1")))
    let server = BetaSettingsServer(app.settings)
    #expect(server.makeLink() == nil)
    let link = try await server.start()
    #expect(link.host() == "127.0.0.1")
    let port = UInt16(try #require(link.port))
    let second = try #require(server.makeLink())
    #expect(second != link)

    try await RawHTTPClient.run {
      let client = try RawHTTPClient(port: port)
      for link in [link, second] {
        try client.send("GET /?\(link.query() ?? "") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
        let entrance = try client.receiveResponse()
        #expect(entrance.status == 200)
        let cookie = try #require(entrance.field("Set-Cookie")).prefix { $0 != ";" }
        try client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nCookie: a=b; \(cookie)\r\n\r\n")
        let page = try client.receiveResponse()
        #expect(page.status == 200)
        #expect(page.text.contains("Forecast"))
      }
      try client.send("GET /?\(link.query() ?? "") HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
      #expect(try client.receiveResponse().status == 403)
      try client.send(
        "POST /state HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Length: 16385\r\n\r\n")
      #expect(try client.receiveResponse().status >= 400)
    }
    await server.stop()
    await #expect(throws: (any Error).self) {
      try await RawHTTPClient.run { _ = try RawHTTPClient(port: port) }
    }
  }
}
