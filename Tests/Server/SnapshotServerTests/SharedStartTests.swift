import Foundation
import PostgreSQLClient
import PostgreSQLTesting
import S3Testing
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

/// A server that can't use what it shares with others says what an operator has to correct.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct SharedStartTests {
  /// The sentence with which a server does not start; `nil` if it starts.
  private func refusal(
    _ objects: FakeS3Server, _ pool: PostgreSQLPool, _ change: (inout ServerSettings) -> Void = { _ in }
  ) async throws -> String? {
    let folder = try TemporaryFolder()
    var settings = ServerSettings(port: 0, storage: folder.path)
    let name = try await pool.perform { try $0.query("SELECT current_database()::text")[0].text(0) }
    settings.shared.store = "s3://\(FakeS3Server.bucket)/production"
    settings.shared.endpoint = objects.endpoint.absoluteString
    settings.shared.database = "postgres://tests@127.0.0.1:\(try await PostgreSQLServer.shared.port)/\(name)"
    change(&settings)
    do throws(ServerError) {
      let application = try await ServerApplication.open(
        settings, environment: FakeS3Server.environment, version: "1", logger: .quiet)
      await application.close()
      return nil
    } catch {
      return error.description
    }
  }

  private func withServices(_ body: (FakeS3Server, PostgreSQLPool) async throws -> Void) async throws {
    try await withFakeS3 { objects in
      try await withDatabase { configuration in
        let pool = PostgreSQLPool(configuration)
        defer { pool.close() }
        try await body(objects, pool)
      }
    }
  }

  @Test(
    arguments: [
      (404, "NoSuchBucket", "There is no bucket tests at "),
      (403, "InvalidAccessKeyId", "correct the credentials"),
      (403, "AccessDenied", "correct the credentials"),
      (403, "RequestTimeTooSkewed", "The clock of this machine and that of the object store"),
    ])
  func `an object store that refuses the server`(status: Int, code: String, sentence: String) async throws {
    try await withServices { objects, pool in
      objects.inject { _ in .refused(status: status, code: code) }
      let reason = try await refusal(objects, pool)
      #expect(reason?.contains(sentence) == true, "\(reason ?? "started")")
    }
  }

  @Test func `an object store or a database that does not answer, or does not exist`() async throws {
    try await withServices { objects, pool in
      let changes: [(sentence: String, change: (inout ServerSettings) -> Void)] = [
        ("The object store does not answer", { $0.shared.endpoint = "http://127.0.0.1:1" }),
        ("The database cannot be reached", { $0.shared.database = "postgres://tests@127.0.0.1:1/a" }),
        (
          "database \"missing\" does not exist",
          { $0.shared.database = $0.shared.database?.replacing(/[^\/]+$/, with: "missing") }
        ),
      ]
      for (sentence, change) in changes {
        let reason = try await refusal(objects, pool, change)
        #expect(reason?.contains(sentence) == true, "\(reason ?? "started")")
      }
    }
  }

  @Test func `a database of a newer version`() async throws {
    try await withServices { objects, pool in
      let first = try await refusal(objects, pool)
      #expect(first == nil)
      try await pool.perform {
        try $0.execute("UPDATE snapshot_catalog_1.schema_version SET version = 99, required = 99")
      }
      let reason = try await refusal(objects, pool)
      #expect(
        reason?.contains("version 99, which this version of the program does not know") == true,
        "\(reason ?? "started")")
    }
  }
}
