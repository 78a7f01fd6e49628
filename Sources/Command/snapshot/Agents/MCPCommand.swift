import ArgumentParser
import Foundation
import SystemIO

struct MCPCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mcp",
    abstract: "Offers snapshots to an agent, by the Model Context Protocol over standard input.",
    discussion: """
      An agent starts this command itself. It can find, read, search and compare the snapshots of the server, and the \
      bundles and folders that are named here, and nothing else. It writes nothing, except tests into the folder of \
      --write-tests-to. Text that users wrote is marked as data. Runs until standard input ends.

        snapshot mcp --server https://snapshots.example.org --token-file token
        snapshot mcp ~/Downloads/BUG-123.zip --write-tests-to Tests/AppTests
      """)

  @Argument(help: "Bundles, snapshots' folders, or folders that contain them, which the agent can open.")
  var paths: [String] = []

  @Option(
    help: ArgumentHelp(
      "The folder of a test target, into which the agent can write tests. Without it, there is no tool that writes.",
      valueName: "folder"))
  var writeTestsTo: String?

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    let server = MCPServer(try tools())
    var reader = LineReader(limit: MCPServer.maximumMessageBytes)
    while true {
      let bytes = try Self.read()
      for line in bytes.isEmpty ? [reader.finish()].compactMap(\.self) : reader.take(bytes[...]) {
        guard let answer = await server.answer(line) else { continue }
        // The client has gone if this fails.
        guard Console.print(bytes: answer + [0x0A]) else { return }
      }
      if bytes.isEmpty { return }
    }
  }

  /// The tools that these options allow.
  func tools() throws -> [any MCPTool] {
    let snapshots = try OfferedSnapshots(options, paths)
    var tools: [any MCPTool] = [
      FindSnapshotsTool(snapshots: snapshots), OverviewTool(snapshots: snapshots),
      SearchTool(snapshots: snapshots), ReadTool(snapshots: snapshots), CompareTool(snapshots: snapshots),
      ExplainMissTool(snapshots: snapshots),
    ]
    if let writeTestsTo {
      guard Folder.isFolder(writeTestsTo) else {
        throw CommandFailure(
          "There is no folder \(writeTestsTo); create it first, or name that of a test target.",
          status: .refused)
      }
      tools.append(WriteTestTool(snapshots: snapshots, folder: URL(filePath: writeTestsTo)))
    }
    return tools
  }

  /// Reads what is there from stdin, waiting for it; nothing at the end.
  private static func read() throws(CommandFailure) -> [UInt8] {
    do { return try StandardStreams.readInput(upTo: 64 << 10) } catch {
      throw CommandFailure("Standard input can't be read: \(error)")
    }
  }
}
