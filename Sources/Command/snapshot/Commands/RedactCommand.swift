import ArgumentParser
import Foundation
import SnapshotFormat

struct RedactCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "redact",
    abstract: "Writes a copy of a snapshot without secrets, and prints where they were.",
    discussion: """
      Applies redaction rules to recordings, HTTP exchanges, attachments, app data, note and fields. Prints the places, \
      such as JSON paths and line numbers, and never what was there. The copy has a UUID of its own. A file that can't \
      be redacted is left out, and the manifest of the copy says why.

      The article “What is recorded, and what is not” describes the rules, their file, and what rules can't find.
      """)

  @Argument(
    help: """
      A snapshot on a server (UUID or its beginning, report, address), a bundle, a snapshot's folder, or another file \
      or folder.
      """
  )
  var snapshot: String

  @Option(help: ArgumentHelp("Write the copy to this new file.", valueName: "file"))
  var output: String

  @OptionGroup var rules: RulesOptions

  @Flag(help: "Print one JSON object with the UUID of the copy and the places.")
  var json = false

  @OptionGroup var options: ReadingOptions

  private struct Result: Encodable {
    let id: SnapshotID
    let found: [SecretPlaces]
  }

  func run() async throws {
    try NewPath.check(output, kind: "file")
    let scratch = try ScratchFolder()
    let copy = try await options.withSource(snapshot) { try rules.redact($0, in: scratch) }
    do {
      _ = try SnapshotBundle.pack(folder: scratch.file("redacted"), to: URL(filePath: output))
    } catch {
      throw CommandFailure(error.description, status: .refused)
    }
    if json {
      Console.print(json: Result(id: copy.manifest.id, found: copy.found))
    } else {
      copy.found.flatMap(\.lines).forEach(Console.print)
    }
    let places = copy.found.reduce(0) { $0 + $1.count }
    Console.message(
      "Redacted \(Console.count(places, "place")). The copy is \(copy.manifest.id) in \(output).")
  }
}
