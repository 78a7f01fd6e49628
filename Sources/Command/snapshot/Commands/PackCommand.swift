import ArgumentParser
import Foundation
import SnapshotFormat

struct PackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Makes a bundle of a folder, and prints its UUID.",
    discussion: """
      Takes a snapshot's folder, an .xcappdata bundle as Xcode saves it from a device, or any other folder. The same \
      snapshot folder always gives the same bytes. An .xcappdata bundle's container becomes the snapshot's app-data, \
      to be put in place by `preload`. Of any other folder each file becomes a recording whose identifier is its \
      relative path.

      Limits: 4 GiB for one file, 16 GiB for all of them, 100,000 recordings, 200,000 files, 1,024 bytes for a name. \
      README.md lists the rest.
      """)

  @Argument(help: "The folder.")
  var folder: String

  @Flag(help: "The folder is an .xcappdata bundle, whatever its name.")
  var xcappdata = false

  @Option(help: ArgumentHelp("The bundle to write; nothing may be there yet.", valueName: "file"))
  var output: String

  func run() async throws {
    try NewPath.check(output, kind: "file")
    let source = xcappdata ? .appData(URL(filePath: folder)) : try SnapshotSource(folder)
    if case .bundle = source {
      throw CommandFailure("\(folder) is a file; pack takes a folder.", status: .refused)
    }
    let manifest = try source.packed(to: URL(filePath: output)).manifest
    if case .appData = source {
      Console.note(
        "Packed the app data of \(Console.escaped(manifest.application.identifier)) into \(output).")
    } else {
      Console.note("Packed \(manifest.recordings.count) recordings into \(output).")
    }
    Console.print(manifest.id.description)
  }
}
