import Foundation
import SnapshotFormat
import SystemIO

/// Writes a failing test from a snapshot. It is the only tool that writes files.
struct WriteTestTool: MCPTool {
  let snapshots: OfferedSnapshots
  /// The folder of the test target. Everything is written below it.
  let folder: URL

  let name = "write_test"
  let title = "Write a failing test"
  let description = """
    Writes a test that replays the snapshot and fails until its expectation is written, and its fixture, into the folder \
    that the user chose. Never overwrites a file. Says which command runs the test.
    """
  let parameters: [ToolParameter] = [
    .snapshot,
    ToolParameter(
      "name", .text,
      "The name of the test: ASCII letters, digits, -, _ and .; the report or the beginning of the UUID if left out."
    ),
    ToolParameter(
      "redact", .boolean, "Whether secrets are removed from the fixture by the usual rules; true if left out."
    ),
  ]
  let writes = true

  func run(_ arguments: ToolArguments, _ answer: inout AgentAnswer) async throws {
    let wanted = arguments.text("name")
    if let wanted {
      do { _ = try TestName(wanted) } catch {
        throw ToolFailure(
          "A name has 1 to \(TestName.longest) ASCII letters, digits, -, _ and ., and does not begin with a point."
        )
      }
    }
    // A link would lead out of the folder.
    let fixtures = folder.appending(path: TestName.fixtures).path
    let kind: OpenFolder.Status.Kind?
    do { kind = try Folder.kind(of: fixtures) } catch { throw ToolFailure("The folder can't be read.") }
    guard kind == nil || kind == .folder else {
      throw ToolFailure("\(TestName.fixtures) in the folder of the tests is no folder.")
    }
    let text = try arguments.required("snapshot")
    let opened = try await snapshots.open(text)
    let scratch = try ScratchFolder()
    let redacts = arguments.boolean("redact") ?? true
    let fixture = try TestFixture(
      of: opened.source, by: redacts ? try RulesOptions.read(nil) : nil, in: scratch)
    let test = try WrittenTest(
      name: fixture.name(wanted, of: opened.isOnServer ? text : ""), manifest: fixture.manifest)
    do { try test.write(fixture: fixture.zip, into: folder) } catch {
      throw ToolFailure("Nothing was written.", details: [error.description])
    }
    // The names have ASCII letters, digits, - and _ only.
    answer.say("Written: \(test.name.file) and \(test.name.fixture), in the folder of the tests.")
    answer.say("Run it: \(test.command)")
    answer.say(
      "It fails until the line with Issue.record is replaced by the expectation. \(WrittenTest.requirement)")
  }
}
