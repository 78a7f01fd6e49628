import Foundation
import HTTPTypes
import Logging
import S3Testing
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import TestSupport
import Testing

/// How many requests to the object store a request of a client costs.
@Suite struct StoreRequestsTests {
  /// Servers that share an object store and a database.
  private struct Servers {
    let objects: FakeS3Server
    let intents = InMemoryChangeIntents()
    let catalog = InMemoryCatalog()

    /// Runs `body` with a further server.
    func with(_ body: (TestAPI) async throws -> Void) async throws {
      let folder = try TemporaryFolder()
      let storage = try await ServerStorage.open(
        ServerSettings(port: 0, storage: folder.path), in: .of(objects), rows: InMemoryUploadRows(),
        catalog: catalog, intents: intents, settledRecords: InMemorySettledRecords(catalog, intents: intents),
        lock: SoleServer(), logger: .quiet)
      try await body(TestAPI(over: (storage, catalog)))
      await storage.close()
    }

    /// What `body` asks of the object store: methods and kinds of objects.
    func calls(of body: () async throws -> Void) async throws -> [String] {
      let before = objects.calls.count
      try await body()
      return objects.calls.dropFirst(before).map { "\($0.method) \($0.key.prefix { $0 != "/" })" }
    }
  }

  private static func withServers(_ body: (Servers, ZippedSample) async throws -> Void) async throws {
    try await withFakeS3 { try await body(Servers(objects: $0), try ZippedSample()) }
  }

  private static func withServer(
    _ body: (TestAPI, FakeS3Server, ZippedSample) async throws -> Void
  ) async throws {
    try await withServers { servers, bundle in
      try await servers.with { try await body($0, servers.objects, bundle) }
    }
  }

  @Test(arguments: [HTTPRequest.Method.put, .post])
  func `attaching a small bundle reads its record once, and writes bytes and record`(
    method: HTTPRequest.Method
  ) async throws {
    try await Self.withServer { api, objects, bundle in
      // The server looks for changes without intents when it starts, which the first request waits for.
      try await api.send(.get, "/v1/snapshots")
      let before = objects.calls.count
      let answer = try await api.upload(bundle.bytes, method, id: method == .put ? bundle.id : nil)
      #expect(answer.status == 201)
      let calls = objects.calls.dropFirst(before).map { "\($0.method) \($0.key.prefix { $0 != "/" })" }
      #expect(calls == ["GET records", "PUT bytes", "PUT records"])
    }
  }

  @Test func `a bundle that is attached again leaves no bytes besides the first`() async throws {
    try await Self.withServer { api, objects, bundle in
      let first = try await api.upload(bundle.bytes, .put, id: bundle.id)
      let keys = objects.keys
      let second = try await api.upload(bundle.bytes, .put, id: bundle.id)
      #expect(first.status == 201 && second.status == 200)
      #expect(objects.keys == keys)
    }
  }

  @Test(arguments: [1, 500_000])
  func `a bundle is read once by each server, and its record is not`(repetitions: Int) async throws {
    try await Self.withServers { servers, _ in
      // Longer bundles are sent while they arrive.
      let bundle = try ZippedSample(String(repeating: "0123456789", count: repetitions))
      try await servers.with { one in
        #expect(try await one.upload(bundle.bytes).status == 201)
        try await servers.with { other in
          // The other server looks for changes without intents, too.
          try await other.send(.get, "/v1/snapshots")
          for api in [one, other] {
            for expected in [["GET bytes"], []] {
              let calls = try await servers.calls {
                let fetched = try await api.send(.get, "/v1/snapshots/\(bundle.id).zip")
                #expect(fetched.status == 200 && fetched.bytes == bundle.bytes)
              }
              #expect(calls == expected)
            }
          }
        }
      }
    }
  }

  @Test func `a bundle that one server has deleted is not sent by another that has its bytes`() async throws {
    try await Self.withServers { servers, bundle in
      try await servers.with { one in
        try await servers.with { other in
          #expect(try await one.upload(bundle.bytes).status == 201)
          #expect(try await other.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 200)
          #expect(try await one.send(.delete, "/v1/snapshots/\(bundle.id)").status == 204)
          #expect(try await other.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 410)
          try await one.application.storage.journal?.flush()
          #expect(servers.intents.all.isEmpty)
          #expect(try await other.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 410)
        }
      }
    }
  }

