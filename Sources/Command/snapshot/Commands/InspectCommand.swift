import ArgumentParser
import SnapshotFormat

struct InspectCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "inspect",
    abstract: "Shows the contents of a snapshot.",
    discussion: """
      Shows the application and device, which modules are complete and which identifiers the others lack, every \
      recording with its size, and the other files in the bundle.
      """)

  @Argument(
    help: "A snapshot on a server (UUID or its beginning, report, address), a bundle, or a snapshot's folder."
  )
  var snapshot: String

  @Flag(help: "Print the manifest as JSON.")
  var json = false

  @OptionGroup var options: ReadingOptions

  func run() async throws {
    let snapshot = try await options.open(snapshot)
    if json {
      Console.print(json: snapshot.manifest)
    } else {
      for line in SnapshotText(snapshot).lines { Console.print(line) }
    }
  }
}
