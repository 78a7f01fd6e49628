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
import TestSupport
import Testing

/// The server as `snapshot serve` starts it, in a folder.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct ServerApplicationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var settings: ServerSettings { ServerSettings(port: 0, storage: folder.file("storage").path) }

  private func open(_ settings: ServerSettings) async throws(ServerError) -> ServerApplication {
    try await .open(settings, version: "1.2.3", logger: Logger(label: "test") { _ in CapturedLog() })
  }

  /// Why a server can't be opened with these settings.
  private func failure(_ settings: ServerSettings) async -> ServerError? {
    do throws(ServerError) {
      await (try open(settings)).close()
      return nil
    } catch {
      return error
    }
  }

  @Test func `a server answers until it is closed, and then the next one can be opened`() async throws {
    for _ in 0..<2 {
      let application = try await open(settings)
      #expect(try await answer(application, "/readyz") == #"{"status":"ready"}"#)
      let port = try await application.start().port
      let metrics = try await RawHTTPClient.run {
        let client = try RawHTTPClient(port: port)
        try client.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        return try client.receiveResponse()
      }
      #expect(metrics.status == 200)
      #expect(metrics.text.contains(#"{version="1.2.3"} 1"#))
      await application.close()
    }
  }

  private func answer(_ application: ServerApplication, _ path: String) async throws -> String {
    let parts = path.split(separator: "?").map(String.init)
    while true {
      let response = try await application.handler.respond(
        to: HTTPServerRequest(method: .get, path: parts[0], query: parts.count > 1 ? parts[1] : nil))
      guard case .bytes(let bytes) = response.body else { return "" }
      let text = String(decoding: bytes, as: UTF8.self)
      // Other tests can keep the disk busy for longer than the server waits for it.
      if !text.contains(StorageFault.Reason.notAnswering.rawValue) { return text }
    }
  }

  private func attach(_ application: ServerApplication, _ count: Int) async throws {
    for index in 0..<count {
      let upload = try await application.storage.store.beginUpload()
      try await upload.append(IOBuffer(try ZippedSample("\(index)").bytes[...]))
      let record = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1"))).record
      try await application.indexer.reconciled.insert(record)
    }
  }

  @Test func `after a clean stop lists are complete at once, and after a crash they are compared`()
    async throws
  {
    let first = try await open(settings)
    try await first.indexer.update()
    try await attach(first, 3)
    let crashed = folder.file("crashed").path
    try FileManager.default.copyItem(atPath: settings.storage, toPath: crashed)
    await first.close()

    let second = try await open(settings)
    #expect(try await answer(second, "/readyz") == #"{"status":"ready"}"#)
    #expect(try await answer(second, "/metrics").contains("snapshot_repairs_remaining 0\n"))
    #expect(try await answer(second, "/metrics").contains("snapshot_catalog_uncompared_ratio 0\n"))
    #expect(await second.indexer.isReconciled())
    await second.close()

    let third = try await open(ServerSettings(port: 0, storage: crashed))
    #expect(try await answer(third, "/readyz") == #"{"share":0,"status":"recovering"}"#)
    #expect(try await answer(third, "/metrics").contains("snapshot_catalog_uncompared_ratio 1\n"))
    #expect(try await answer(third, "/v1/snapshots?total=true").contains(#""total":3"#))
    try await third.indexer.update()
    #expect(try await answer(third, "/readyz") == #"{"status":"ready"}"#)
    #expect(try await answer(third, "/metrics").contains("snapshot_repairs_remaining 0\n"))
    #expect(try await answer(third, "/metrics").contains("snapshot_store_bundles 3\n"))
    await third.close()
  }

  @Test func `a catalogue that missed a change is compared after a clean stop`() async throws {
    let first = try await open(settings)
    try await first.indexer.update()
    try await attach(first, 2)
    let id = try #require(try await first.storage.store.allRecords().first?.id)
    // The process can end between the deletion and the change of the catalogue.
    try await first.storage.store.delete(id)
    await first.close()
    let second = try await open(settings)
    #expect(try await answer(second, "/readyz").contains("recovering"))
    try await second.indexer.update()
    #expect(try await answer(second, "/v1/snapshots?total=true").contains(#""total":1"#))
    await second.close()
    let third = try await open(settings)
    #expect(try await answer(third, "/readyz") == #"{"status":"ready"}"#)
    await third.close()
  }

  @Test func `two servers can't share a storage`() async throws {
    let application = try await open(settings)
    #expect(await failure(settings)?.isStorageInUse == true)
    await application.close()
    #expect(await failure(settings) == nil)
  }

  @Test func `a server that can't be opened gives its storage back`() async throws {
    let key = try folder.write(Data([1, 2, 3]), to: "storage/keys/links")
    let error = await failure(settings)
    #expect(error?.description.contains("links is damaged") == true, "\(String(describing: error))")
    try FileManager.default.removeItem(at: key)
    #expect(await failure(settings) == nil)
  }

  @Test func `beyond loopback a server needs a token, and nothing is made without one`() async throws {
    var settings = settings
    settings.host = "example.com"
    #expect(await failure(settings)?.description.contains("‘example.com’") == true)
    settings.host = "0.0.0.0"
    #expect(await failure(settings)?.description.hasPrefix("There is no token yet") == true)
    #expect(try !Folder.exists(settings.storage))
    settings.insecure = true
    #expect(await failure(settings) == nil)
  }
}
