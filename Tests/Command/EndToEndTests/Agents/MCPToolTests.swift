import Foundation
import JSONText
import SnapshotFormat
import TestSupport
import Testing

/// The tools of `snapshot mcp` on bundles.
@Suite struct MCPToolTests {
  private let fixture: AgentFixture

  init() throws { fixture = try AgentFixture() }

  @Test func `offered files are found without a server`() async throws {
    let path = try fixture.bundle(["a": Data("1".utf8)])
    let answer = try await fixture.client().call("find_snapshots", [:])
    #expect(!answer.isError && answer.data.contains(path), "\(answer.text)")
    let search = try await fixture.client().call("find_snapshots", ["report": .string("BUG-7")])
    #expect(search.isError, "\(search.text)")
  }

  @Test func `an overview begins with problems, and has the user's words`() async throws {
    let path = try fixture.bundle(
      ["feed.json": Data("[1,".utf8), "user.json": Data("{}".utf8)], note: "It is empty",
      fields: ["severity": "high"])
    let answer = try await fixture.client().call("snapshot_overview", ["snapshot": .string(path)])
    #expect(answer.own.first?.contains("2 recordings, 1 problem") == true)
    #expect(answer.data.first == "problem: feed.json: cut off after 3 bytes")
    #expect(answer.data.contains("  It is empty") && answer.data.contains("  severity: high"))
    #expect(!answer.text.contains("█"))
  }

