import Foundation
import Logging
import S3Client
import S3Testing
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// Servers that share an object store, one of which has a wrong clock.
@Suite struct StoreTimeTests {
  @Test(arguments: [-7200.0, 7200])
  func `a server with a wrong clock dates records and expires uploads by the object store's time`(
    seconds: Double
  ) async throws {
    try await withFakeS3 { objects in
      let (folder, catalog, rows) = (try TemporaryFolder(), InMemoryCatalog(), InMemoryUploadRows())
      let client = try S3Client.of(
        objects, environment: S3Environment(now: { Date() + seconds }, sleep: { _ in }))
      let storage = try await ServerStorage.open(
        ServerSettings(port: 0, storage: folder.path), in: client, rows: rows, catalog: catalog,
        intents: InMemoryChangeIntents(), lock: SoleServer(),
        logger: .quiet)
      let api = TestAPI(over: (storage, catalog))
      let bundle = try ZippedSample()
      #expect(try await api.upload(bundle.bytes).status == 201)
      let record = try await storage.store.record(bundle.id)
      #expect(abs(record.receivedAt.timeIntervalSinceNow) < 60)
      #expect(abs(storage.now().timeIntervalSinceNow) < 60)
      let session = try await storage.store.createUpload(UploadTerms(.partial, dialect: "tus"))
      #expect(abs(session.createdAt.timeIntervalSinceNow) < 60)
      await storage.close()
    }
  }
}
