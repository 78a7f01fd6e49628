import ArgumentParser
import Foundation
import JSONText
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

@testable import snapshot

/// `snapshot mcp` as a process, and a scripted client.
@Suite struct MCPProcessTests {
  private let fixture: AgentFixture

  init() throws { fixture = try AgentFixture() }

  /// A client that talks to the process over pipes, and counts its calls.
  private final class PipedClient {
    let process: ChildProcess
    private let input = Pipe()
    private let output = Pipe()
    private var rest = Data()
    private(set) var calls = 0

    init(_ arguments: [String], environment: [String: String] = [:], errors: URL) throws {
      process = try ChildProcess(
        Product.path, ["mcp"] + arguments, environment: environment, input: input.fileHandleForReading,
        output: output.fileHandleForWriting, errors: try FileHandle(forWritingTo: errors))
      try input.fileHandleForReading.close()
      try output.fileHandleForWriting.close()
    }

    func call(_ tool: String, _ arguments: [String: JSONValue]) throws -> AgentClient.Answer {
      calls += 1
      let message = JSONValue.object([
        "jsonrpc": .string("2.0"), "id": .integer(Int64(calls)), "method": .string("tools/call"),
        "params": .object(["name": .string(tool), "arguments": .object(arguments)]),
      ])
      try input.fileHandleForWriting.write(contentsOf: SnapshotJSON.encode(message) + Data("\n".utf8))
      while rest.firstIndex(of: 0x0A) == nil {
        let more = output.fileHandleForReading.availableData
        try #require(!more.isEmpty, "the process ended")
        rest += more
      }
      let end = try #require(rest.firstIndex(of: 0x0A))
      let line = rest[..<end]
      rest = Data(rest[(end + 1)...])
      let answer = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
      #expect(answer["id"] as? Int == calls)
      let result = try #require(answer["result"] as? [String: Any], "\(answer)")
      let text = try #require((result["content"] as? [[String: Any]])?.first?["text"] as? String)
      return AgentClient.Answer(text: text, isError: result["isError"] as? Bool == true)
    }

    /// Closes the input, and waits for the end.
    func finish() async throws -> Int32 {
      try input.fileHandleForWriting.close()
      return await process.waitForEnd()
    }
  }

