import ArgumentParser
import FileStore
import SnapshotStore

struct BackupCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "backup",
    abstract: "Copies a storage folder to a folder or an archive, also while a server uses it.",
    discussion: """
      Every bundle is verified by its digest while it is copied; everything is durable when the command ends. The \
      backup contains tokens, keys and audit logs too, and is readable by its owner only. An interrupted run can be \
      repeated. Prints the UUIDs of snapshots that are damaged or missing; the exit code is 2 if there are any without \
      an intact copy.

      A folder has the layout of a storage folder: the first run copies everything, later ones what is new. An archive \
      is a new file whose name ends in .tar: it contains everything, or with --since what is new since another archive.
      """)

  @Argument(
    help: ArgumentHelp(
      "The folder of the backup: new, empty, or that of an earlier run. Or a new file whose name ends in .tar.",
      valueName: "folder|archive"))
  var target: String

  @Option(
    help: ArgumentHelp("The archive that the new one continues. A restore needs both.", valueName: "archive"))
  var since: String?

  @Flag(help: "Also read and verify what the folder has already.")
  var verify = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  @OptionGroup var options: StorageOptions

  private var isArchive: Bool { target.hasSuffix(".tar") }

  func validate() throws {
    if since != nil, !isArchive {
      throw ValidationError(
        "--since is for archives, whose names end in .tar. A folder gets what is new anyway.")
    }
    if verify, isArchive { throw ValidationError("--verify is for folders. An archive is written anew.") }
  }

  func run() async throws {
    let storage = try options.path()
    let since = try since.map(NamedPath.resolve)
    // An archive is a new file.
    let target = try isArchive ? target : NamedPath.resolve(target)
    try await TransferOutcome.show(json: json, "Copying", "the backup") {
      progress async throws(TransferError) in
      try isArchive
        ? ArchiveBackup(of: storage, to: target, since: since).run(progress)
        : StorageBackup(of: storage, to: target, rehashes: verify).run(progress)
    }
  }
}
