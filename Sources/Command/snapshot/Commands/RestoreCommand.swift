import ArgumentParser
import FileStore

struct RestoreCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "restore",
    abstract: "Copies a backup into an empty storage folder, and verifies every bundle.",
    discussion: """
      No server may use the folder. An interrupted run can be repeated. Prints the UUIDs of snapshots that the backup \
      should have and does not, or that are damaged; the exit code is 2 if there are any. All others are restored. The \
      server makes the catalogue at its next start.
      """)

  @Argument(help: "The folder of the backup.")
  var folder: String

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() throws {
    let storage = try options.path()
    try options.requireOwner()
    let restore = StorageRestore(from: folder, into: storage)
    try TransferOutcome.show(json: json, "Restoring", "the storage") { progress throws(TransferError) in
      try restore.run(progress)
    }
  }
}