  @Test func `a server that ends after a deletion leaves no server that sends the bundle`() async throws {
    try await Self.withServers { servers, bundle in
      try await servers.with { other in
        try await servers.with { one in
          #expect(try await one.upload(bundle.bytes).status == 201)
          #expect(try await other.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 200)
          try await one.application.storage.store.delete(bundle.id)
        }
        #expect(servers.catalog.record(bundle.id) != nil)
        #expect(try await other.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 410)
      }
    }
  }

  @Test func `while the database does not answer, bundles are sent and attached, but not deleted`()
    async throws
  {
    try await Self.withServers { servers, bundle in
      try await servers.with { api in
        #expect(try await api.upload(bundle.bytes).status == 201)
        servers.intents.isAvailable = false
        let calls = try await servers.calls {
          let sent = try await api.send(.get, "/v1/snapshots/\(bundle.id).zip")
          #expect(sent.bytes == bundle.bytes)
        }
        #expect(calls == ["GET records", "GET bytes"])
        let refused = try await api.send(.delete, "/v1/snapshots/\(bundle.id)")
        #expect(refused.status == 503 && refused.fields[.retryAfter] != nil)
        #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").status == 200)
        #expect(try await api.upload(try ZippedSample("other").bytes).status == 201)
        servers.intents.isAvailable = true
        #expect(try await api.send(.delete, "/v1/snapshots/\(bundle.id)").status == 204)
      }
    }
  }

  @Test func `a bundle that was set aside is not sent, also while the database lacks that`() async throws {
    try await Self.withServers { servers, bundle in
      try await servers.with { api in
        #expect(try await api.upload(bundle.bytes, .put, id: bundle.id).status == 201)
        let calls = try await servers.calls {
          let sent = try await api.send(.get, "/v1/snapshots/\(bundle.id).zip")
          #expect(sent.status == 200)
        }
        #expect(calls == ["GET bytes"])
        // The database answers again, and has neither the change nor an intent of it.
        servers.intents.isAvailable = false
        try await api.application.storage.store.setAside(bundle.id)
        servers.intents.isAvailable = true
        #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").kind == "snapshot-damaged")
      }
    }
  }

  @Test func `a bundle that another server has repaired is sent, also while the database lacks that`()
    async throws
  {
    try await Self.withServers { servers, bundle in
      try await servers.with { one in
        try await servers.with { other in
          #expect(try await one.upload(bundle.bytes, .put, id: bundle.id).status == 201)
          let record = try #require(servers.catalog.record(bundle.id))
          servers.intents.isAvailable = false
          let store = one.application.storage.store
          try await store.setAside(bundle.id)
          let upload = try await store.beginUpload()
          try await upload.append(IOBuffer(bundle.bytes[...]))
          _ = try await upload.commit(Attachment(report: record.report, id: bundle.id))
          servers.intents.isAvailable = true
          // The bytes that the database names were replaced.
          let calls = try await servers.calls {
            let sent = try await other.send(.get, "/v1/snapshots/\(bundle.id).zip")
            #expect(sent.status == 200 && sent.bytes == bundle.bytes)
          }
          #expect(calls == ["GET bytes", "GET records", "GET bytes"])
        }
      }
    }
  }

  @Test func `a bundle that was repaired is sent, also while the catalogue lacks that`() async throws {
    try await Self.withServers { servers, bundle in
      try await servers.with { api in
        #expect(try await api.upload(bundle.bytes, .put, id: bundle.id).status == 201)
        let damaged = try await api.application.storage.store.setAside(bundle.id)
        try await servers.catalog.insert(damaged)
        #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").kind == "snapshot-damaged")
        #expect(try await api.upload(bundle.bytes, .put, id: bundle.id).status == 200)
        try await servers.catalog.insert(damaged)
        #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
      }
    }
  }
}
