import DataSnapshots
import Foundation
import HTTPEngine
import HTTPClient
import HTTPTypes
import ReplayServer
import SnapshotClient
import SystemIO
import TestSupport
import Testing

@Suite struct ReplayUpstreamTests {
  /// A live server that describes each request.
  private struct Live: HTTPHandler {
    func respond(to request: HTTPServerRequest) async throws -> HTTPServerResponse {
      if request.path == "/v2/moved" {
        return HTTPServerResponse(
          status: .found, headerFields: [.location: "http://\(request.authority)/v2/feed"])
      }
      let body = try await request.body.collect(upTo: 1 << 20)
      let origin = request.headerFields[.origin] ?? "none"
      let text =
        "\(request.method) \(request.path)?\(request.query ?? "") \(String(decoding: body, as: UTF8.self)) \(origin)"
      return HTTPServerResponse(
        status: .created, headerFields: [.contentType: "text/plain"], body: .bytes(Array(text.utf8)))
    }
  }

  private func upstream(_ port: UInt16) throws -> ReplayHandler.Configuration {
    var configuration = ReplayHandler.Configuration()
    let url = try #require(URL(string: "http://127.0.0.1:\(port)/v2/"))
    configuration.upstream = ReplayUpstream(url, transport: SnapshotAPIClient.makeDefaultTransport())
    return configuration
  }

  @Test func `the live server answers what was not recorded`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/feed", 200, [:], "recorded")
    try await withServer(Live()) { port in
      try await withReplay(of: fixture, upstream(port)) { replay in
        #expect(try await replay.send("GET", "/feed").text == "recorded")
        let live = try await replay.send("PUT", "/new?a=1", ["Origin: http://localhost:1"], body: "text")
        #expect(live.status == 201)
        #expect(live.text == "PUT /v2/new?a=1 text none")
        #expect(live.field("Access-Control-Allow-Origin") == "http://localhost:1")
        #expect(replay.lines.last == "PUT /new?a=1 → 201, from the live server")
        #expect(replay.log.state.missing == 0)
        #expect(replay.log.state.live == 1)
        let moved = try await replay.send("GET", "/moved", host: "127.0.0.1:\(replay.port)")
        #expect(moved.field("Location") == "http://127.0.0.1:\(replay.port)/feed")
      }
      try await withReplay(of: fixture, afterLast: .live, upstream(port)) { replay async throws in
        #expect(try await replay.send("GET", "/feed").text == "recorded")
        #expect(try await replay.send("GET", "/feed").text == "GET /v2/feed?  none")
      }
    }
  }

  @Test func `a live server that does not answer is a problem`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/feed")
    try await withReplay(of: fixture, upstream(ScriptedServer.unusedPort())) { replay in
      let answer = try await replay.send("GET", "/other")
      #expect(answer.status == 502)
      #expect(answer.text.contains("urn:data-snapshots:problem:upstream-failed"))
    }
  }

  @Test(arguments: [
    "ftp://a.example", "api.example.com", "http://", "http://u@a.example", "http://a.example?x",
  ])
  func `an address of a live server is checked`(text: String) throws {
    let url = try #require(URL(string: text))
    #expect(ReplayUpstream(url, transport: SnapshotAPIClient.makeDefaultTransport()) == nil)
  }
}
