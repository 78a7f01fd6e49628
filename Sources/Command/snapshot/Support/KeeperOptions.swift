public import ArgumentParser
import FileStore
import Foundation
import Logging
public import SnapshotFormat
import SnapshotStore
import SystemIO

/// Which store a command looks after: a server's, or that in a folder which no server uses.
struct KeeperOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Work on the storage in this folder itself, which no server uses.", valueName: "folder"))
  var storage: String?

  @Option(
    help: ArgumentHelp(
      "With --storage, the settings' file (default: Config/server.yaml, if it is there).", valueName: "file"))
  var config: String?

  @OptionGroup var server: ServerOptions

  func validate() throws {
    guard storage == nil || (server.server == nil && server.tokenFile == nil) else {
      throw ValidationError("Give --storage or --server, not both.")
    }
    guard config == nil || storage != nil else { throw ValidationError("--config goes with --storage.") }
  }

  /// Runs `body` with what does the work.
  func withKeeper(_ body: (any Keeper) async throws -> Void) async throws {
    guard let storage else { return try await body(ServerKeeper(client: try server.client())) }
    let keeper = try await open(storage)
    do {
      try await body(keeper)
    } catch {
      await keeper.close()
      throw error
    }
    await keeper.close()
  }

  private func open(_ storage: String) async throws -> StorageKeeper {
    guard Folder.isFolder(storage + "/bundles") else {
      throw CommandFailure("There is no storage in \(storage).", status: .refused)
    }
    let settings = try ServerSettings(
      flags: ["server.storage": storage], file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    do {
      return try await StorageKeeper(settings)
    } catch FileBundleStore.OpeningError.inUse {
      throw CommandFailure("A server uses the storage \(storage): say --server URL instead of --storage.")
    } catch {
      throw CommandFailure("\(error)")
    }
  }
}

extension SnapshotEnd: ExpressibleByArgument {
  /// Reads a time, a while from now, or `never`.
  public init?(argument: String) { self.init(argument) }
}