  @Test(arguments: [nil, 7, 1000])
  func `a large array is read to its end by cursors`(limit: Int?) async throws {
    let items = (0..<1500).map { #"{"id":\#($0),"name":"item \#($0)"}"# }
    let path = try fixture.bundle(["feed.json": Data(#"{"items":[\#(items.joined(separator: ","))]}"#.utf8)])
    let client = try fixture.client()
    var arguments: [String: JSONValue] = [
      "snapshot": .string(path), "recording": .string("feed.json"), "path": .string(".items"),
    ]
    if let limit { arguments["limit"] = .integer(Int64(limit)) }
    var (lines, rounds): ([String], Int) = ([], 0)
    repeat {
      let answer = try await client.call("read_recording", arguments)
      try #require(!answer.isError, "\(answer.text)")
      lines += answer.data
      if let limit { #expect(answer.data.count <= limit) }
      arguments["cursor"] = answer.cursor.map(JSONValue.string)
      rounds += 1
    } while arguments["cursor"] != nil && rounds < 300
    #expect(lines == (0..<1500).map { #".[\#($0)]: {"id": \#($0),"name": "item \#($0)"}"# })
  }

  @Test func `a small value is shown whole, and a long string in parts`() async throws {
    let long = String(repeating: "0123456789", count: 5000)
    let path = try fixture.bundle(["a.json": Data(#"{"small":{"b":[1,2]},"long":"\#(long)"}"#.utf8)])
    let client = try fixture.client()
    func read(_ value: String, _ cursor: String? = nil) async throws -> AgentClient.Answer {
      var arguments: [String: JSONValue] = [
        "snapshot": .string(path), "recording": .string("a.json"), "path": .string(value),
      ]
      if let cursor { arguments["cursor"] = .string(cursor) }
      return try await client.call("read_recording", arguments)
    }
    #expect(try await read(".small").data == ["{", #"  "b": ["#, "    1,", "    2", "  ]", "}"])
    var (together, rounds) = ("", 0)
    var answer = try await read("/long")
    together += answer.data.joined()
    while let cursor = answer.cursor, rounds < 20 {
      answer = try await read("/long", cursor)
      together += answer.data.joined()
      rounds += 1
    }
    #expect(together == "\"\(long)\"")
    let wrong = try await read(".none")
    #expect(wrong.isError && wrong.text.contains("no value at this path"))
  }

  @Test func `a log is read to its end, and other bytes are named`() async throws {
    let log = (0..<3000).map { "\($0) started" }.joined(separator: "\n")
    let path = try fixture.bundle(["log.txt": Data(log.utf8), "image": Data([0, 1, 2, 0xFF])])
    let client = try fixture.client()
    var arguments: [String: JSONValue] = ["snapshot": .string(path), "recording": .string("log.txt")]
    var (lines, rounds): ([String], Int) = ([], 0)
    repeat {
      let answer = try await client.call("read_recording", arguments)
      lines += answer.data
      arguments["cursor"] = answer.cursor.map(JSONValue.string)
      rounds += 1
    } while arguments["cursor"] != nil && rounds < 100
    #expect(lines == log.components(separatedBy: "\n"))
    let image = try await client.call(
      "read_recording", ["snapshot": .string(path), "recording": .string("image")])
    #expect(image.text.contains("not text"))
    let misspelt = try await client.call(
      "read_recording", ["snapshot": .string(path), "recording": .string("log.tx")])
    #expect(misspelt.isError && misspelt.data.joined().contains("did you mean ‘log.txt’"))
    #expect(!misspelt.own.joined().contains("log.txt"))
  }

  @Test func `values are searched, and snapshots compared`() async throws {
    let good = try fixture.bundle(named: "good", ["user.json": Data(#"{"balance":5,"name":"A"}"#.utf8)])
    let bug = try fixture.bundle(
      named: "bug", ["user.json": Data(#"{"balance":-99,"name":"A"}"#.utf8), "new": Data("1".utf8)])
    let client = try fixture.client()
    let found = try await client.call(
      "search_contents", ["snapshot": .string(bug), "pattern": .string("balance:<0")])
    #expect(found.data.joined(separator: "\n").contains("-99 × 1  /balance"), "\(found.text)")
    let nothing = try await client.call(
      "search_contents", ["snapshot": .string(bug), "pattern": .string("balance:>0")])
    #expect(!nothing.isError && nothing.text.contains("Nothing was found"))
    let malformed = try await client.call(
      "search_contents", ["snapshot": .string(bug), "pattern": .string(".a[")])
    #expect(malformed.isError)
    let compared = try await client.call(
      "compare_snapshots", ["first": .string(good), "second": .string(bug)])
    #expect(compared.own.joined().contains("1 changed, 0 only in the first, 1 only in the second"))
    #expect(compared.data.contains("~ user.json  1 change: .balance 5 → -99"), "\(compared.text)")
    let one = try await client.call(
      "compare_snapshots",
      ["first": .string(good), "second": .string(bug), "recording": .string("user.json")])
    #expect(one.data == ["~ user.json", "  ~ .balance: 5 → -99"])
    let same = try await client.call(
      "compare_snapshots", ["first": .string(good), "second": .string(good)])
    #expect(same.text.contains("No differences."))
  }

  @Test func `a miss is explained by the nearest request`() async throws {
    let path = try fixture.bundle(
      [
        "GET https://news.invalid/feed?page=1": Data("[]".utf8), "user/profile": Data("{}".utf8),
      ], module: Module(name: "News", files: ["user/profil"]))
    let client = try fixture.client()
    func explain(_ identifier: String) async throws -> AgentClient.Answer {
      try await client.call(
        "explain_miss", ["snapshot": .string(path), "identifier": .string(identifier)])
    }
    for request in ["GET https://news.invalid/feed?page=2", "GET /feed?page=2"] {
      let answer = try await explain(request)
      #expect(answer.own.first == "It is not recorded.")
      #expect(
        answer.data == [
          "GET https://news.invalid/feed?page=1: the request differs in the query (page=2 instead of page=1)"
        ])
    }
    // Items of a query that differ at every call do not count.
    #expect(try await explain("GET /feed?ts=5&page=1").own.first?.hasPrefix("It is recorded") == true)
    #expect(try await explain("user/profil").data == ["News", "user/profile"])
    #expect(try await explain("zzzzzz").text.contains("No recorded identifier is similar"))
  }

  @Test func `a test is written below the folder only, and redacted`() async throws {
    let path = try fixture.bundle(["login": Data(#"{"token":"s3cr3t"}"#.utf8)])
    let client = try fixture.client()
    let answer = try await client.call("write_test", ["snapshot": .string(path)])
    #expect(!answer.isError && answer.data.isEmpty, "\(answer.text)")
    #expect(answer.text.contains("swift test --filter BUG_7Tests"))
    let written = try FileManager.default.subpathsOfDirectory(atPath: fixture.tests.path).sorted()
    #expect(written == ["BUG-7Tests.swift", "Fixtures", "Fixtures/BUG-7.snapshot.zip"])
    let zip = fixture.tests.appending(path: "Fixtures/BUG-7.snapshot.zip")
    let manifest = try SnapshotBundle.unpack(zip: zip, into: fixture.folder.file("unpacked"))
    #expect(manifest.redactions.contains("tokens"))
    let again = try await client.call("write_test", ["snapshot": .string(path)])
    #expect(again.isError && again.text.contains("Nothing was written."))
    for name in ["../x", "a/b", ".x", String(repeating: "n", count: 81)] {
      let refused = try await client.call("write_test", ["snapshot": .string(path), "name": .string(name)])
      #expect(refused.isError && refused.text.contains("A name has"))
    }
  }

  @Test func `no test is written through a link`() async throws {
    let path = try fixture.bundle(["a": Data("1".utf8)])
    let elsewhere = fixture.folder.file("elsewhere")
    try FileManager.default.createDirectory(at: elsewhere, withIntermediateDirectories: false)
    try FileManager.default.createSymbolicLink(
      at: fixture.tests.appending(path: "Fixtures"), withDestinationURL: elsewhere)
    let answer = try await fixture.client().call("write_test", ["snapshot": .string(path)])
    #expect(answer.isError && answer.text.contains("is no folder"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path).isEmpty)
  }
}
