import ArgumentParser
import Foundation
import JSONText
import SnapshotFormat
import TestSupport
import Testing

@testable import snapshot

/// A folder with snapshots, and the server of `snapshot mcp` that offers it.
struct AgentFixture {
  let folder: TemporaryFolder
  var tests: URL { folder.file("AppTests") }

  init() throws {
    folder = try TemporaryFolder()
    for name in ["offered", "AppTests"] {
      try FileManager.default.createDirectory(at: folder.file(name), withIntermediateDirectories: false)
    }
  }

  /// Writes a bundle with these recordings into the offered folder, and returns its path. A recording whose identifier is
  /// that of an exchange gets the status 200.
  @discardableResult func bundle(
    named name: String = "bug", _ recordings: [String: Data], note: String? = nil, report: String? = "BUG-7",
    fields: [String: String] = [:], module: Module? = nil
  ) throws -> String {
    let time = Date(timeIntervalSince1970: 1_700_000_000)
    let sources = try recordings.sorted { $0.key < $1.key }.enumerated().map { number, recording in
      let words = recording.key.split(separator: " ")
      let exchange =
        words.count == 2 && recording.key.contains("://")
        ? Manifest.Exchange(
          request: .init(method: String(words[0]), url: String(words[1])), response: .init(status: 200),
          startedAt: time) : nil
      return SnapshotBundle.Source(
        identifier: recording.key, file: try folder.write(recording.value, to: "sources-\(name)/\(number)"),
        recordedAt: time, exchange: exchange)
    }
    let manifest = Manifest(
      id: SnapshotID(), createdAt: time,
      application: .init(identifier: "com.example.news", version: "3.1", build: "7"),
      device: .init(model: "iPhone17,1", system: "iOS", systemVersion: "26.0", locale: "de_AT"),
      report: report.flatMap { ReportID($0) }, modules: module.map { [$0] } ?? [], note: note, fields: fields)
    let zip = folder.file("offered/\(name).zip")
    _ = try SnapshotBundle.pack(sources, describedBy: manifest, to: zip)
    return zip.path
  }

  /// A client of a server that offers the folder, and writes tests. There is no server for snapshots.
  func client(
    _ arguments: [String] = [], version: String = MCPServer.stateless, mark: String? = nil
  ) throws -> AgentClient {
    let command = try MCPCommand.parse(
      [folder.file("offered").path, "--write-tests-to", tests.path] + arguments)
    let server = MCPServer(try command.tools()) { mark.map(Fence.init(mark:)) ?? Fence() }
    return AgentClient(server: server, version: version)
  }
}

/// A scripted client of an ``MCPServer``.
struct AgentClient {
  let server: MCPServer
  let version: String

  /// The text of a tool's answer.
  struct Answer {
    let text: String
    let isError: Bool

    /// The cursor at its end.
    var cursor: String? {
      text.components(separatedBy: "and cursor \"").dropFirst().last?.components(separatedBy: "\"").first
    }
    /// The lines between marks.
    var data: [String] { lines(inside: true) }
    /// The other lines, with the marks.
    var own: [String] { lines(inside: false) }

    private func lines(inside: Bool) -> [String] {
      var (lines, end): ([String], String?) = ([], nil)
      for line in text.components(separatedBy: "\n") {
        if line == end { end = nil }
        if (end != nil) == inside { lines.append(line) }
        if end == nil, let match = line.prefixMatch(of: #/\[data ([0-9a-f]{16}) begins: /#) {
          end = "[data \(match.1) ends]"
        }
      }
      return lines
    }
  }

  /// Sends a line, and returns the answer.
  func send(_ line: String) async throws -> [String: Any]? {
    guard let bytes = await server.answer(.complete(Array(line.utf8))) else { return nil }
    try #require(!bytes.contains(0x0A))
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// The message of a request in this client's revision.
  func message(_ method: String, _ params: [String: JSONValue] = [:]) throws -> String {
    var params = params
    if version == MCPServer.stateless {
      params["_meta"] = .object([
        "io.modelcontextprotocol/protocolVersion": .string(version),
        "io.modelcontextprotocol/clientCapabilities": .object([:]),
      ])
    }
    let message = JSONValue.object([
      "jsonrpc": .string("2.0"), "id": .integer(7), "method": .string(method), "params": .object(params),
    ])
    return String(decoding: try SnapshotJSON.encode(message), as: UTF8.self)
  }

  /// Sends a request, and returns its result.
  func result(_ method: String, _ params: [String: JSONValue] = [:]) async throws -> [String: Any] {
    let answer = try #require(try await send(message(method, params)))
    #expect(answer["id"] as? Int == 7)
    return try #require(answer["result"] as? [String: Any], "\(answer)")
  }

  /// The code of the error that a request gets.
  func refusal(_ line: String) async throws -> Int? {
    (try await send(line)?["error"] as? [String: Any])?["code"] as? Int
  }

  /// Calls a tool.
  func call(_ tool: String, _ arguments: [String: JSONValue]) async throws -> Answer {
    let result = try await result("tools/call", ["name": .string(tool), "arguments": .object(arguments)])
    let content = try #require(result["content"] as? [[String: Any]])
    try #require(content.count == 1)
    let text = try #require(content[0]["text"] as? String)
    #expect(text.utf8.count <= AgentAnswer.Limits().bytes)
    return Answer(text: text, isError: result["isError"] as? Bool == true)
  }
}
