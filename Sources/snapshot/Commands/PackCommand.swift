import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotFormat

struct PackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Makes a bundle of a folder, and prints its UUID.",
    discussion: """
      Takes a snapshot's folder, or any other folder: then each file becomes a recording whose identifier is its \
      relative path. The same snapshot folder always gives the same bytes. With --xcappdata the folder is a \
      bundle as Xcode saves it from a device; its container becomes the snapshot's app-data, to be put in place \
      by `preload`.
      """)

  @Argument(help: "The folder.")
  var folder: String

  @Flag(help: "The folder is an .xcappdata bundle.")
  var xcappdata = false

  @Option(help: ArgumentHelp("The bundle to write; nothing may be there yet.", valueName: "file"))
  var output: String

  func run() async throws {
    try NewPath.check(output, kind: "file")
    if xcappdata { return try packAppData() }
    let source = try SnapshotSource(folder)
    if case .bundle = source {
      throw CommandFailure("\(folder) is a file; pack takes a folder.", status: .refused)
    }
    let bundle = try source.packed(to: URL(filePath: output))
    Console.note("Packed \(bundle.manifest.recordings.count) recordings into \(output).")
    Console.print(bundle.manifest.id.description)
  }

  private func packAppData() throws(CommandFailure) {
    do throws(AppDataError) {
      let packed = try AppData.makeSnapshot(of: URL(filePath: folder), to: URL(filePath: output))
      Console.note(
        "Packed the app data of \(Console.escaped(packed.manifest.application.identifier)) into \(output).")
      Console.print(packed.manifest.id.description)
    } catch {
      throw CommandFailure(error)
    }
  }
}
