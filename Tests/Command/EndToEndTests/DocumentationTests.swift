import Foundation
import SnapshotFormat
import TestSupport
import Testing
import Yams

/// The shell examples and the settings in README and articles.
@Suite struct DocumentationTests {
  private static let root = PackageFolder.url()

  private static func text(_ path: String) throws -> String {
    try String(contentsOf: root.appending(path: path), encoding: .utf8)
  }

  @Test func `the README's examples for curl work as written`() async throws {
    let blocks = try Self.text("README.md").components(separatedBy: "```sh\n").dropFirst()
      .compactMap { $0.components(separatedBy: "```").first }
    let lines = try #require(blocks.first { $0.contains("api=http://127.0.0.1:8080/v1\n") })
    let folder = try TemporaryFolder()
    let server = try await TestServer(storage: folder.file("storage"))
    let port = try #require(server.url.port)
    let script =
      lines
      .replacing(":8080/", with: ":\(port)/")
      .replacing("$PWD/.build/debug", with: Tool.products.path)
    let outcome = try await Tool.run(
      "bash", ["-e", "-u", "-o", "pipefail", "-c", script + "\necho; echo \"id=$id\""],
      environment: ["TMPDIR": folder.url.path], folder: Self.root)
    try #require(outcome.status == 0, "\(outcome.errors)")
    #expect(!outcome.text.contains("urn:data-snapshots:problem:"), "\(outcome.text)")
    for line in ["1", #""recordings/accounts%2flist.json""#, "-20.5", "7"] {
      #expect(outcome.lines.contains(line), "\(outcome.text)")
    }
    let id = try #require(
      outcome.lines.last?.split(separator: "=").last.flatMap { SnapshotID(String($0)) })
    #expect(try await Curl([server.address("/v1/snapshots/\(id)")]).status == 410)
    let other = try await Curl([server.address("/v1/reports/BUG-124/snapshots")])
    #expect(String(decoding: other.body, as: UTF8.self).contains(#""note":"The balance was negative""#))
    await server.program.stop()
  }

  @Test func `the README is short`() throws {
    let words = try Self.text("README.md").split { $0.isWhitespace }
    #expect(words.count <= 900)
  }

  @Test func `the article has every setting of the project's file with its default`() throws {
    let yaml = try Yams.load(yaml: Self.text("Config/server.yaml")) as? [String: [String: Any]]
    var expected: [String] = []
    func add(_ name: String, _ value: Any) {
      let text = "\(value)"
      expected.append("\(name) \(text.isEmpty ? "none" : text)")
    }
    for (name, value) in try #require(yaml?["server"]) {
      if let group = value as? [String: Any] {
        for (name, value) in group { add(name, value) }
      } else {
        add(name, value)
      }
    }
    var documented: [String] = []
    for line in try Self.text("Sources/Server/SnapshotServer/SnapshotServer.docc/Settings.md").split(
      separator: "\n")
    where line.hasPrefix("| `") {
      let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
      documented.append(cells.prefix(2).joined(separator: " ").replacing("`", with: ""))
    }
    #expect(documented.sorted() == expected.sorted())
  }
}
