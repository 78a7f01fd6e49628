import AccessControl
import FileStore
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// A bundle whose entry has a wrong checksum, but with a correct digest of the whole: accepted, and found damaged
/// later.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct DamageTests {
  private let folder: TemporaryFolder
  private let catalog = InMemoryCatalog()
  private let log = CapturedLog()
  private let store: FileBundleStore
  private let access = AccessPolicy.open
  private let handler: SnapshotHandler
  private let records: AsyncStream<SnapshotRecord>
  private let bundle: ZippedSample
  private let bytes: [UInt8]

  init() async throws {
    folder = try TemporaryFolder()
    bundle = try ZippedSample("recorded text")
    bytes = bundle.replacing("recorded text", with: "recorded test")
    let (stream, heard) = AsyncStream<SnapshotRecord>.makeStream()
    records = stream
    let log = log
    let logger = Logger(label: "test") { _ in log }
    store = try await FileBundleStore.open(
      .init(
        path: folder.path + "/Storage", validator: UploadValidator(wholeUpTo: 0), reserve: 0,
        onVerification: { heard.yield($0) }), logger: logger)
    handler =
      ServerApplication(
        storage: ServerStorage(store, catalog: catalog), access: access, logger: logger
      ).handler
  }

  private func send(
    _ method: HTTPRequest.Method, _ path: String, query: String? = nil, _ fields: HTTPFields = [:],
    body: [UInt8] = []
  ) async throws -> (status: Int, kind: Substring?, response: HTTPServerResponse?) {
    let request = HTTPServerRequest(
      method: method, path: path, query: query, authority: "localhost", headerFields: fields,
      body: body.isEmpty ? .empty : .pieces(of: body))
    do {
      let response = try await handler.respond(to: request)
      return (response.status.code, nil, response)
    } catch let problem as HTTPProblem {
      return (problem.status.code, problem.type.split { $0 == ":" || $0 == "#" }.last, nil)
    }
  }

  private func put(digest: Bool) async throws -> (status: Int, kind: Substring?) {
    var fields: HTTPFields = [.contentType: "application/zip"]
    if digest { fields[.reprDigest] = ZippedSample.digestField(bytes) }
    let answer = try await send(.put, "/v1/reports/BUG-1/snapshots/\(bundle.id)", fields, body: bytes)
    return (answer.status, answer.kind)
  }

  @Test func `no call returns any part of it after the damage is known`() async throws {
    let path = "/v1/snapshots/\(bundle.id)"
    #expect(try await put(digest: true).status == 201)
    // The response is not expected to be `pending`, because the verification can finish before it.
    let link = access.links.target(bundle.id, until: Date(timeIntervalSinceNow: 60))
    let verdict = try #require(await records.first { _ in true })
    #expect(verdict.id == bundle.id && verdict.verified == .damaged)

    let place = link.split(separator: "?", maxSplits: 1).map(String.init)
    let linked = try #require(place.first)
    let ways: [(HTTPRequest.Method, String, String?, HTTPFields)] = [
      (.get, path + ".zip", nil, [:]), (.head, path + ".zip", nil, [:]),
      (.get, path + ".zip", nil, [.range: "bytes=0-10"]),
      (.get, path + ".zip", nil, [.ifNoneMatch: "*"]),
      (.get, path + "/files", nil, [:]), (.head, path + "/files", nil, [:]),
      (.get, path + "/files/manifest.json", nil, [:]),
      (.head, path + "/files/manifest.json", nil, [:]),
      (.get, path + "/files/manifest.json", nil, [.acceptEncoding: "gzip"]),
      (.get, linked, place.last, [:]), (.head, linked, place.last, [:]),
      (.post, path + "/links", nil, [:]),
    ]
    for (method, path, query, fields) in ways {
      let answer = try await send(method, path, query: query, fields)
      #expect(answer.status == 500 && answer.kind == "snapshot-damaged", "\(method) \(path) \(fields)")
    }
    for page in ["bundle", "raw/manifest.json", "files/manifest.json"] {
      #expect(try await send(.get, "/snapshots/\(bundle.id)/\(page)").status == 500, "\(page)")
    }
    #expect(try await store.record(bundle.id).verified == .damaged)
    #expect(try await put(digest: true) == (422, "invalid-bundle"))
    #expect(try await put(digest: false) == (422, "invalid-bundle"))
    await store.close()
  }
}
