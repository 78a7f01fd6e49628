import ArgumentParser
import FileStore
import Foundation
import SnapshotServer
import SnapshotStore

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Moves a storage to another folder or to an object store, with a short interruption.",
    discussion: """
      Run it first while the servers are running: it copies everything, and later runs copy what is new. Then stop the \
      servers, and run it with --finish: it copies the rest, verifies every bundle by its digest, and makes the copy a \
      storage that servers can use. The original is never changed. An interrupted run can be repeated. Prints the UUIDs \
      of snapshots that are damaged or missing; the exit code is 2 if there are any.

      An object store is named s3://bucket/prefix. The settings server.shared.endpoint, region, bucketIn and database, \
      and the environment variables of the credentials, are those of the servers that use it.
      """)

  @Option(help: ArgumentHelp("The storage.", valueName: "folder|s3-address"))
  var from: String

  @Option(
    help: ArgumentHelp(
      "The new storage: a folder or a prefix that is new, empty, or that of an earlier run.",
      valueName: "folder|s3-address"))
  var to: String

  @Option(
    help: ArgumentHelp(
      "The settings file with server.shared (default: Config/server.yaml, if it exists).", valueName: "file"))
  var config: String?

  @Flag(help: "Complete the migration. No server may use the storage.")
  var finish = false

  @Flag(help: "With --finish, leave out bundles that are damaged or missing.")
  var withoutLost = false

  @Flag(help: "Print the report as JSON.")
  var json = false

  func validate() throws {
    guard finish || !withoutLost else { throw ValidationError("--without-lost requires --finish.") }
    let places = try [from, to].map { text in
      guard let place = StorageAddress(text) else {
        throw ValidationError("‘\(text)’ is neither a folder nor an address such as s3://bucket/prefix.")
      }
      return place
    }
    guard config == nil || places.contains(where: \.isObjectStore) else {
      throw ValidationError("--config requires an address such as s3://bucket/prefix.")
    }
  }

  func run() async throws {
    guard let source = try StorageAddress(from)?.resolved(), let target = try StorageAddress(to)?.resolved()
    else { return }
    if case (.folder(let from), .folder(let to)) = (source, target) {
      try await move(from, to)
    } else {
      try await move(source, target)
    }
    guard finish else {
      return Console.message("Run it again at any time. To complete it, stop the servers and add --finish.")
    }
    let setting = target.isObjectStore ? "server.shared.store" : "server.storage"
    Console.message("\(to) is a storage now. Set \(setting) to it, and start the server.")
  }

  private func move(_ from: String, _ to: String) async throws {
    let migration = StorageMigration(from: from, to: to)
    try await show { progress async throws(TransferError) in
      try finish
        ? migration.finish(leavingLosses: withoutLost, progress) : migration.copy(progress)
    }
  }

  private func move(_ source: StorageAddress, _ target: StorageAddress) async throws {
    let settings = try ServerSettings(file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    let scratch = try ScratchFolder()
    let migration: ServerMigration
    do {
      migration = try await .open(
        from: source, to: target, settings: settings.shared,
        environment: ProcessInfo.processInfo.environment, scratch: scratch.url.path)
    } catch {
      throw CommandFailure(error)
    }
    if finish {
      let warning: String?
      do { warning = try await migration.warning() } catch {
        throw CommandFailure(error)
      }
      if let warning { Console.message(warning) }
    }
    try await show { progress async throws(TransferError) in
      try await finish
        ? migration.finish(leavingLosses: withoutLost, progress) : migration.copy(progress)
    }
    guard finish else { return }
    do { try migration.remarks.forEach(Console.message) } catch {
      throw CommandFailure(error)
    }
  }

  private func show(
    _ transfer: ((TransferReport) -> Void) async throws(TransferError) -> TransferReport
  ) async throws(CommandFailure) {
    try await TransferOutcome.show(
      json: json, finish ? "Completing" : "Copying", "the new storage", accepting: withoutLost, transfer)
  }
}

extension StorageAddress {
  fileprivate var isObjectStore: Bool {
    if case .objectStore = self { true } else { false }
  }

  /// The folder itself, if a link names it.
  fileprivate func resolved() throws(CommandFailure) -> StorageAddress {
    switch self {
    case .folder(let path): .folder(try NamedPath.resolve(path))
    case .objectStore: self
    }
  }
}
