import ArgumentParser
import FileStore

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Moves a storage to another folder, with a short interruption.",
    discussion: """
      Run it first while the server is running: it copies everything, and later runs copy what is new. Then stop the \
      server, and run it with --finish: it copies the rest, verifies every bundle by its digest, and makes the copy a \
      storage folder. Set server.storage, and start the server. The original is never changed. An interrupted run can \
      be repeated. Prints the UUIDs of snapshots that are damaged or missing; the exit code is 2 if there are any.
      """)

  @Option(help: ArgumentHelp("The storage folder.", valueName: "folder"))
  var from: String

  @Option(
    help: ArgumentHelp("The new storage folder: new, empty, or that of an earlier run.", valueName: "folder"))
  var to: String

  @Flag(help: "Complete the migration. No server may use the storage.")
  var finish = false

  @Flag(help: "With --finish, leave out bundles that are damaged or missing.")
  var withoutLost = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  func validate() throws {
    guard finish || !withoutLost else { throw ValidationError("--without-lost requires --finish.") }
    for place in [from, to] where place.contains("://") {
      throw ValidationError("‘\(place)’ is not a folder; only folders can be migrated.")
    }
  }

  func run() throws {
    let migration = StorageMigration(from: from, to: to)
    try TransferOutcome.show(
      json: json, finish ? "Completing" : "Copying", "the new storage", accepting: withoutLost
    ) {
      progress throws(TransferError) in
      try finish
        ? migration.finish(leavingLosses: withoutLost, progress) : migration.copy(progress)
    }
    if finish {
      Console.note("\(to) is a storage folder now. Set server.storage to it, and start the server.")
    } else {
      Console.note("Run it again at any time. To complete it, stop the server and add --finish.")
    }
  }
}
