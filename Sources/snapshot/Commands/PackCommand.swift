import ArgumentParser
import Foundation
import SnapshotFormat

struct PackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Makes a bundle of a folder, and prints its UUID.",
    discussion: """
      Takes a snapshot's folder, or any other folder: then each file becomes a recording whose identifier is its \
      relative path. The same snapshot folder always gives the same bytes.
      """)

  @Argument(help: "The folder.")
  var folder: String

  @Option(help: ArgumentHelp("The bundle to write; nothing may be there yet.", valueName: "file"))
  var output: String

  func run() async throws {
    try NewPath.check(output, kind: "file")
    let source = try SnapshotSource(folder)
    if case .bundle = source {
      throw CommandFailure("\(folder) is a file; pack takes a folder.", status: .refused)
    }
    let bundle = try source.packed(to: URL(filePath: output))
    Console.note("Packed \(bundle.manifest.recordings.count) recordings into \(output).")
    Console.print(bundle.manifest.id.description)
  }
}
