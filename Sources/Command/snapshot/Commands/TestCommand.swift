import ArgumentParser
import Foundation
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

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    guard Folder.isFolder(into) else {
      throw CommandFailure(
        "There is no folder \(into); create it first, or name that of a test target.", status: .refused)
    }
    if let name { _ = try TestName(name) }
    let scratch = try ScratchFolder()
    let (zip, manifest) = try await options.withSource(snapshot) { try fixture(of: $0, in: scratch) }
    let written = WrittenTest(
      name: try name.map { text throws(CommandFailure) in try TestName(text) } ?? defaultName(of: manifest),
      manifest: manifest)
    try written.write(fixture: zip, into: URL(filePath: into))
    Console.print(path(written.name.fixture))
    Console.print(path(written.name.file))
    Console.print("swift test --filter \(written.name.type)")
    Console.message(
      "The target of the test needs the product SnapshotReplay, and exclude: [\"\(TestName.fixtures)\"] in Package.swift."
    )
  }

  private func path(_ name: String) -> String { into.hasSuffix("/") ? into + name : "\(into)/\(name)" }

  /// Verifies the snapshot, and writes the bundle that becomes the fixture into `scratch`.
  private func fixture(
    of source: SnapshotSource, in scratch: ScratchFolder
  ) throws -> (zip: URL, manifest: Manifest) {
    let original = try source.snapshot(packedTo: scratch.file("packed.zip"))
    let zip = scratch.file("fixture.zip")
    do {
      if let redact {
        let isPreset = redact == "usualSecrets" && !FileManager.default.fileExists(atPath: redact)
        _ = try RulesOptions.redact(
          .bundle(original), by: RulesOptions.read(isPreset ? nil : redact), keepsWords: false,
          isReproducible: true, in: scratch)
        _ = try SnapshotBundle.pack(folder: scratch.file("redacted"), to: zip)
      } else {
        try FileManager.default.copyItem(at: original, to: zip)
      }
      return (zip, try SnapshotBundle.validate(zip: zip, depth: .full))
    } catch let error as BundleError {
      throw CommandFailure(error.description, status: .refused)
    }
  }

  /// The report that the argument or the manifest names, or else the beginning of the UUID.
  private func defaultName(of manifest: Manifest) throws(CommandFailure) -> TestName {
    let isReport = SnapshotID(snapshot) == nil && snapshot.contains { $0.isNumber } && !snapshot.contains(".")
    let report = isReport && !snapshot.contains("/") ? ReportID(snapshot) : nil
    guard let text = (report ?? manifest.report)?.description else {
      return try TestName("Snapshot-\(manifest.id.description.prefix(8))")
    }
    // A report's id can have characters that a file's name can't have.
    return try TestName(
      String(text.map { TestName.isAllowed($0) ? $0 : "-" }.drop { $0 == "." }.prefix(TestName.longest)))
  }
}
