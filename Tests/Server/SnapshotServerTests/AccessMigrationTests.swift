import AccessControl
import Foundation
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import S3Testing
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// Tokens and keys move with the snapshots, if there is a database.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct AccessMigrationTests {
  private static let objects = StorageAddress.objectStore("s3://\(FakeS3Server.bucket)/production")

  /// Folders, an object store and a database.
  private struct Fixture {
    let folder: TemporaryFolder
    var settings = SharedSettings()

    init(_ store: FakeS3Server, _ database: PostgreSQLConfiguration) async throws {
      folder = try TemporaryFolder()
      let pool = PostgreSQLPool(database)
      defer { pool.close() }
      let name = try await pool.perform { try $0.query("SELECT current_database()::text").first?.text(0) }
      let port = try await PostgreSQLServer.shared.port
      settings.endpoint = store.endpoint.absoluteString
      settings.database = "postgres://tests@127.0.0.1:\(port)/\(try #require(name))"
    }

    func files(_ name: String) -> AccessFiles { AccessFiles(storage: folder.file(name).path) }

    /// Makes a storage folder with a snapshot and a token.
    func makeStorage(_ name: String) async throws -> StorageAddress {
      let path = folder.file(name).path
      let storage = try await ServerStorage.open(ServerSettings(storage: path), logger: .quiet)
      let bundle = try ZippedSample()
      _ = try await storage.store.upload(bundle.bytes, as: Attachment(report: .sample, id: bundle.id))
      await storage.close()
      try files(name).createLinkKey()
      _ = try TokenStore(storage: path).create(.init(scopes: [.admin]))
      return .folder(path)
    }

    /// Opens a migration with a folder of its own for bundles on their way.
    func migration(from source: StorageAddress, to target: StorageAddress) async throws -> ServerMigration {
      let scratch = folder.file("scratch-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
      return try await .open(
        from: source, to: target, settings: settings, environment: FakeS3Server.environment,
        scratch: scratch.path)
    }
  }

  private func withFixture(_ body: (Fixture) async throws -> Void) async throws {
    try await withFakeS3 { store in
      try await withDatabase { try await body(try await Fixture(store, $0)) }
    }
  }

  @Test func `tokens and keys move to the database, and back to a folder`() async throws {
    try await withFixture { fixture in
      let source = try await fixture.makeStorage("source")
      let there = try await fixture.migration(from: source, to: Self.objects)
      #expect(try await there.copy().otherFiles == 0)
      #expect(try await there.finish(leavingLosses: false).otherFiles == 3)
      #expect(try !there.remarks.contains { $0.contains("not moved") })
      let target = StorageAddress.folder(fixture.folder.file("target").path)
      let back = try await fixture.migration(from: Self.objects, to: target)
      #expect(try await back.finish(leavingLosses: false).otherFiles == 3)
      let files = try fixture.files("source").read()
      #expect(try fixture.files("target").read() == files && files.count == 3)
    }
  }

  @Test func `the database of other servers is refused, and the target stays incomplete`() async throws {
    try await withFixture { fixture in
      let first = try await fixture.makeStorage("first")
      _ = try await fixture.migration(from: first, to: Self.objects).finish(leavingLosses: false)
      let second = try await fixture.makeStorage("second")
      let other = StorageAddress.objectStore("s3://\(FakeS3Server.bucket)/other")
      for _ in 0..<2 {
        let migration = try await fixture.migration(from: second, to: other)
        let reason = await failure { _ = try await migration.finish(leavingLosses: false) }
        #expect(reason?.contains("tokens of other servers") == true, "\(reason ?? "accepted")")
      }
    }
  }

  @Test func `a server that still runs is named before the object store is left`() async throws {
    try await withFixture { fixture in
      let source = try await fixture.makeStorage("source")
      let there = try await fixture.migration(from: source, to: Self.objects)
      _ = try await there.finish(leavingLosses: false)
      let target = StorageAddress.folder(fixture.folder.file("target").path)
      let back = try await fixture.migration(from: Self.objects, to: target)
      #expect(try await back.warning() == nil)
      let lock = PostgreSQLMaintenanceLock(
        try PostgreSQLConfiguration(uri: try #require(fixture.settings.database)))
      await confirmation { isHeld in
        await lock.whileHeld {
          do {
            let (left, used) = (try await back.warning(), try await there.warning())
            #expect(left?.contains("Stop all servers") == true)
            #expect(used == nil)
          } catch {
            Issue.record(error)
          }
          isHeld()
        }
      }
      #expect(try await back.warning() == nil)
    }
  }

  @Test func `without a database, what an operator has to copy is named`() async throws {
    try await withFixture { fixture in
      var fixture = fixture
      fixture.settings.database = nil
      let source = try await fixture.makeStorage("source")
      let there = try await fixture.migration(from: source, to: Self.objects)
      #expect(try await there.finish(leavingLosses: false).otherFiles == 0)
      #expect(try there.remarks.contains { $0.contains("Tokens and keys are not moved") })
    }
  }
}
