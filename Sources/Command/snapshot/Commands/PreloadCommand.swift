import ArgumentParser
import DataSnapshots
import Foundation
import SnapshotClient
import SnapshotFormat

struct PreloadCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "preload",
    abstract: "Copies an app's data into its container.",
    discussion: """
      Takes an .xcappdata bundle as Xcode saves it, a snapshot (zip or folder), or the UUID or address of a \
      snapshot on the server, and puts in place what it holds of the app's container: Documents, Library, and so \
      on. Files are replaced one by one, each in one step; those that are the same already, and whatever the \
      source does not have, are left alone. Links are refused on both sides. Prints how many files were created, \
      replaced and left unchanged.

        snapshot preload Fixture.xcappdata --into \\
          "$(xcrun simctl get_app_container booted com.example.news data)"
      """)

  @Argument(help: "An .xcappdata bundle, a snapshot, or the UUID or address of one on the server.")
  var source: String

  @Option(help: ArgumentHelp("The container; it is made if it is missing.", valueName: "folder"))
  var into: String

  @Flag(help: "Print what became of each file.")
  var verbose = false

  @Flag(help: "Print what became of each file as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func run() async throws {
    let scratch = try ScratchFolder()
    let data = try await local(scratch)
    let report: PreloadReport
    do throws(AppDataError) {
      report = try AppData(contentsOf: data).copy(into: URL(filePath: into))
    } catch {
      throw CommandFailure(error)
    }
    if json {
      Console.print(String(decoding: try SnapshotJSON.encode(report, pretty: true), as: UTF8.self))
      return
    }
    if verbose {
      for file in report.files { Console.print("\(file.outcome.rawValue)  \(Console.escaped(file.path))") }
    }
    for path in report.passedOver { Console.note("Passed over: \(Console.escaped(path))") }
    let counts = PreloadReport.Outcome.allCases.map { "\(report.paths($0).count) \($0.rawValue)" }
    Console.print("\(counts.joined(separator: ", ")); \(Console.size(report.bytes)) written")
  }

  /// Where the data lies on this machine: in `scratch` if it had to be fetched.
  private func local(_ scratch: ScratchFolder) async throws -> URL {
    guard SnapshotID(source) != nil || source.contains("://") else { return URL(filePath: source) }
    let (address, client) = try options.resolve(source)
    let zip = scratch.file("\(address.id).zip")
    let line = ProgressLine("Fetching")
    defer { line.finish() }
    _ = try await client.fetch(address, to: zip, progress: line.show)
    return zip
  }
}
