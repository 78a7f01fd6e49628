import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import S3Client
import S3Testing
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// Servers that share an object store, a catalogue and the rows of uploads.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct SharedStorageTests {
  /// What the servers share, and what each has for itself.
  private struct Servers {
    let objects: FakeS3Server
    let rows = InMemoryUploadRows()
    let catalog = InMemoryCatalog()
    private let folder: TemporaryFolder

    init(_ objects: FakeS3Server) throws {
      self.objects = objects
      folder = try TemporaryFolder()
    }

    /// Opens the storage of one more server.
    func open(
      _ name: String, lock: any MaintenanceLock = SoleServer(), downloads: DownloadSource = .server,
      observer: StorageObserver = StorageObserver(), _ configure: (inout ServerSettings) -> Void = { _ in }
    ) async throws -> ServerStorage {
      var settings = ServerSettings(port: 0, storage: folder.file(name).path)
      configure(&settings)
      return try await .open(
        settings, in: .of(objects), rows: rows, catalog: catalog, intents: InMemoryChangeIntents(),
        lock: lock,
        downloads: downloads, observer: observer,
        logger: .quiet)
    }
  }

  /// Runs `body` with the APIs of two servers.
  private static func withServers(_ body: (_ one: TestAPI, _ other: TestAPI) async throws -> Void)
    async throws
  {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      let storages = [try await servers.open("one"), try await servers.open("other")]
      try await body(
        TestAPI(over: (storages[0], servers.catalog)),
        TestAPI(over: (storages[1], servers.catalog)))
      for storage in storages { await storage.close() }
    }
  }

  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  @Test func `a bundle that one server received is listed, sent and deleted by another`() async throws {
    try await Self.withServers { one, other in
      #expect(try await one.upload(bundle.bytes).status == 201)
      let fetched = try await other.send(.get, "/v1/snapshots/\(bundle.id).zip")
      #expect(fetched.status == 200 && fetched.bytes == bundle.bytes)
      let range = try await other.send(.get, "/v1/snapshots/\(bundle.id).zip", [.range: "bytes=10-19"])
      #expect(range.status == 206 && range.bytes == Array(bundle.bytes[10..<20]))
      let list = try await other.send(.get, "/v1/reports/BUG-1/snapshots")
      #expect(list.text.contains("\(bundle.id)"))
      #expect(try await other.send(.delete, "/v1/snapshots/\(bundle.id)").status == 204)
      #expect(try await one.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 410)
      #expect(try await one.upload(bundle.bytes, .put, id: bundle.id).status == 410)
    }
  }

  @Test func `a large bundle is sent while it arrives, and one whose bytes are missing is a problem`()
    async throws
  {
    let large = try ZippedSample(String(repeating: "0123456789", count: 450_000))
    try await Self.withServers { one, other in
      #expect(try await one.upload(large.bytes).status == 201)
      let head = try await other.send(.head, "/v1/snapshots/\(large.id).zip")
      #expect(head.status == 200 && head.bytes.count == large.bytes.count)
      let range = try await other.send(
        .get, "/v1/snapshots/\(large.id).zip", [.range: "bytes=4000000-4000019"])
      #expect(range.status == 206 && range.bytes == Array(large.bytes[4_000_000..<4_000_020]))
      let fetched = try await other.send(.get, "/v1/snapshots/\(large.id).zip")
      #expect(fetched.status == 200 && fetched.bytes == large.bytes)
      #expect(try await other.send(.get, "/v1/snapshots/\(large.id).zip").bytes == large.bytes)
    }
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      let storage = try await servers.open("one")
      let api = TestAPI(over: (storage, servers.catalog))
      #expect(try await api.upload(large.bytes).status == 201)
      for key in objects.keys where key.hasPrefix("bytes/") { objects[key] = nil }
      let missing = try await api.send(.get, "/v1/snapshots/\(large.id).zip")
      #expect(missing.status == 500 && missing.kind == "snapshot-damaged")
      await storage.close()
    }
  }

  @Test func `an upload over tus is continued by another server after every request`() async throws {
    try await Self.withServers { one, other in
      let path = try await one.open(bundle.bytes.count, [("report", "BUG-1"), ("id", "\(bundle.id)")])
      let (servers, count) = ([other, one], bundle.bytes.count)
      for (number, start) in stride(from: 0, to: count, by: (count + 4) / 5).enumerated() {
        let (server, asked) = (servers[number % 2], servers[(number + 1) % 2])
        let end = min(start + (count + 4) / 5, count)
        let answer = try await server.patch(path, at: start, bundle.bytes[start..<end])
        #expect(answer.status == (end == count ? 200 : 204) || answer.status == 204)
        #expect(answer.fields[.uploadOffset] == "\(end)")
        let head = try await asked.tus(.head, path)
        #expect(head.fields[.uploadOffset] == "\(end)")
      }
      #expect(try await one.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
      #expect(try await other.send(.get, "/v1/reports/BUG-1/snapshots").text.contains("\(bundle.id)"))
    }
  }

  @Test func `an upload over the IETF draft is completed by another server`() async throws {
    try await Self.withServers { one, other in
      let fields: HTTPFields = [.uploadDraftInteropVersion: "8", .uploadComplete: "?0"]
      let created = try await one.upload(
        Array(bundle.bytes[..<50]), .put, id: bundle.id, fields: fields)
      #expect(created.status == 201)
      let path = try #require(created.fields[.location])
      let answer = try await other.send(
        .patch, path,
        [
          .uploadDraftInteropVersion: "8", .uploadComplete: "?1", .uploadOffset: "50",
          .contentType: "application/partial-upload",
        ], body: .pieces(of: Array(bundle.bytes[50...])))
      #expect((200...204).contains(answer.status))
      #expect(try await one.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
    }
  }

  @Test func `an upload that would use the reserved space of the local folder is refused`() async throws {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      let storage = try await servers.open("one") { $0.reservedBytes = .max }
      let answer = try await TestAPI(over: (storage, servers.catalog)).upload(bundle.bytes)
      #expect(answer.status == 507)
      await storage.close()
    }
  }

  @Test func `a download is redirected to the object store once it is in the audit log`() async throws {
    try await withFakeS3 { objects in
      let folder = try TemporaryFolder()
      let audit = try AuditLog(.init(path: folder.file("audit.log").path), logger: Logger(label: "test"))
      let servers = try Servers(objects)
      let storage = try await servers.open("one", downloads: .redirect)
      let api = TestAPI(over: (storage, servers.catalog), observation: Observation(audit: audit))
      try await api.upload(bundle.bytes, .put, id: bundle.id)
      let path = "/v1/snapshots/\(bundle.id).zip"
      let answer = try await api.send(.get, path)
      #expect(answer.status == 307 && answer.bytes.isEmpty)
      #expect(answer.fields[.cacheControl] == "private, no-store")
      #expect(answer.fields[.reprDigest] == bundle.digestField)
      let log = try String(contentsOf: folder.file("audit.log"), encoding: .utf8)
      #expect(log.contains(#""action":"fetchBundle""#))
      let url = try #require(answer.fields[.location])
      #expect(url.contains("X-Amz-Expires=60&"))
      let fetched = try await Tool.run("curl", ["-sS", "--fail", "-o", folder.file("zip").path, url])
      #expect(fetched.status == 0)
      #expect(try Data(contentsOf: folder.file("zip")) == Data(bundle.bytes))
      // What needs no bytes is answered here.
      let tag = try #require(try await api.send(.head, path).fields[.eTag])
      #expect(try await api.send(.head, path).status == 200)
      #expect(try await api.send(.get, path, [.ifNoneMatch: tag]).status == 304)
      #expect(try await api.send(.get, path, [.ifMatch: "\"other\""]).status == 412)
      #expect(try await api.send(.get, "/v1/snapshots/\(SnapshotID()).zip").status == 404)
      try await api.send(.delete, "/v1/snapshots/\(bundle.id)")
      #expect(try await api.send(.get, path).status == 410)
      await audit.close()
      await storage.close()
    }
  }

  @Test func `the metrics count the reads of the cache, and do not guess the size of a shared store`()
    async throws
  {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      let local = try TemporaryFolder()
      let application = try await ServerApplication.open(
        ServerSettings(port: 0, storage: local.path), version: "1",
        logger: .quiet
      ) { observer throws(ServerError) in
        do { return try await servers.open("one", observer: observer) } catch let error as ServerError {
          throw error
        } catch {
          throw .quotaUnsupported
        }
      }
      let upload = try await application.storage.store.beginUpload()
      try await upload.append(IOBuffer(bundle.bytes))
      _ = try await upload.commit(Attachment(report: ReportID(validating: "BUG-1")))
      for _ in 0..<3 { _ = try await application.storage.store.open(bundle.id) }
      let response = try await application.handler.respond(
        to: HTTPServerRequest(method: .get, path: "/metrics"))
      guard case .bytes(let bytes) = response.body else {
        Issue.record("no metrics")
        return
      }
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(text.contains("snapshot_cache_reads_total{result=\"hit\"} 2\n"))
      #expect(text.contains("snapshot_cache_reads_total{result=\"miss\"} 1\n"))
      #expect(!text.contains("snapshot_store_bundles"))
      await application.close()
    }
  }

  @Test func `a quota is refused, because servers don't share one`() async throws {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      await #expect {
        _ = try await servers.open("one") { $0.retention.quotaBytes = 1 << 30 }
      } throws: {
        if case ServerError.quotaUnsupported = $0 { true } else { false }
      }
      let storage = try await servers.open("one")
      let application = ServerApplication(
        ServerSettings(port: 0), storage: storage,
        logger: .quiet)
      var settings = ServerSettings()
      settings.retention.quotaBytes = 1 << 30
      await #expect(throws: ServerError.self) { try await application.reload(settings) }
      settings.retention.quotaBytes = nil
      try await application.reload(settings)
      await application.close()
    }
  }

  @Test func `a storage folder is used by one server at a time`() async throws {
    try await withFakeS3 { objects in
      let servers = try Servers(objects)
      let storage = try await servers.open("one")
      await #expect {
        _ = try await servers.open("one")
      } throws: {
        ($0 as? ServerError)?.isStorageInUse == true
      }
      await storage.close()
    }
  }

  @Test func `one server maintains the storage, and another one when it ends`() async throws {
    try await withFakeS3 { objects in
      let (servers, lock) = (try Servers(objects), InMemoryMaintenanceLock())
      var applications: [ServerApplication] = []
      for name in ["one", "other"] {
        applications.append(
          ServerApplication(
            ServerSettings(port: 0), storage: try await servers.open(name, lock: lock),
            logger: .quiet))
      }
      let maintenances = applications.map(\.maintenance)
      maintenances[0].start()
      try await eventually { maintenances[0].isActive }
      maintenances[1].start()
      // Other settings apply at once where they are in use, and later elsewhere.
      var retention = RetentionSettings()
      retention.scrubBytesPerSecond += 1
      for maintenance in maintenances { await maintenance.change(retention) }
      #expect(maintenances.map(\.isActive) == [true, false])
      await maintenances[0].stop()
      #expect(!maintenances[0].isActive)
      try await eventually { maintenances[1].isActive }
      for application in applications { await application.close() }
    }
  }
}
