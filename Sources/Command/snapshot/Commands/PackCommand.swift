import ArgumentParser
import Foundation
import SnapshotFormat

struct PackCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pack",
    abstract: "Packs a folder or a file into a bundle, and prints its UUID.",
    discussion: """
      Accepts a snapshot's folder, an .xcappdata bundle as Xcode saves it from a device, any other folder, or a single \
      file. The same snapshot folder always produces the same bytes. The container in an .xcappdata bundle becomes the \
      snapshot's app data, which `preload` copies into an app. In any other folder, each file becomes a recording; its \
      identifier is the relative path. A single file becomes one recording; its identifier is the file's name.

      --note and --field become a part of the bundle; the files in the folder do not change. They replace the note and \
      the fields with these names in a snapshot's folder.

      With --seal-to, only the owners of these keys can read the bundle, with --identity. Everybody sees its UUID, its \
      time, its size, to whom it is sealed, and what --show names.

      Limits: 4 GiB for one file, 16 GiB for all of them, 100,000 recordings, 200,000 files, 1,024 bytes for a name. \
      The article “Limits of a bundle” lists all of them; a server shows it at /docs/bundlelimits.
      """)

  @Argument(help: "The folder or file.")
  var source: String

  @Flag(help: "Treat the folder as an .xcappdata bundle, even if its name differs.")
  var xcappdata = false

  @Option(help: ArgumentHelp("Write the bundle to this new file.", valueName: "file"))
  var output: String

  @Flag(help: "Print the bundle's manifest as JSON.")
  var json = false

  @OptionGroup var words: UserWords

  @OptionGroup var seal: SealOptions

  func run() async throws {
    try NewPath.check(output, kind: "file")
    let packed = xcappdata ? .appData(URL(filePath: source)) : try SnapshotSource(source)
    if case .bundle = packed {
      guard !seal.isEmpty else {
        throw CommandFailure(
          "\(source) is already a bundle; pack accepts a folder or another file, or seals it with --seal-to.",
          status: .refused)
      }
      guard words.isEmpty else {
        throw CommandFailure(
          "--note and --field can't be added to the bundle \(source); pack its folder.", status: .usage)
      }
    }
    let manifest = try packed.packed(to: URL(filePath: output), words, seal).manifest
    if !seal.isEmpty {
      Console.message("Sealed \(Console.count(manifest.recordings.count, "recording")) into \(output).")
    } else if case .appData = packed {
      Console.message(
        "Packed the app data of \(Console.escaped(manifest.application.identifier)) into \(output).")
    } else {
      Console.message("Packed \(Console.count(manifest.recordings.count, "recording")) into \(output).")
    }
    if json { Console.print(json: manifest) } else { Console.print(manifest.id.description) }
  }
}
