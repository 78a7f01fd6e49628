import Foundation
import SnapshotFormat
import TestSupport
import Testing

/// Deletions by UUID and by a search.
@Suite struct DeleteCommandTests {
  private let folder: TemporaryFolder
  private var storage: URL { folder.file("storage") }

  init() throws { folder = try TemporaryFolder() }

  /// Uploads bundles to a report, and returns their ids.
  private func upload(_ seeds: Range<Int>, to server: TestServer, report: String) async throws -> [SnapshotID]
  {
    var ids: [SnapshotID] = []
    for seed in seeds {
      let (zip, id) = try await Sample.bundle(in: folder, count: 1, seed: seed)
      let outcome = try await Product.run(
        ["upload", zip.path, "--report", report, "--server", server.url.absoluteString])
      try #require(outcome.status == 0, "\(outcome.errors)")
      ids.append(id)
    }
    return ids
  }

  @Test(arguments: [true, false])
  func `a search shows what it finds, and deletes that with --yes only`(isServed: Bool) async throws {
    let server = try await TestServer(storage: storage)
    let ids = try await upload(0..<12, to: server, report: "BUG-1")
    let others = try await upload(12..<13, to: server, report: "BUG-2")
    if !isServed { await server.program.stop() }
    let target = isServed ? ["--server", server.url.absoluteString] : ["--storage", storage.path]
    let search = ["delete", "--report", "BUG-1"] + target
    let preview = try await Product.run(search)
    #expect(preview.status == 2)
    #expect(preview.lines.isEmpty)
    let shown = ids.filter { preview.errors.contains($0.description) }
    #expect(Set(shown) == Set(ids.suffix(10)), "\(preview.errors)")
    #expect(preview.errors.contains("… and 2 more\nFound 12 snapshots, "), "\(preview.errors)")
    #expect(preview.errors.hasSuffix("Error: Nothing was deleted. Pass --yes to delete these snapshots.\n"))
    let deletion = try await Product.run(search + ["--yes"])
    #expect(deletion.status == 0, "\(deletion.errors)")
    #expect(Set(deletion.lines) == Set(ids.map(\.description)))
    #expect(deletion.errors.hasSuffix("Deleted 12 snapshots.\n"))
    let again = try await Product.run(search + ["--yes"])
    #expect(again.status == 0 && again.errors == "No snapshot was found.\n", "\(again.errors)")
    let restarted = isServed ? server : try await TestServer(storage: storage)
    let list = try await Product.run(["list", "--json", "--server", restarted.url.absoluteString])
    #expect(try SnapshotJSON.decode([SnapshotRecord].self, from: list.output).map(\.id) == others)
  }

  @Test func `all conditions of a search apply`() async throws {
    let server = try await TestServer(storage: storage)
    _ = try await upload(0..<2, to: server, report: "BUG-1")
    let target = ["--server", server.url.absoluteString]
    for conditions in [
      ["--report", "BUG-1", "--before", "2020-01-01"], ["--report", "BUG-2"], ["--text", "nothing here"],
    ] {
      let outcome = try await Product.run(["delete", "--yes"] + conditions + target)
      #expect(outcome.status == 0 && outcome.errors == "No snapshot was found.\n", "\(outcome.errors)")
    }
    let outcome = try await Product.run(
      ["delete", "--yes", "--text", "bug", "--before", "2100-01-01", "--json"] + target)
    #expect(try SnapshotJSON.decode([SnapshotID].self, from: outcome.output).count == 2, "\(outcome.errors)")
  }

  @Test func `at a terminal, the number confirms, and nothing else`() async throws {
    let server = try await TestServer(storage: storage)
    _ = try await upload(0..<2, to: server, report: "BUG-1")
    let arguments = ["delete", "--report", "BUG-1", "--server", server.url.absoluteString]
    let command = ([Product.path] + arguments).map { "'\($0)'" }.joined(separator: " ")
    for (typed, status) in [("y", 2), ("1", 2), ("", 2), ("2", 0)] as [(String, Int32)] {
      let script = "import pty, sys; sys.exit(pty.spawn(['/bin/sh', '-c', sys.argv[1]]) >> 8)"
      let outcome = try await Tool.run(
        "python3", ["-c", script, command], input: Data("\(typed)\n".utf8))
      #expect(outcome.status == status, "\(outcome.text)")
      #expect(outcome.text.contains("Type 2 to delete them permanently: "))
    }
  }

  @Test func `a snapshot that can't be deleted does not prevent the deletion of others`() async throws {
    let server = try await TestServer(storage: storage)
    let ids = try await upload(0..<3, to: server, report: "BUG-1")
    let unknown = SnapshotID()
    let names = [
      "\(ids[0])", "\(unknown)", String(ids[1].description.prefix(13)),
      server.address("/snapshots/\(ids[2])"),
    ]
    let outcome = try await Product.run(
      ["delete"] + names, environment: ["SNAPSHOT_SERVER": server.url.absoluteString])
    #expect(outcome.status == 1)
    #expect(outcome.lines == ids.map(\.description))
    #expect(outcome.errors.contains("Error: \(unknown): "), "\(outcome.errors)")
    #expect(outcome.errors.contains("1 of 4 snapshots were not deleted: \(unknown). "), "\(outcome.errors)")
  }

  @Test(
    arguments: [
      ([], 64), (["--report", "BUG-1", "00000000-0000-4000-8000-000000000000"], 64), (["--text", " "], 64),
      (["--yes", "00000000-0000-4000-8000-000000000000"], 64), (["--before", "soon"], 64), (["BUG-1"], 2),
      (
        [
          "http://127.0.0.1:9/snapshots/00000000-0000-4000-8000-000000000000",
          "http://127.0.0.1:10/snapshots/00000000-0000-4000-8000-000000000000",
        ], 2
      ),
    ] as [([String], Int32)])
  func `other arguments are refused`(arguments: [String], status: Int32) async throws {
    let outcome = try await Product.run(["delete"] + arguments)
    #expect(outcome.status == status, "\(outcome.errors)")
    #expect(outcome.lines.isEmpty)
  }
}
