import ArgumentParser
import FileStore
import SnapshotStore

struct RestoreCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Copies a backup into an empty storage folder, and verifies every bundle.",
    discussion: """
      No server may use the folder, or starts with it before it is complete. An interrupted run can be repeated. Prints \
      the UUIDs of snapshots, and the names of other files, that the backup should have and does not, or that are \
      damaged; the exit code is 2 if there are any. All others are restored. A backup that was never completed is \
      refused. The server makes the catalogue at its next start.
      """)

  @Argument(
    help: ArgumentHelp(
      "The folder of the backup; or archives: a complete one, and then those that continue it, in order.",
      valueName: "folder|archive"))
  var backup: [String]

  @Flag(
    help: "Restore what is there of a backup that is not complete, and accept what is damaged or missing.")
  var partial = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() async throws {
    let storage = try options.path()
    try options.requireOwner()
    let (source, isPartial) = (try backup.map(NamedPath.resolve), partial)
    try await TransferOutcome.show(json: json, "Restoring", "the storage", accepting: isPartial) {
      progress async throws(TransferError) in
      try StorageRestore(from: source, into: storage, isPartial: isPartial).run(progress)
    }
  }
}
