import ReplayServer
import TestSupport
import Testing

@Suite struct ReplayMapTests {
  @Test func `rules give identifiers paths, with methods and patterns`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add("news/feed", #"{"n":1}"#)
    try fixture.add("news/feed", #"{"n":2}"#)
    try fixture.add("images/a b?.png", "\u{89}PNG")
    try fixture.add("login", "welcome")
    try fixture.add("page 2", "two")
    try fixture.add("unmapped", "")
    let map = [
      "news/feed=/api/feed", "images/*=/img/*", "login=POST /login", "page 2=/list?b=1&a=2", "none=/none",
    ]
    try await withReplay(of: fixture, map: map) { replay in
      #expect(replay.table.unmapped == ["unmapped"])
      #expect(replay.table.unusedRules.map(\.text) == ["none=/none"])
      let feed = try await replay.send("GET", "/api/feed?locale=de")
      #expect(feed.text == #"{"n":1}"#)
      #expect(feed.field("Content-Type") == "application/json")
      #expect(try await replay.send("GET", "/api/feed").text == #"{"n":2}"#)
      #expect(try await replay.send("GET", "/img/a%20b%3F.png").status == 200)
      #expect(try await replay.send("POST", "/login", body: #"{"query":"query A {}"}"#).text == "welcome")
      #expect(try await replay.send("GET", "/login").status == 404)
      #expect(try await replay.send("GET", "/list?a=2&b=1").text == "two")
      #expect(try await replay.send("GET", "/list?a=3&b=1").status == 404)
    }
  }

  @Test func `a file has a rule a line, and comments`() throws {
    let rules = try ReplayMap.rules(in: "# The feed\n\nnews/feed=/api/feed\n  a=/b\r\n")
    #expect(rules.map(\.text) == ["news/feed=/api/feed", "a=/b"])
    #expect {
      try ReplayMap.rules(in: "a=/b\nnonsense")
    } throws: {
      "\($0)".hasPrefix("Line 2: ‘nonsense’ is not an identifier, an equals sign and a path")
    }
  }

  @Test(arguments: ["", "a", "=", "a=b", "a=get /b", "a*=/b", "a=/b*", "a=/b c", "a=/ä", "a=/b#c"])
  func `a malformed rule is refused`(text: String) {
    #expect(throws: ReplayMap.Malformed.self) { try ReplayMap.Rule(text) }
  }

  @Test func `the number of rules is limited`() throws {
    let rule = try ReplayMap.Rule("a=/b")
    #expect(
      try ReplayMap(Array(repeating: rule, count: ReplayLimits.rules)).rules.count == ReplayLimits.rules)
    #expect(throws: ReplayMap.Malformed.self) {
      try ReplayMap(Array(repeating: rule, count: ReplayLimits.rules + 1))
    }
  }
}
