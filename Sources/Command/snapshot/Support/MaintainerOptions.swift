public import ArgumentParser
import Foundation
public import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO

/// The store that a command maintains: that of a server, or the one in a folder that no server uses.
struct MaintainerOptions: ParsableArguments {
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

  /// Runs `body` with the maintainer of the selected store.
  func withMaintainer(_ body: (any Maintainer) async throws -> Void) async throws {
    guard let storage else { return try await body(ServerMaintainer(client: try server.client())) }
    let maintainer = try await open(storage)
    do {
      try await body(maintainer)
    } catch {
      await maintainer.close()
      throw error
    }
    await maintainer.close()
  }

  private func open(_ storage: String) async throws -> StorageMaintainer {
    let settings = try ServerSettings(
      flags: ["server.storage": storage], file: config ?? "Config/server.yaml", fileIsRequired: config != nil)
    do { try settings.requireSoundStorage() } catch { throw CommandFailure(error) }
    guard Folder.isFolder(settings.storage + "/bundles") else {
      throw CommandFailure("There is no storage folder \(storage).", status: .refused)
    }
    do {
      return try await StorageMaintainer(settings)
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
