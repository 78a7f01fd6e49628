import HTTPEngine
import ReplayServer
import TestSupport
import Testing

/// CORS, and the names by which the server can be addressed.
@Suite struct ReplayOriginsTests {
  private func fixture() throws -> ReplayFixture {
    var fixture = try ReplayFixture()
    try fixture.add(
      url: "https://api.example.com/x", 200,
      ["X-Total": "3", "Access-Control-Allow-Origin": "https://app.example.com"])
    return fixture
  }

  private func allowing(_ origins: String...) -> ReplayHandler.Configuration {
    var configuration = ReplayHandler.Configuration()
    configuration.origins = ReplayOrigins(allowed: origins)
    return configuration
  }

  @Test(arguments: ["http://localhost:3000", "http://127.0.0.1:1", "http://[::1]:2", "capacitor://localhost"])
  func `a page of this machine can read answers and misses`(origin: String) async throws {
    try await withReplay(of: fixture()) { replay in
      for target in ["/x", "/missing"] {
        let answer = try await replay.send("GET", target, ["Origin: \(origin)"])
        #expect(answer.field("Access-Control-Allow-Origin") == origin)
        #expect(answer.field("Access-Control-Allow-Credentials") == "true")
        #expect(answer.field("Vary") == "Origin")
      }
      let exposed = try await replay.send("GET", "/x", ["Origin: \(origin)"])
      #expect(exposed.field("Access-Control-Expose-Headers")?.contains("X-Total") == true)
      let preflight = try await replay.send(
        "OPTIONS", "/x",
        [
          "Origin: \(origin)", "Access-Control-Request-Method: PUT",
          "Access-Control-Request-Headers: x-a, x-b",
        ])
      #expect(preflight.status == 204)
      #expect(preflight.field("Access-Control-Allow-Methods") == "PUT")
      #expect(preflight.field("Access-Control-Allow-Headers") == "x-a, x-b")
      #expect(preflight.field("Access-Control-Allow-Origin") == origin)
    }
  }

  @Test func `other pages can read answers only if they are allowed`() async throws {
    for origin in [
      "https://evil.example", "null", "http://localhost.evil.example", "http://127.0.0.1.evil.example",
    ] {
      try await withReplay(of: fixture()) { replay in
        #expect(
          try await replay.send("GET", "/x", ["Origin: \(origin)"]).field("Access-Control-Allow-Origin")
            == nil)
        #expect(
          replay.lines.last
            == "GET /x → 200, recording 1 of 1; its page can't read the answer without --allow-origin \(origin)"
        )
        let preflight = try await replay.send(
          "OPTIONS", "/x", ["Origin: \(origin)", "Access-Control-Request-Method: PUT"])
        #expect(preflight.status == 403)
        #expect(preflight.field("Access-Control-Allow-Origin") == nil)
      }
      for allowed in [origin, "*"] {
        try await withReplay(of: fixture(), allowing(allowed)) { replay in
          let answer = try await replay.send("GET", "/x", ["Origin: \(origin)"])
          #expect(answer.field("Access-Control-Allow-Origin") == origin)
        }
      }
    }
  }

  @Test func `a foreign name of this machine is refused`() async throws {
    try await withReplay(of: fixture(), allowing("https://app.example.com")) { replay async throws in
      for host in [
        "127.0.0.1:80", "[::1]", "localhost", "a.localhost", "10.0.2.2:8090", "api", "host.docker.internal",
        "mac.local", "api.example.com", "app.example.com:8090",
      ] {
        #expect(try await replay.send("GET", "/x", host: host).status == 200, "\(host)")
      }
      for target in ["/x", "/__snapshot/"] {
        #expect(try await replay.send("GET", target, host: "evil.example:8090").status == 421)
      }
    }
  }
}
