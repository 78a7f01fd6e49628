import ArgumentParser
import SnapshotFormat

struct DeleteCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "delete",
    abstract: "Deletes snapshots permanently.",
    discussion: """
      Deletes the bundle and its record. The UUID stays reserved and is never used again. Prints the UUIDs of the \
      deleted snapshots.
      """)

  @Argument(help: ArgumentHelp("The snapshots.", valueName: "uuid"))
  var ids: [SnapshotID]

  @Flag(help: "Print one JSON array of UUIDs.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  func run() async throws {
    try await options.withMaintainer { maintainer in
      var deleted: [SnapshotID] = []
      defer { if json { Console.print(json: deleted) } }
      for id in ids {
        try await maintainer.delete(id)
        deleted.append(id)
        if !json { Console.print("\(id)") }
      }
    }
  }
}
