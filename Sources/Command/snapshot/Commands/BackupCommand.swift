import ArgumentParser
import FileStore

struct BackupCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a storage folder to a backup, also while a server uses it.",
    discussion: """
      The first run copies everything, later ones what is new. Every bundle is verified by its digest while it is \
      copied; everything is durable when the command ends. The backup contains tokens, keys and audit logs too, is \
      readable by its owner only, and has the layout of a storage folder. An interrupted run can be repeated. Prints \
      the UUIDs of snapshots that are damaged or missing; the exit code is 2 if there are any without an intact copy.
      """)

  @Argument(help: "The folder of the backup: new, empty, or that of an earlier run.")
  var folder: String

  @Flag(help: "Also read and verify what the backup has already.")
  var verify = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  func run() throws {
    let backup = StorageBackup(of: try options.path(), to: folder, rehashes: verify)
    try TransferOutcome.show(json: json, "Copying", "the backup") { progress throws(TransferError) in
      try backup.run(progress)
    }
  }
}
