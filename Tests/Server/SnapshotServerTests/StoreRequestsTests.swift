import Foundation
import HTTPTypes
import Logging
import S3Testing
import SnapshotFormat
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

@testable import SnapshotServer

/// How many requests to the object store a request of a client costs.
@Suite struct StoreRequestsTests {
  private static func withServer(_ body: (TestAPI, FakeS3Server, SampleBundle) async throws -> Void)
    async throws
  {
    try await withFakeS3 { objects in
      let (folder, catalog) = (try TemporaryFolder(), InMemoryCatalog())
      let storage = try await ServerStorage.open(
        ServerSettings(port: 0, storage: folder.path), in: .of(objects), rows: InMemoryUploadRows(),
        catalog: catalog, notes: InMemoryChangeNotes(), lock: SoleServer(),
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
      try await body(TestAPI(over: (storage, catalog)), objects, try SampleBundle())
      await storage.close()
    }
  }

  @Test(arguments: [HTTPRequest.Method.put, .post])
  func `attaching a small bundle reads its record once, and writes bytes and record`(
    method: HTTPRequest.Method
  ) async throws {
    try await Self.withServer { api, objects, bundle in
      // The server looks for changes without notes when it starts, which the first request waits for.
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
}
