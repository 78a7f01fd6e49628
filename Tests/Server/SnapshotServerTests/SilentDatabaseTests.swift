import Foundation
import HTTPSemantics
import HTTPTypes
import PostgreSQLClient
import PostgreSQLStore
import PostgreSQLTesting
import S3Client
import S3Testing
import ServerTesting
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@testable import SnapshotServer

/// A database that neither answers nor closes its connections, because it is stopped or a network swallows everything.
@Suite(.enabled("PostgreSQL isn't installed") { PostgreSQLServer.isInstalled }, .timeLimit(.minutes(5)))
struct SilentDatabaseTests {
  /// Runs `body` with a server whose database is its own.
  private func withServer(_ body: (TestAPI, PostgreSQLServer) async throws -> Void) async throws {
    try await withFakeS3 { objects in
      let (database, folder) = (try await PostgreSQLServer(), try TemporaryFolder())
      var settings = ServerSettings(port: 0, storage: folder.path)
      settings.shared.store = "s3://bucket"
      settings.shared.database = "postgres://tests@127.0.0.1:\(database.port)/postgres"
      let storage = try await ServerStorage.openShared(settings, in: .of(objects), logger: .quiet)
      let result: Result<Void, any Error>
      do {
        result = .success(try await body(TestAPI(over: (storage, InMemoryCatalog())), database))
      } catch {
        result = .failure(error)
      }
      try database.resume()
      await storage.close()
      await database.stop()
      try result.get()
    }
  }

  private func time(_ body: () async throws -> Void) async rethrows -> Duration {
    try await ContinuousClock().measure(body)
  }

  private func expectRefusal(_ answer: TestAPI.Answer) {
    #expect(answer.status == 503 && answer.kind == "storage-unavailable")
    #expect(answer.fields[.retryAfter] != nil)
  }

  @Test func `bundles are attached, and resumable uploads are refused within seconds and then at once`()
    async throws
  {
    try await withServer { api, database in
      let (bundle, whole) = (try ZippedSample(), try ZippedSample("whole"))
      let path = try await api.open(bundle.bytes.count)
      #expect(try await api.patch(path, at: 0, bundle.bytes[..<50]).status == 204)
      try database.pause()
      let first = try await time {
        expectRefusal(try await api.patch(path, at: 50, bundle.bytes[50...]))
      }
      #expect(try first < database.ordinaryAnswer)
      // All calls after the first one together take less than six times as long, so they do not wait each time.
      let others = try await time {
        for _ in 0..<3 {
          expectRefusal(try await api.tus(.head, path))
          expectRefusal(try await api.patch(path, at: 50, bundle.bytes[50...]))
          expectRefusal(
            try await api.tus(
              .post,
              fields: [
                .uploadLength: "10", .uploadMetadata: TestAPI.metadata([("report", "BUG-1")]),
              ]))
          expectRefusal(try await api.tus(.delete, path))
        }
      }
      #expect(others < first * 6)
      let attach = try await time {
        let attached = try await api.upload(whole.bytes, .put, id: whole.id)
        #expect(attached.status == 201)
        let fetched = try await api.send(.get, "/v1/snapshots/\(whole.id).zip")
        #expect(fetched.bytes == whole.bytes)
      }
      #expect(attach < first * 6)
      try database.resume()
      try await eventually { try await api.tus(.head, path).status != 503 }
      #expect(try await api.patch(path, at: 50, bundle.bytes[50...]).status == 204)
      #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
    }
  }

  @Test
  func `an upload whose bytes arrive when the database falls silent is answered, and is continued later`()
    async throws
  {
    try await withServer { api, database in
      let bundle = try ZippedSample()
      let path = try await api.open(bundle.bytes.count)
      let took = try await time {
        let answer = try await api.tus(
          .patch, path, [.uploadOffset: "0", .contentType: TestAPI.tusType],
          body: .pieces(of: Array(bundle.bytes[..<50]), size: 50) { try database.pause() })
        expectRefusal(answer)
      }
      #expect(try took < database.ordinaryAnswer)
      try database.resume()
      var offset: Int?
      try await eventually {
        offset = try await api.tus(.head, path).fields[.uploadOffset].flatMap { Int($0) }
        return offset != nil
      }
      let start = try #require(offset)
      try await eventually {
        try await api.patch(path, at: start, bundle.bytes[start...]).status != 503
      }
      #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
    }
  }

  @Test func `tokens are compared with the database again soon`() async throws {
    let (database, folder) = (try await PostgreSQLServer(), try TemporaryFolder())
    let configuration = try database.configuration()
    let (pool, prompt) = (PostgreSQLPool(configuration), PostgreSQLPool(configuration.prompt))
    defer { for pool in [pool, prompt] { pool.close() } }
    let access = try await PostgreSQLTokens(pool, copyingBy: prompt, storage: folder.path)
    try await access.prepare()
    try await access.copy()
    try database.pause()
    let took = await time {
      let failed = await failure { try await access.copy() }
      #expect(failed != nil)
    }
    #expect(try took < database.ordinaryAnswer)
    try database.resume()
    try await eventually { await failure({ try await access.copy() }) == nil }
    await database.stop()
  }
}

extension PostgreSQLServer {
  /// The longest time that a call waits for the answer to a statement, unless it must be prompt.
  fileprivate var ordinaryAnswer: Duration {
    get throws {
      let configuration = try configuration()
      return configuration.statementTimeout + configuration.answerMargin
    }
  }
}
