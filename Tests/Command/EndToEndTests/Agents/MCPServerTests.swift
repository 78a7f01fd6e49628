import ArgumentParser
import Foundation
import JSONText
import TestSupport
import Testing

@testable import snapshot

/// The protocol of `snapshot mcp`.
@Suite struct MCPServerTests {
  private let fixture: AgentFixture

  init() throws { fixture = try AgentFixture() }

  @Test func `the stateless revision needs no handshake`() async throws {
    let client = try fixture.client()
    let discovered = try await client.result("server/discover")
    #expect(discovered["supportedVersions"] as? [String] == ["2026-07-28", "2025-11-25"])
    #expect(discovered["resultType"] as? String == "complete")
    let tools = try await client.result("tools/list")
    #expect(tools["ttlMs"] as? Int != nil && tools["cacheScope"] as? String == "private")
    #expect((tools["tools"] as? [Any])?.count == 7)
    try fixture.bundle(["a": Data("1".utf8)])
    let call = try await client.result("tools/call", ["name": .string("find_snapshots")])
    #expect(call["resultType"] as? String == "complete")
  }

  @Test func `the revision with a handshake is answered too`() async throws {
    let client = try fixture.client(version: MCPServer.initialized)
    let begun = try await client.result(
      "initialize",
      [
        "protocolVersion": .string("2025-11-25"), "capabilities": .object([:]),
        "clientInfo": .object(["name": .string("test"), "version": .string("1")]),
      ])
    #expect(begun["protocolVersion"] as? String == "2025-11-25")
    #expect((begun["serverInfo"] as? [String: Any])?["name"] as? String == "snapshot")
    #expect(try await client.send(#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#) == nil)
    #expect(try await client.result("ping").isEmpty)
    let tools = try await client.result("tools/list")
    #expect(Set(tools.keys) == ["tools"])
  }

  @Test func `tools say what they read and write`() async throws {
    for (arguments, count) in [([], 6), (["--write-tests-to", fixture.tests.path], 7)] {
      let command = try MCPCommand.parse([fixture.folder.file("offered").path] + arguments)
      let client = AgentClient(server: MCPServer(try command.tools()), version: MCPServer.stateless)
      let tools = try #require(try await client.result("tools/list")["tools"] as? [[String: Any]])
      #expect(tools.count == count)
      for tool in tools {
        let hints = try #require(tool["annotations"] as? [String: Bool])
        #expect(hints["readOnlyHint"] == (tool["name"] as? String != "write_test"))
        let schema = try #require(tool["inputSchema"] as? [String: Any])
        #expect(schema["type"] as? String == "object" && schema["additionalProperties"] as? Bool == false)
      }
    }
  }

  @Test(
    arguments: [
      ("{", -32700), ("[]", -32600), ("1", -32600), (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1}"#, -32600), (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, -32600),
      (#"{"jsonrpc":"2.0","id":1,"method":"resources/list"}"#, -32601),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#, -32602),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}"#, -32602),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"none"}}"#, -32602),
      (
        #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find_snapshots","arguments":1}}"#,
        -32602
      ),
      (#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"cursor":"x"}}"#, -32602),
      (
        #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"1900-01-01"}}}"#,
        -32022
      ),
      (
        #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
        -32602
      ),
    ])
  func `bad requests are refused with the code for their kind`(line: String, code: Int) async throws {
    #expect(try await fixture.client().refusal(line) == code)
  }

  @Test func `deep nesting is refused, and a long message is dropped`() async throws {
    let client = try fixture.client()
    let deep = String(repeating: "[", count: 100_000)
    #expect(try await client.refusal(deep) == -32700)
    let answer = try #require(await client.server.answer(.tooLong))
    #expect(String(decoding: answer, as: UTF8.self).contains("-32600"))
  }

  @Test func `notifications and responses get no answer`() async throws {
    let client = try fixture.client()
    for line in [
      #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#,
      #"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
      #expect(try await client.send(line) == nil)
    }
  }

  @Test(
    arguments: [
      ([:], "snapshot is missing"), (["snapshot": .integer(1)], "must be a string"),
      (["snapshot": .string("")], "is empty"),
      (["snapshot": .string("x"), "cursor": .null], "neither a UUID"),
      (["snapshot": .string("x"), "y": .integer(1)], "unknown argument"),
      (["snapshot": .string("x"), "cursor": .string("-1")], "not a cursor"),
      (["snapshot": .string(String(repeating: "x", count: 4097))], "more than 4096 bytes"),
      (["snapshot": .string(String(repeating: "x", count: 4096))], "neither a UUID"),
      (
        ["snapshot": .string("http://127.0.0.1:9/snapshots/00000000-0000-4000-8000-000000000000")],
        "Addresses"
      ),
      (["snapshot": .string("/etc/passwd")], "not below a file or folder"),
    ] as [([String: JSONValue], String)])
  func `wrong arguments are told to the agent`(arguments: [String: JSONValue], words: String) async throws {
    let answer = try await fixture.client().call("snapshot_overview", arguments)
    #expect(answer.isError && answer.text.contains(words), "\(answer.text)")
  }

  @Test func `a link does not lead out of the offered folder`() async throws {
    let outside = try AgentFixture()
    let path = try outside.bundle(["a": Data("1".utf8)])
    let link = fixture.folder.file("offered/link.zip")
    try FileManager.default.createSymbolicLink(at: link, withDestinationURL: URL(filePath: path))
    let answer = try await fixture.client().call("snapshot_overview", ["snapshot": .string(link.path)])
    #expect(answer.isError && answer.text.contains("not below"))
    let inside = try fixture.bundle(["a": Data("1".utf8)])
    #expect(try await !fixture.client().call("snapshot_overview", ["snapshot": .string(inside)]).isError)
  }
}

/// Lines of limited length.
@Suite struct LineReaderTests {
  @Test(arguments: [1, 3, 100])
  func `lines are the same however the bytes arrive`(size: Int) {
    var reader = LineReader(limit: 5)
    let bytes = Array("a\n\n12345\n123456\r\n b\nlast".utf8)
    var lines: [LineReader.Line] = []
    for start in stride(from: 0, to: bytes.count, by: size) {
      lines += reader.take(bytes[start..<min(bytes.count, start + size)])
    }
    if let last = reader.finish() { lines.append(last) }
    func complete(_ text: String) -> LineReader.Line { .complete(Array(text.utf8)) }
    #expect(lines == [complete("a"), complete("12345"), .tooLong, complete(" b"), complete("last")])
    #expect(reader.finish() == nil)
  }
}
