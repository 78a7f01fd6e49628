import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat
import SystemIO

struct PreloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preload",
    abstract: "Copies an app's data into its container.",
    discussion: """
      Accepts an .xcappdata bundle as Xcode saves it, a snapshot (zip or folder), or the UUID or address of a snapshot \
      on the server. Copies its part of the app's container: Documents, Library, and so on. Each file is replaced \
      atomically. Identical files, and files that the source does not contain, are left unchanged. Symbolic links are \
      refused in the source and in the container. Prints the numbers of created, replaced and unchanged files.

        snapshot preload Fixture.xcappdata --into \\
          "$(xcrun simctl get_app_container booted com.example.news data)"
      """)

  @Argument(help: "An .xcappdata bundle, a snapshot, or the UUID, report or address of one on a server.")
  var source: String

  @Option(help: ArgumentHelp("The container; it is created if it does not exist.", valueName: "folder"))
  var into: String

  @Flag(help: "Print the outcome for each file.")
  var verbose = false

  @Flag(help: "Print the outcome for each file as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    let scratch = try ScratchFolder()
    let data = try await local(scratch)
    let report: PreloadReport
    do {
      report = try AppData(contentsOf: data).copy(into: URL(filePath: into))
    } catch {
      throw CommandFailure(error)
    }
    if json {
      Console.print(json: report)
      return
    }
    if verbose {
      for file in report.files { Console.print("\(file.outcome.rawValue)  \(Console.escaped(file.path))") }
    }
    for path in report.passedOver { Console.message("Skipped: \(Console.escaped(path))") }
    let counts = PreloadReport.Outcome.allCases.map { "\(report.paths($0).count) \($0.rawValue)" }
    Console.print("\(counts.joined(separator: ", ")); \(Console.size(report.bytes)) written")
  }

  /// The path of the data on this machine. Data on a server is downloaded into `scratch`.
  private func local(_ scratch: ScratchFolder) async throws -> URL {
    let zip = scratch.file("bundle.zip")
    let line = ProgressLine("Fetching")
    defer { line.finish() }
    guard try await options.fetchIfNamed(source, to: zip, progress: line.show) != nil else {
      let isFile = Folder.isRegularFile(source)
      return isFile ? try opened(URL(filePath: source), in: scratch) : URL(filePath: source)
    }
    return try opened(zip, in: scratch)
  }

  private func opened(_ zip: URL, in scratch: ScratchFolder) throws(CommandFailure) -> URL {
    guard case .bundle(let inner) = try options.unsealed(.bundle(zip), in: scratch) else { return zip }
    return inner
  }
}
