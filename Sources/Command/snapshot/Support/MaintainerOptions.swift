public import ArgumentParser
import Foundation
import SnapshotClient
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

  /// Runs `body` with the maintainer of the store, and with the snapshots in it that `names` name.
  ///
  /// Without `--server` and `--storage`, addresses among the names select the server. All must be of one server.
  /// - Parameter acceptsReports: whether the id of a report stands for its newest snapshot.
  func withMaintainer(
    of names: [String], acceptsReports: Bool = true,
    _ body: (any Maintainer, [SnapshotID]) async throws -> Void
  ) async throws {
    let names = try names.map { (text) throws(CommandFailure) in try SnapshotName(text) }
    if !acceptsReports, let name = names.first(where: { $0.reference == nil && $0.beginning == nil }) {
      throw CommandFailure(
        "‘\(name.text)’ is no UUID. Pass --report \(name.text) for all snapshots of the report.",
        status: .refused)
    }
    let servers = Set(names.compactMap(\.reference?.server))
    guard servers.count <= 1 || storage != nil || server.server != nil else {
      throw CommandFailure(
        "The addresses are of several servers. Pass those of one server at a time.", status: .refused)
    }
    try await withMaintainer(link: servers.first) { maintainer in
      var ids: [SnapshotID] = []
      for name in names {
        let id = try await name.find(acceptsReports: acceptsReports) { filter, limit in
          let page = try await maintainer.page(filter, limit: limit, after: nil)
          return (page.records, page.next != nil)
        }
        if !ids.contains(id) { ids.append(id) }
      }
      try await body(maintainer, ids)
    }
  }

  /// Runs `body` with the maintainer of the selected store.
  /// - Parameter link: the server of an address among the arguments, if there is one.
  func withMaintainer(link: URL? = nil, _ body: (any Maintainer) async throws -> Void) async throws {
    guard let storage else {
      let link = server.server == nil ? link?.absoluteString : nil
      return try await body(ServerMaintainer(client: try server.client(link: link)))
    }
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
