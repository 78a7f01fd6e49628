import ArgumentParser
import SnapshotFormat

struct MarkGoodCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "mark-good",
    abstract: "Marks snapshots as good, so that others are compared with them.",
    discussion: """
      The web pages compare a snapshot with the newest good one of its report, or else of its application. Prints the \
      UUIDs of the changed snapshots.
      """)

  @Argument(help: ArgumentHelp("The snapshots.", valueName: "uuid"))
  var ids: [SnapshotID]

  @Flag(help: "Remove the mark.")
  var remove = false

  @Flag(help: "Print one JSON array of records.")
  var json = false

  @OptionGroup var options: MaintainerOptions

  func run() async throws {
    try await options.withMaintainer { maintainer in
      var records: [SnapshotRecord] = []
      defer { if json { Console.print(json: records) } }
      for id in ids {
        records.append(try await maintainer.change(id, isPinned: nil, isGood: !remove, end: nil))
        if !json { Console.print("\(id)") }
      }
    }
  }
}
