import Foundation
import Logging
import SnapshotServer
import StoreTesting
import TestSupport
import Testing

@Suite struct SharedSettingsTests {
  @Test(
    arguments: [
      ("s3://bucket/a", nil, nil, "used together"),
      (nil, "postgres://host/database", nil, "used together"),
      ("http://bucket", "postgres://host/database", nil, "s3://bucket/prefix"),
      ("s3://bucket?x", "postgres://host/database", nil, "s3://bucket/prefix"),
      ("s3://B", "postgres://host/database", nil, "the bucket's name is invalid"),
      ("s3://bucket", "postgres://host/database", "ftp://host", "endpoint"),
      ("s3://bucket", "postgres://host/database", "http://host/path", "endpoint"),
    ] as [(String?, String?, String?, String)])
  func `settings that do not fit each other are refused`(
    store: String?, database: String?, endpoint: String?, reason: String
  ) async throws {
    let refusal = try await refusal(store, database, endpoint)
    #expect(refusal?.contains(reason) == true, "\(refusal ?? "accepted")")
  }

  @Test func `a password in the settings is refused and not repeated`() async throws {
    let refusal = try #require(
      try await refusal("s3://bucket", "postgres://user:sesame@127.0.0.1:1/database", nil))
    #expect(refusal.contains("PGPASSFILE"))
    #expect(!refusal.contains("sesame"))
  }

  /// The reason why a server with these settings does not start.
  private func refusal(_ store: String?, _ database: String?, _ endpoint: String?) async throws -> String? {
    let folder = try TemporaryFolder()
    var settings = ServerSettings(port: 0, storage: folder.url.path)
    settings.shared.store = store
    settings.shared.database = database
    settings.shared.endpoint = endpoint
    do {
      let application = try await ServerApplication.open(
        settings, environment: ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"], version: "1",
        logger: .quiet)
      await application.close()
      return nil
    } catch {
      return "\(error)"
    }
  }
}
