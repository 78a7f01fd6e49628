import DataSnapshots
import Foundation
import HTTPEngine
import HTTPClient
import HTTPTypes
import Redaction
import ReplayServer
import SnapshotFormat
import TestSupport
import Testing

/// Requests to a replay server over a socket.
@Suite struct ReplayHandlerTests {
  @Test func `an exchange answers whatever its host, with its status, fields and body`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(
      url: "https://api.example.com/feed?page=1", 203,
      [
        "Content-Type": "application/json", "X-Rate": "7", "Content-Encoding": "gzip",
        "Content-Length": "999",
        "Strict-Transport-Security": "max-age=1", "Transfer-Encoding": "chunked", "Bad Name": "x",
        "X-Odd": "a\r\nX-Evil: 1",
        "Set-Cookie": "a=b; Path=/; Secure; Domain=example.com; SameSite=None",
      ], #"{"n":1}"#)
    try await withReplay(of: fixture) { replay in
      let answer = try await replay.send("GET", "/feed?page=1&_=17")
      #expect(answer.status == 203)
      #expect(answer.text == #"{"n":1}"#)
      #expect(answer.field("Content-Type") == "application/json")
      #expect(answer.field("X-Rate") == "7")
      #expect(answer.field("Content-Length") == "7")
      #expect(answer.field("Set-Cookie") == "a=b; Path=/")
      for name in ["Content-Encoding", "Strict-Transport-Security", "Transfer-Encoding", "X-Evil"] {
        #expect(answer.field(name) == nil, "\(name)")
      }
      #expect(replay.lines == ["GET /feed?page=1&_=17 → 203, recording 1 of 1"])
    }
  }

  @Test func `histories are replayed in order, and then as the setting says`() async throws {
    var fixture = try ReplayFixture()
    for text in ["first", "second"] { try fixture.add(url: "https://a.example/x", 200, [:], text) }
    try await withReplay(of: fixture) { replay async throws in
      for text in ["first", "second", "second"] { #expect(try await replay.send("GET", "/x").text == text) }
      #expect(replay.lines.last == "GET /x → 200, recording 2 of 2")
      replay.table.reset()
      // A HEAD that was not recorded does not take a call.
      #expect(try await replay.send("HEAD", "/x").field("Content-Length") == "5")
      #expect(try await replay.send("GET", "/x").text == "first")
    }
    try await withReplay(of: fixture, afterLast: .fail) { replay async throws in
      for status in [200, 200, 404] { #expect(try await replay.send("GET", "/x").status == status) }
      #expect(replay.log.state.missing == 1)
      #expect(replay.lines.last == "GET /x → 404, missing: all 2 recorded calls were replayed")
    }
  }

  @Test func `a request with a body is answered only with the same body`() async throws {
    var fixture = try ReplayFixture()
    let query = #"{"query":"query Feed { a }"}"#
    try fixture.add("POST", url: "https://a.example/graphql", sending: query, 200, [:], "feed")
    try await withReplay(of: fixture) { replay in
      #expect(try await replay.send("POST", "/graphql", body: query).text == "feed")
      let other = try await replay.send("POST", "/graphql", body: #"{"query":"query Feed { b }"}"#)
      #expect(other.status == 404)
      #expect(other.field("Content-Type") == "application/problem+json")
      #expect(other.text.contains("urn:data-snapshots:problem:not-recorded"))
      #expect(other.text.contains("which differs in the body"))
    }
  }

  @Test func `contents from a browser's cache are a 200, and a 304 only for a condition`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/feed", 304, ["ETag": "\"1\""], "feed")
    try fixture.add(url: "https://a.example/empty", 304, ["ETag": "\"2\""])
    try await withReplay(of: fixture) { replay in
      let answer = try await replay.send("GET", "/feed")
      #expect(answer.status == 200 && answer.text == "feed")
      #expect(try await replay.send("GET", "/feed", ["If-None-Match: \"1\""]).status == 304)
      #expect(try await replay.send("GET", "/empty").status == 304)
    }
  }

  @Test func `an identifier without a digest answers any body`() async throws {
    var fixture = try ReplayFixture()
    fixture.rules.rewrite = { identifier, _ in identifier.split(separator: " #").first.map(String.init) ?? ""
    }
    try fixture.add("POST", url: "https://a.example/log", sending: "1", 204)
    try await withReplay(of: fixture) { replay async throws in
      #expect(try await replay.send("POST", "/log", body: "2").status == 204)
    }
  }

