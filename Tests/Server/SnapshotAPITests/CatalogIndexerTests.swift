import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import Observability
import SnapshotService
import SQLiteCatalog
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

@Suite struct CatalogIndexerTests {
  private let folder: TemporaryFolder
  private let store = InMemoryStore()
  private let logger = Logger(label: "test") { _ in CapturedLog() }

  init() throws { folder = try TemporaryFolder() }

  private var path: String { folder.file("catalog.sqlite").path }

  private func attach(_ count: Int) async throws -> Set<SnapshotID> {
    var ids: Set<SnapshotID> = []
    for index in 0..<count {
      let bundle = try ZippedSample("\(index)")
      let upload = try await store.beginUpload()
      try await upload.append(IOBuffer(bundle.bytes[...]))
      ids.insert(try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record.id)
    }
    return ids
  }

  /// Runs `body` with a catalogue, its indexer and a server.
  private func serving(
    _ body: (SQLiteCatalog, CatalogIndexer, SnapshotHandler) async throws -> Void
  ) async throws {
    let catalog = try await SQLiteCatalog.open(.init(path: path))
    let application = ServerApplication(storage: ServerStorage(store, catalog: catalog), logger: logger)
    do { try await body(catalog, application.indexer, application.handler) } catch {
      await catalog.close()
      throw error
    }
    await catalog.close()
  }

  private func status(_ handler: SnapshotHandler, _ path: String) async throws -> Int {
    do {
      return try await handler.respond(to: HTTPServerRequest(method: .get, path: path)).status.code
    } catch let problem as HTTPProblem {
      return problem.status.code
    }
  }

  private func listed(_ catalog: SQLiteCatalog) async throws -> Set<SnapshotID> {
    Set(try await catalog.page(CatalogQuery(), PageRequest(limit: 1000)).records.map(\.id))
  }

  @Test func `bundles are served while lists wait for the catalogue`() async throws {
    let ids = try await attach(3)
    try await serving { catalog, indexer, handler in
      #expect(try await status(handler, "/readyz") == 503)
      #expect(try await status(handler, "/healthz") == 200)
      #expect(try await status(handler, "/v1/snapshots") == 503)
      #expect(try await status(handler, "/v1/snapshots/\(try #require(ids.first)).zip") == 200)
      try await indexer.update()
      #expect(try await status(handler, "/readyz") == 200)
      #expect(try await status(handler, "/v1/snapshots") == 200)
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `a complete catalogue is listed from the first call`() async throws {
    try await serving { _, indexer, handler in
      await indexer.prepare(storeIsEmpty: true)
      let answer = try await status(handler, "/v1/snapshots")
      #expect(answer == 200)
    }
    let ids = try await attach(3)
    try await serving { catalog, indexer, handler in
      await indexer.prepare(storeIsEmpty: false)
      #expect(try await status(handler, "/v1/snapshots") == 200)
      try await indexer.update()
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `a catalogue is compared again on request, while lists are answered`() async throws {
    try await serving { catalog, indexer, handler in
      try await indexer.update()
      // Changes that a server made and could not index.
      let ids = try await attach(3)
      try await indexer.update()
      #expect(try await listed(catalog).isEmpty)
      indexer.compareAgain()
      #expect(try await status(handler, "/v1/snapshots") == 200)
      try await indexer.update()
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `an empty store removes all snapshots from the lists`() async throws {
    let ids = try await attach(2)
    try await serving { _, indexer, _ in try await indexer.update() }
    for id in ids { try await store.delete(id) }
    try await serving { catalog, indexer, _ in
      await indexer.prepare(storeIsEmpty: true)
      #expect(indexer.progress == .ready)
      try await indexer.update()
      #expect(try await listed(catalog).isEmpty)
    }
  }

  @Test func `a catalogue that is deleted under a running server is rebuilt automatically`() async throws {
    var ids = try await attach(20)
    try await serving { catalog, indexer, handler in
      try await indexer.update()
      for suffix in ["", "-wal"] { try Folder.removeIfPresent(path + suffix) }
      try await indexer.update()
      #expect(indexer.progress == .ready)
      #expect(try await listed(catalog) == ids)
      ids.formUnion(try await attach(1))
      try await indexer.update()
    }
    #expect(try Folder.exists(path))
    try await serving { catalog, indexer, _ in
      #expect(try await catalog.state().extent == .everything)
      try await indexer.update()
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `changes made while no server ran are applied`() async throws {
    var ids = try await attach(5)
    try await serving { _, indexer, _ in try await indexer.update() }
    ids.formUnion(try await attach(2))
    let gone = try #require(ids.first)
    try await store.delete(gone)
    ids.remove(gone)
    try await serving { catalog, indexer, _ in
      try await indexer.update()
      #expect(indexer.progress == .ready)
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `after an improper shutdown every record is compared`() async throws {
    let ids = try await attach(5)
    let copy = folder.file("copy.sqlite").path
    try await serving { catalog, indexer, _ in
      try await indexer.update()
      for suffix in ["", "-wal"] {
        try FileManager.default.copyItem(atPath: path + suffix, toPath: copy + suffix)
      }
    }
    let changed = try #require(ids.first)
    try await store.change(RecordChange(verified: .damaged), of: changed)
    let catalog = try await SQLiteCatalog.open(.init(path: copy))
    let indexer = CatalogIndexer(store: store, catalog: catalog, logger: logger)
    try await indexer.update()
    let record = try await catalog.page(CatalogQuery(), PageRequest()).records.first { $0.id == changed }
    #expect(record?.verified == .damaged)
    #expect(try await catalog.state().extent == .everything)
    await catalog.close()
  }

  @Test func `a catalogue is rebuilt on request`() async throws {
    let ids = try await attach(3)
    try await serving { catalog, indexer, handler in
      try await indexer.update()
      let generation = try await catalog.state().generation
      let answer = try await handler.respond(to: HTTPServerRequest(method: .post, path: "/v1/reindex"))
      #expect(answer.status == .accepted)
      #expect(try await status(handler, "/readyz") == 503)
      try await indexer.update()
      #expect(try await catalog.state().generation > generation)
      #expect(try await status(handler, "/readyz") == 200)
      #expect(try await listed(catalog) == ids)
    }
  }

  @Test func `updates run automatically until the task is cancelled`() async throws {
    let ids = try await attach(3)
    try await serving { catalog, indexer, _ in
      let running = Task { await indexer.run(every: .milliseconds(1)) }
      try await eventually { indexer.progress == .ready }
      let generation = try await catalog.state().generation
      for suffix in ["", "-wal"] { try Folder.removeIfPresent(path + suffix) }
      try await eventually {
        try await catalog.state() == CatalogState(extent: .everything, generation: generation + 1)
      }
      #expect(try await listed(catalog) == ids)
      running.cancel()
      await running.value
    }
  }
}
