import ReplayServer
import TestSupport
import Testing

@Suite struct ReplayPageTests {
  @Test func `the page shows what was asked, answered and missing, and escapes it`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/feed", 200, [:], "x")
    try fixture.add("<b>id</b>", "x")
    try await withReplay(of: fixture, map: ["<b>id</b>=/mapped"]) { replay in
      #expect(try await replay.send("GET", "/__snapshot/").text.contains("Nothing was asked so far."))
      _ = try await replay.send("GET", "/feed")
      _ = try await replay.send("GET", "/feed?a=1")
      _ = try await replay.send("GET", "/feed?x='&amp;")
      let answer = try await replay.send("GET", "/__snapshot/")
      #expect(answer.field("Content-Security-Policy")?.contains("default-src 'none'") == true)
      let page = try HTMLPage(answer.body)
      #expect(page.violations == [])
      let main = try #require(page.all("main").first).text
      #expect(main.contains("3 asked, 1 answered, 2 missing"))
      #expect(main.contains("GET /feed"))
      #expect(main.contains("recording 1 of 1"))
      #expect(main.contains("from https://a.example, 1 call, asked 1 ×"))
      #expect(main.contains("not asked"))
      #expect(page.all("script").count == 1)
      // The page itself is not a request of the app.
      #expect(replay.log.state.total == 3)
    }
  }

  @Test func `its parts are served, and nothing else`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/x")
    try await withReplay(of: fixture) { replay async throws in
      for name in ["page.css", "page.js", "icon.svg"] {
        #expect(try await replay.send("GET", "/__snapshot/\(name)").status == 200, "\(name)")
      }
      #expect(try await replay.send("GET", "/__snapshot").field("Location") == "/__snapshot/")
      #expect(try await replay.send("GET", "/__snapshot/other").status == 404)
      #expect(try await replay.send("POST", "/__snapshot/").status == 404)
    }
  }

  @Test func `histories begin again from the page, but not from another site`() async throws {
    var fixture = try ReplayFixture()
    for text in ["1", "2"] { try fixture.add(url: "https://a.example/x", 200, [:], text) }
    try await withReplay(of: fixture) { replay async throws in
      #expect(try await replay.send("GET", "/x").text == "1")
      #expect(
        try await replay.send("POST", "/__snapshot/reset", ["Sec-Fetch-Site: cross-site"]).status == 403)
      #expect(try await replay.send("GET", "/x").text == "2")
      #expect(
        try await replay.send("POST", "/__snapshot/reset", ["Sec-Fetch-Site: same-origin"]).status == 303)
      #expect(try await replay.send("GET", "/x").text == "1")
    }
  }

  @Test func `the log keeps the newest requests, and counts all`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/x")
    try await withReplay(of: fixture) { replay in
      let count = 2 * ReplayLimits.loggedRequests + 10
      try await RawHTTPClient.run { [port = replay.port] in
        let client = try RawHTTPClient(port: port)
        for number in 0..<count {
          try client.send("GET /missing/\(number) HTTP/1.1\r\nHost: localhost\r\n\r\n")
          _ = try client.receiveResponse()
        }
      }
      let state = replay.log.state
      #expect(state.total == count)
      #expect(state.missing == count)
      #expect(state.entries.count < 2 * ReplayLimits.loggedRequests)
      #expect(state.entries.last?.target == "/missing/\(count - 1)")
      #expect(state.misses.count == ReplayLimits.missingRequests)
    }
  }
}
