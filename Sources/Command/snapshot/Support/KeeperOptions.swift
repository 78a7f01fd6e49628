public import ArgumentParser
import Foundation
public import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO

/// The store that a command maintains: that of a server, or the one in a folder that no server uses.
struct KeeperOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Work on this storage folder directly, if no server uses it.", valueName: "folder"))
  var storage: String?

  @Option(
    help: ArgumentHelp(
      "With --storage, the settings file (default: Config/server.yaml, if it exists).", valueName: "file"))
  var config: String?

  @OptionGroup var server: ServerOptions

  func validate() throws {
    guard storage == nil || (server.server == nil && server.tokenFile == nil) else {
      throw ValidationError("Pass --storage or --server, not both.")
    }
    guard config == nil || storage != nil else { throw ValidationError("--config requires --storage.") }
  }

  /// Runs `body` with a keeper of the selected store.
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
    let settings = try ServerSettings(
      flags: ["server.storage": storage], file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    do throws(ServerError) { try settings.requireSoundStorage() } catch { throw CommandFailure(error) }
    guard Folder.isFolder(settings.storage + "/bundles") else {
      throw CommandFailure("There is no storage folder \(storage).", status: .refused)
    }
    do throws(ServerError) {
      return try await StorageKeeper(settings)
    } catch {
      guard error.isStorageInUse else { throw CommandFailure(error) }
      throw CommandFailure(
        "A server uses the storage folder \(storage). Pass --server URL instead of --storage.")
    }
  }
}

extension SnapshotEnd: ExpressibleByArgument {
  /// Parses a time, a duration, or `never`.
  public init?(argument: String) { self.init(argument) }
}