  @Test func `an identifier that the app has rewritten is found by its request`() async throws {
    var fixture = try ReplayFixture()
    fixture.rules.rewrite = { _, _ in "the feed" }
    try fixture.add(url: "https://a.example/feed", 200, [:], "feed")
    try await withReplay(of: fixture) { replay async throws in
      #expect(try await replay.send("GET", "/feed").text == "feed")
    }
  }

  @Test func `a redacted request is found by the request with its secret`() async throws {
    var fixture = try ReplayFixture()
    let rules: [RedactionRule] = .usualSecrets
    fixture.redactions = rules.map(\.name)
    try fixture.add(
      "POST", url: "https://a.example/login", sending: #"{"password":"secret"}"#,
      redactor: Redactor(rules: rules),
      200, [:], "welcome")
    try await withReplay(of: fixture) { replay in
      let answer = try await replay.send("POST", "/login", body: #"{"password":"secret"}"#)
      #expect(answer.text == "welcome")
      #expect(try await replay.send("POST", "/login", body: #"{"password":"other"}"#).text == "welcome")
      #expect(try await replay.send("POST", "/login", body: #"{"user":"secret"}"#).status == 404)
    }
  }

  @Test func `what is missing is answered with the nearest recording and the difference`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/feed?page=1", 200, [:], "1")
    try await withReplay(of: fixture) { replay in
      let answer = try await replay.send("GET", "/feed?page=2")
      #expect(answer.status == 404)
      #expect(
        answer.text.contains(
          "The nearest is GET /feed?page=1, which differs in the query (page=2 instead of page=1)."))
      #expect(
        replay.lines == [
          "GET /feed?page=2 → 404, missing: nearest GET /feed?page=1, "
            + "which differs in the query (page=2 instead of page=1)"
        ])
      #expect(try await replay.send("GET", "/nothing/like/it").status == 404)
      #expect(replay.lines.last == "GET /nothing/like/it → 404, missing: nothing similar was recorded")
    }
    try await withReplay(of: fixture, ignoring: ["page"]) { replay async throws in
      #expect(try await replay.send("GET", "/feed?page=2").text == "1")
    }
  }

  @Test func `the host of a request selects among recorded hosts`() async throws {
    var fixture = try ReplayFixture()
    for host in ["a.example", "b.example:8443"] {
      try fixture.add(url: "https://\(host)/x", 200, [:], host)
    }
    try await withReplay(of: fixture) { replay async throws in
      #expect(replay.table.ambiguities == 1)
      #expect(try await replay.send("GET", "/x").text == "a.example")
      #expect(try await replay.send("GET", "/x", host: "b.example:8443").text == "b.example:8443")
      #expect(
        try await replay.send("GET", "/x", ["X-Forwarded-Host: b.example:8443"]).text == "b.example:8443")
    }
    try await withReplay(of: fixture, fromHost: "b.example:8443") { replay async throws in
      #expect(try await replay.send("GET", "/x").text == "b.example:8443")
    }
  }

  @Test func `a redirect to a recorded host stays on this server`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(
      url: "https://a.example/old", 302, ["Location": "https://a.example//new?x=1#y"],
      redirect: "https://a.example/new")
    try fixture.add(url: "https://a.example/away", 302, ["Location": "https://elsewhere.example/"])
    try fixture.add(url: "https://a.example/bare", 301, [:], redirect: "https://a.example/new")
    try await withReplay(of: fixture) { replay async throws in
      func place(_ target: String) async throws -> String? {
        try await replay.send("GET", target, host: "127.0.0.1:\(replay.port)").field("Location")
      }
      #expect(try await place("/old") == "http://127.0.0.1:\(replay.port)//new?x=1#y")
      #expect(try await place("/away") == "https://elsewhere.example/")
      #expect(try await place("/bare") == "http://127.0.0.1:\(replay.port)/new")
    }
  }

  @Test func `recorded errors close the connection, after what was received`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/late", nil, failure: -1001)
    try fixture.add(url: "https://a.example/cut", 200, [:], "half", failure: -1005)
    try await withReplay(of: fixture) { replay in
      #expect(try await replay.everything("/late") == "")
      let cut = try await replay.everything("/cut")
      #expect(cut.contains("half"))
      #expect(!cut.hasSuffix("0\r\n\r\n"))
      #expect(
        replay.lines == [
          "GET /late → closed, recorded error: timed out, recording 1 of 1",
          "GET /cut → 200, recorded error: connection lost, recording 1 of 1",
        ])
    }
  }

  @Test func `conditions and ranges apply to recorded validators`() async throws {
    var fixture = try ReplayFixture()
    let date = "Sun, 06 Nov 1994 08:49:37 GMT"
    try fixture.add(
      url: "https://a.example/f", 200, ["ETag": "\"v1\"", "Last-Modified": date, "Cache-Control": "private"],
      "0123456789")
    try await withReplay(of: fixture) { replay in
      for field in ["If-None-Match: \"v1\"", "If-Modified-Since: \(date)"] {
        let answer = try await replay.send("GET", "/f", [field])
        #expect(answer.status == 304, "\(field)")
        #expect(answer.field("ETag") == "\"v1\"")
      }
      let part = try await replay.send("GET", "/f", ["Range: bytes=2-4", "If-Range: \"v1\""])
      #expect(part.status == 206)
      #expect(part.text == "234")
      #expect(part.field("Content-Range") == "bytes 2-4/10")
      #expect(try await replay.send("GET", "/f", ["Range: bytes=20-"]).status == 416)
      let whole = try await replay.send("GET", "/f")
      #expect(whole.text == "0123456789")
      #expect(whole.field("Last-Modified") == date)
      #expect(whole.field("Content-Type") == nil)
      #expect(try await replay.send("HEAD", "/f").field("Content-Length") == "10")
    }
  }

  @Test func `a recorded HEAD keeps the length of the body that it had not`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add("HEAD", url: "https://a.example/f", 200, ["Content-Length": "4711"])
    try await withReplay(of: fixture) { replay async throws in
      #expect(try await replay.send("HEAD", "/f").field("Content-Length") == "4711")
      #expect(try await replay.send("GET", "/f").status == 404)
    }
  }

  @Test func `answers wait as long as when they were recorded, if wanted`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/x", 200, [:], "x", duration: 150)
    var slow = ReplayHandler.Configuration()
    slow.delays = true
    for (configuration, isSlow) in [(ReplayHandler.Configuration(), false), (slow, true)] {
      try await withReplay(of: fixture, configuration) { replay async throws in
        let start = ContinuousClock.now
        #expect(try await replay.send("GET", "/x").text == "x")
        // How fast the other one is depends on the machine.
        if isSlow { #expect(ContinuousClock.now - start >= .milliseconds(150)) }
      }
    }
  }

  @Test func `a body is accepted up to the limit`() async throws {
    var fixture = try ReplayFixture()
    try fixture.add(url: "https://a.example/x")
    try await withReplay(of: fixture) { replay async throws in
      let limit = Int(ReplayLimits.requestBytes)
      let largest = String(repeating: "x", count: limit)
      #expect(try await replay.send("POST", "/x", body: largest).status == 404)
      // The head alone: the server refuses before it reads the body.
      #expect(try await replay.send("POST", "/x", ["Content-Length: \(limit + 1)"]).status == 413)
    }
  }

  @Test func `a damaged recording is a problem, not an answer`() async throws {
    let folder = try TemporaryFolder()
    let snapshot = folder.file("snapshot")
    var fixture = try ReplayFixture()
    try fixture.add("feed", "good")
    let zip = folder.file("snapshot.zip")
    try fixture.pack(to: zip)
    _ = try SnapshotBundle.unpack(zip: zip, into: snapshot)
    let opened = try OpenSnapshot(folder: snapshot)
    try Data("evil".utf8).write(to: snapshot.appending(path: opened.manifest.recordings[0].path))
    let table = ReplayTable(opened.manifest, .init(map: try ReplayMap([ReplayMap.Rule("feed=/feed")])))
    let handler = ReplayHandler(opened, table, ReplayLog())
    let answer = try await handler.respond(to: HTTPServerRequest(method: .get, path: "/feed"))
    #expect(answer.status == .internalServerError)
  }
}
