import ArgumentParser
import Logging
import SnapshotAPI
import SnapshotClient
import SnapshotServer
import SnapshotService
import SnapshotStore
import SystemIO

struct ReindexCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reindex",
    abstract: "Rebuilds the catalogue from the records, and waits for completion.",
    discussion: """
      Requests this from a running server, or, with --storage, rebuilds the catalogue of a folder that no server uses. \
      Meanwhile a server still serves bundles, but refuses lists. Prints the number of records.
      """)

  @Option(
    help: ArgumentHelp("The storage folder, if no server uses it.", valueName: "folder"))
  var storage: String?

  @Flag(help: "Print the number of records as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard storage == nil || options.server == nil else {
      throw ValidationError("Pass --storage or --server, not both.")
    }
  }

  func run() async throws {
    let count = try await storage == nil ? reindexServer() : reindexStorage()
    if json {
      Console.print("{\"records\":\(count)}")
    } else {
      Console.message("The catalogue is complete.")
      Console.print("\(count)")
    }
  }

  private func reindexServer() async throws -> Int {
    let client = try options.client()
    var progress = try await client.reindex()
    while progress.status == .indexing {
      if Console.errorIsTerminal {
        Console.progress("\rIndexing \(Int(max(0, min(progress.share ?? 0, 1)) * 100)) %")
      }
      try await Task.sleep(for: .milliseconds(200))
      progress = try await client.indexingProgress()
    }
    if Console.errorIsTerminal { Console.progress("\r") }
    return try await client.page(SnapshotFilter(), limit: 1, total: true).total ?? 0
  }

  private func reindexStorage() async throws -> Int {
    let path = try NamedPath.resolve(storage ?? "")
    guard Folder.isFolder(path) else {
      throw CommandFailure("There is no storage folder \(path).", status: .refused)
    }
    let logger = Logger(label: "snapshot") { _ in SwiftLogNoOpLogHandler() }
    let storage: ServerStorage
    do {
      storage = try await ServerStorage.open(ServerSettings(storage: path), repairs: true, logger: logger)
    } catch {
      throw CommandFailure(error)
    }
    let indexer = CatalogIndexer(store: storage.store, catalog: storage.catalog, logger: logger)
    indexer.rebuild()
    let result: Result<Int, any Error>
    do {
      try await indexer.update()
      result = .success(try await storage.catalog.total(CatalogQuery()).count)
    } catch {
      result = .failure(error)
    }
    await storage.close(isReconciled: await indexer.isReconciled())
    return try result.get()
  }
}