  /// From a report to a red test, by what the answers say.
  private func investigate(_ client: PipedClient, _ found: [String: JSONValue], good: String?) throws {
    let list = try client.call("find_snapshots", found)
    let name = try #require(
      list.data.compactMap { line in
        line.hasSuffix("bug.zip") ? line : line.split(separator: ",").first.map(String.init)
      }.first { $0.hasSuffix("bug.zip") || SnapshotID($0) != nil }, "\(list.text)")
    let overview = try client.call("snapshot_overview", ["snapshot": .string(name)])
    #expect(overview.text.contains("balance is negative"))
    let search = try client.call(
      "search_contents", ["snapshot": .string(name), "pattern": .string("balance:<0")])
    #expect(search.text.contains("/accounts/1/balance"), "\(search.text)")
    let read = try client.call(
      "read_recording",
      ["snapshot": .string(name), "recording": .string("user.json"), "path": .string("/accounts/1")])
    #expect(read.data.joined().contains("-99"))
    if let good {
      let compared = try client.call(
        "compare_snapshots", ["first": .string(good), "second": .string(name)])
      #expect(compared.text.contains("-99"))
    }
    let written = try client.call("write_test", ["snapshot": .string(name)])
    #expect(!written.isError, "\(written.text)")
    #expect(client.calls <= 6)
  }

  private func checkRedTest() async throws {
    let file = fixture.tests.appending(path: "BUG-7Tests.swift")
    let text = try String(contentsOf: file, encoding: .utf8)
    // It fails wherever it is run.
    #expect(text.contains("Issue.record(") && text.contains(#".replaying("BUG-7")"#))
    let parsed = try await Tool.run("swiftc", ["-frontend", "-parse", file.path])
    #expect(parsed.status == 0, "\(parsed.errors)")
    _ = try SnapshotBundle.validate(
      zip: fixture.tests.appending(path: "Fixtures/BUG-7.snapshot.zip"), depth: .full)
  }

  private func bundles() throws -> (good: String, bug: String) {
    func json(_ balance: Int) -> Data {
      Data(#"{"accounts":[{"balance":5},{"balance":\#(balance)}]}"#.utf8)
    }
    return (
      try fixture.bundle(named: "good", ["user.json": json(12)], note: "fine", report: nil),
      try fixture.bundle(named: "bug", ["user.json": json(-99)], note: "The balance is negative")
    )
  }

  @Test func `a client goes from a file to a red test in six calls`() async throws {
    let (good, _) = try bundles()
    let client = try PipedClient(
      [
        fixture.folder.file("offered").path, "--write-tests-to", fixture.tests.path,
      ],
      errors: fixture.folder.write(Data(), to: "errors"))
    try investigate(client, [:], good: good)
    #expect(try await client.finish() == 0)
    try await checkRedTest()
  }

  @Test func `a client goes from a report on a server to a red test, and downloads once`() async throws {
    let (good, bug) = try bundles()
    let server = try await TestServer(storage: fixture.folder.file("storage"))
    let environment = ["SNAPSHOT_SERVER": server.url.absoluteString]
    var ids: [String] = []
    for (path, report) in [(good, "BUG-1"), (bug, "BUG-7")] {
      let upload = try await Product.run(["upload", path, "--report", report], environment: environment)
      ids.append(try #require(upload.lines.first, "\(upload.errors)"))
    }
    let client = try PipedClient(
      ["--write-tests-to", fixture.tests.path], environment: environment,
      errors: fixture.folder.write(Data(), to: "errors"))
    try investigate(client, ["report": .string("BUG-7")], good: ids[0])
    // It is open: the server need not have it.
    let deleted = try await Product.run(["delete", ids[1]], environment: environment)
    try #require(deleted.status == 0, "\(deleted.errors)")
    let read = try client.call(
      "read_recording", ["snapshot": .string(ids[1]), "recording": .string("user.json")])
    #expect(!read.isError, "\(read.text)")
    // Another server is not asked.
    let elsewhere = try client.call(
      "snapshot_overview", ["snapshot": .string("http://127.0.0.1:9/snapshots/\(ids[1])")])
    #expect(elsewhere.isError && elsewhere.text.contains("Addresses are not opened"))
    #expect(try await client.finish() == 0)
    try await checkRedTest()
  }

  @Test func `stdout has messages only, and the end of the input ends the process`() async throws {
    try fixture.bundle(["a": Data("1".utf8)])
    let long = String(repeating: " ", count: MCPServer.maximumMessageBytes)
    let input = Data(
      ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r\n\nnonsense\n" + long + "{}\n"
        + "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
        + "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}").utf8)
    let outcome = try await Tool.run(
      Product.path, ["mcp", fixture.folder.file("offered").path], input: input)
    #expect(outcome.status == 0, "\(outcome.errors)")
    #expect(outcome.lines.count == 4)
    for (line, part) in zip(outcome.lines, [#""id":1"#, "-32700", "-32600", #""id":2"#]) {
      #expect(line.contains(part), "\(line)")
    }
    let nowhere = try await Product.run(["mcp", "nowhere"])
    #expect(nowhere.status == 2 && nowhere.errors.contains("There is no file or folder at nowhere"))
    let noFolder = try await Product.run(["mcp", "--write-tests-to", "nowhere"])
    #expect(noFolder.status == 2 && noFolder.errors.contains("There is no folder nowhere"))
  }

  @Test func `the skill is one page that names commands that exist`() async throws {
    let outcome = try await Product.run(["skill"])
    #expect(outcome.status == 0 && outcome.text.hasPrefix("---\nname: snapshot\ndescription: "))
    #expect(outcome.text.split { $0.isWhitespace }.count <= 600)
    let names = Set(Snapshot.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"])
    for match in outcome.text.matches(of: #/`snapshot ([a-z-]+)/#) {
      #expect(names.contains(String(match.1)), "\(match.1)")
    }
  }
}
