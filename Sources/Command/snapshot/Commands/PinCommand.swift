import ArgumentParser
import SnapshotFormat

struct PinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Pins snapshots, so that they never expire.",
    discussion: """
      Neither the retention rules nor an expiration date delete a pinned snapshot; only `snapshot delete` does. Prints \
      the UUIDs of the changed snapshots.
      """)

  @Argument(help: ArgumentHelp("The snapshots.", valueName: "uuid"))
  var ids: [SnapshotID]

  @Flag(help: "Remove the pin.")
  var remove = false

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  func run() async throws {
    try await options.withMaintainer { maintainer in
      var records: [SnapshotRecord] = []
      defer { if json { Console.print(json: records) } }
      for id in ids {
        records.append(try await maintainer.change(id, isPinned: !remove, isGood: nil, end: nil))
        if !json { Console.print("\(id)") }
      }
    }
  }
}
