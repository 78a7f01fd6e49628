import ArgumentParser
import Foundation
import Redaction
import SnapshotFormat
import SystemIO

struct TestCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "test",
    abstract: "Writes a failing test from a snapshot: the fixture, and a test file that replays it.",
    discussion: """
      Writes Fixtures/NAME.snapshot.zip and NAMETests.swift into the folder of a test target, and prints both paths and \
      the command that runs the test. The test fails until its expectation is written. Nothing is overwritten, and if \
      one of the two files can't be written, neither is there. The same snapshot always gives the same bytes.

        snapshot test BUG-123 --into Tests/AppTests
        snapshot test UUID --into Tests/AppTests --name EmptyFeed --redact rules.json
      """)

  @Argument(
    help: "A UUID on the server, a report, the address of a bundle, a bundle, or a snapshot's folder.")
  var snapshot: String

  @Option(help: ArgumentHelp("The folder of the test target.", valueName: "folder"))
  var into: String

  @Option(
    help: "The name of the test and the fixture (default: the report, or the beginning of the UUID).")
  var name: String?

  @Option(
    help: ArgumentHelp(
      "Commit a copy without secrets, by the rules of this file; `usualSecrets` stands for the usual rules.",
      valueName: "rules"))
  var redact: String?

  @Flag(help: "Print the paths, the name of the type and the command that runs the test as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  private struct Result: Encodable {
    let fixture: String
    let test: String
    let type: String
    let command: String
  }

  func run() async throws {
    guard Folder.isFolder(into) else {
      throw CommandFailure(
        "There is no folder \(into); create it first, or name that of a test target.", status: .refused)
    }
    if let name { _ = try TestName(name) }
    let scratch = try ScratchFolder()
    var rules: RedactionRules?
    if let redact {
      let isPreset = redact == "usualSecrets" && !FileManager.default.fileExists(atPath: redact)
      rules = try RulesOptions.read(isPreset ? nil : redact)
    }
    let chosen = rules
    let fixture = try await options.withSource(snapshot) { try TestFixture(of: $0, by: chosen, in: scratch) }
    let written = try WrittenTest(name: fixture.name(name, of: snapshot), manifest: fixture.manifest)
    try written.write(fixture: fixture.zip, into: URL(filePath: into))
    let result = Result(
      fixture: path(written.name.fixture), test: path(written.name.file), type: written.name.type,
      command: written.command)
    if json {
      Console.print(json: result)
    } else {
      for line in [result.fixture, result.test, result.command] { Console.print(line) }
    }
    Console.message(WrittenTest.requirement)
  }

  private func path(_ name: String) -> String { into.hasSuffix("/") ? into + name : "\(into)/\(name)" }
}
