import ArgumentParser
import SnapshotFormat

struct PinCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pin",
    abstract: "Keeps snapshots from going by themselves, whatever the rules and their own end say.",
    discussion: """
      Only `snapshot delete` removes a pinned snapshot. Prints the UUIDs that were pinned, or no longer are.
      """)

  @Argument(help: ArgumentHelp("The snapshots.", valueName: "uuid"))
  var ids: [SnapshotID]

  @Flag(help: "Take the pin away again.")
  var remove = false

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: KeeperOptions

  func run() async throws {
    try await options.withKeeper { keeper in
      var records: [SnapshotRecord] = []
      defer { if json { Console.print(json: records) } }
      for id in ids {
        records.append(try await keeper.change(id, isPinned: !remove, end: nil))
        if !json { Console.print("\(id)") }
      }
    }
  }
}
