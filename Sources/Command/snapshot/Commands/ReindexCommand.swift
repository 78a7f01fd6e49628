import ArgumentParser
import FileStore
import Logging
import SQLiteCatalog
import SnapshotAPI
import SnapshotClient
import SnapshotStore
import SystemIO

struct ReindexCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "reindex",
    abstract: "Makes the catalogue anew from the records, and waits until it is done.",
    discussion: """
      Asks a running server for it, or, with --storage, does it where no server runs. Meanwhile bundles are served, \
      and lists are refused.
      """)

  @Option(
    help: ArgumentHelp("The folder that bundles are kept in, of no running server.", valueName: "folder"))
  var storage: String?

  @Flag(help: "Print how many records there are as JSON.")
  var json = false

  @OptionGroup var options: ServerOptions

  func validate() throws {
    guard storage == nil || options.server == nil else {
      throw ValidationError("Give --storage or --server, not both.")
    }
  }

  func run() async throws {
    let count = try await storage == nil ? reindexServer() : reindexStorage()
    if json {
      Console.print("{\"records\":\(count)}")
    } else {
      Console.note("The catalogue is complete.")
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
    let path = storage ?? ""
    guard Folder.isFolder(path) else {
      throw CommandFailure("There is no storage \(path).", status: .refused)
    }
    let logger = Logger(label: "snapshot") { _ in SwiftLogNoOpLogHandler() }
    let store: FileBundleStore
    do {
      store = try await FileBundleStore.open(.init(path: path), logger: logger)
    } catch {
      throw CommandFailure(error.description)
    }
    let catalog = try await ServerApplication.openCatalog(path, logger: logger)
    let indexer = CatalogIndexer(store: store, catalog: catalog, logger: logger)
    indexer.rebuild()
    let result: Result<Int, any Error>
    do {
      try await indexer.update()
      result = .success(try await catalog.total(CatalogQuery()).count)
    } catch {
      result = .failure(error)
    }
    await store.close()
    await catalog.close()
    return try result.get()
  }
}
