import Foundation
import HTTPEngine
import HTTPTypes
import Logging
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

/// Durable changes succeed although the catalogue fails, and are listed later.
@Suite struct ReconciledCatalogTests {
  private let store = InMemoryStore()
  private let catalog = FailingCatalog()
  private let log = CapturedLog()
  private let indexer: CatalogIndexer
  private let service: SnapshotService
  private let handler: SnapshotHandler
  private let bundle: ZippedSample

  init() async throws {
    bundle = try ZippedSample()
    let log = log
    let logger = Logger(label: "test") { _ in log }
    let application = ServerApplication(storage: ServerStorage(store, catalog: catalog), logger: logger)
    (indexer, service, handler) = (application.indexer, application.service, application.handler)
    try await indexer.update()
  }

  private func fail(_ isFailing: Bool) {
    catalog.isFailing.set(isFailing)
  }

  private func send(
    _ method: HTTPRequest.Method, _ path: String, _ fields: HTTPFields = [:], body: [UInt8] = []
  ) async throws -> Int {
    let request = HTTPServerRequest(
      method: method, path: path, authority: "localhost", headerFields: fields,
      body: body.isEmpty ? .empty : .pieces(of: body))
    do {
      return try await handler.respond(to: request).status.code
    } catch let problem as HTTPProblem {
      return problem.status.code
    }
  }

  private func put() async throws -> Int {
    try await send(
      .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)", [.contentType: "application/zip"], body: bundle.bytes)
  }

  private func listed() async throws -> [SnapshotRecord] {
    try await service.page(CatalogQuery(), PageRequest()).records
  }

  @Test func `a published upload gets a 201, and is listed later`() async throws {
    fail(true)
    #expect(try await put() == 201)
    #expect(try await put() == 200)
    #expect(try await listed().isEmpty)
    #expect(log.lines.contains { $0.hasPrefix("error") && $0.contains("\(bundle.id)") })
    await #expect(throws: CatalogError.self) { try await indexer.update() }
    fail(false)
    try await indexer.update()
    #expect(try await listed().map(\.id) == [bundle.id])
  }

  @Test func `a published tus upload succeeds`() async throws {
    fail(true)
    let fields: HTTPFields = [
      try #require(.init("Tus-Resumable")): "1.0.0",
      try #require(.init("Upload-Length")): "\(bundle.bytes.count)",
      try #require(.init("Upload-Metadata")): "report \(Data("BUG-1".utf8).base64EncodedString())",
      .contentType: "application/offset+octet-stream",
    ]
    #expect(try await send(.post, "/v1/uploads", fields, body: bundle.bytes) == 201)
    #expect(try await store.allRecords().count == 1)
    #expect(log.lines.contains { $0.contains("The catalogue could not be changed") })
    fail(false)
    try await indexer.update()
    #expect(try await listed().count == 1)
  }

  @Test func `a change and a deletion succeed, and are listed later`() async throws {
    #expect(try await put() == 201)
    fail(true)
    let path = "/v1/snapshots/\(bundle.id)"
    let patch: HTTPFields = [.contentType: "application/merge-patch+json"]
    #expect(try await send(.patch, path, patch, body: Array(#"{"pinned": true}"#.utf8)) == 200)
    #expect(try await listed().map(\.isPinned) == [false])
    fail(false)
    try await indexer.update()
    #expect(try await listed().map(\.isPinned) == [true])
    fail(true)
    #expect(try await send(.delete, path) == 204)
    #expect(try await listed().isEmpty)
    #expect(try await send(.delete, path) == 410)
    await #expect(throws: CatalogError.self) { try await indexer.update() }
    #expect(try await listed().isEmpty)
    #expect(try await catalog.total(CatalogQuery()).count == 1)
    fail(false)
    try await indexer.update()
    #expect(try await listed().isEmpty)
    #expect(try await catalog.total(CatalogQuery()).count == 0)
  }

  @Test(arguments: [HTTPRequest.Method.delete, .patch])
  func `a snapshot whose deletion was not indexed is no longer listed after the next attempt`(
    method: HTTPRequest.Method
  ) async throws {
    #expect(try await put() == 201)
    // As by a server that ended then.
    try await store.delete(bundle.id)
    #expect(try await listed().map(\.id) == [bundle.id])
    #expect(try await send(method, "/v1/snapshots/\(bundle.id)") == 410)
    #expect(try await listed().isEmpty)
  }

  @Test func `only the records are read again whose changes were missed`() async throws {
    #expect(try await put() == 201)
    try await indexer.update()
    // Only a comparison of all records would find it.
    let other = try ZippedSample("other")
    let upload = try await store.beginUpload()
    try await upload.append(IOBuffer(other.bytes[...]))
    _ = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1")))
    fail(true)
    let patch: HTTPFields = [.contentType: "application/merge-patch+json"]
    let path = "/v1/snapshots/\(bundle.id)"
    #expect(try await send(.patch, path, patch, body: Array(#"{"pinned": true}"#.utf8)) == 200)
    fail(false)
    #expect(await !indexer.isReconciled())
    try await indexer.update()
    #expect(try await listed().map(\.id) == [bundle.id])
    #expect(try await listed().map(\.isPinned) == [true])
    #expect(await indexer.isReconciled())
  }
}
