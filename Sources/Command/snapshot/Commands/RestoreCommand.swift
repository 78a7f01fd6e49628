import ArgumentParser
import FileStore
import SnapshotStore

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Copies a backup into an empty storage folder, and verifies every bundle.",
    discussion: """
      No server may use the folder. An interrupted run can be repeated. Prints the UUIDs of snapshots that the backup \
      should have and does not, or that are damaged; the exit code is 2 if there are any. All others are restored. The \
      server makes the catalogue at its next start.
      """)

  @Argument(
    help: ArgumentHelp(
      "The folder of the backup; or archives: a complete one, and then those that continue it, in order.",
      valueName: "folder|archive"))
  var backup: [String]

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    let storage = try options.path()
    try options.requireOwner()
    let source = try backup.map(NamedPath.resolve)
    try await TransferOutcome.show(json: json, "Restoring", "the storage") {
      progress async throws(TransferError) in
      try StorageRestore(from: source, into: storage).run(progress)
    }
  }
}
