import Foundation
import HTTPEngine
import HTTPSemantics
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

@Suite(.everyStore, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct AttachTests {
  private let api = TestAPI()
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  // MARK: Success

  @Test func `a bundle is attached under the manifest's UUID, and again under a new one`() async throws {
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 201)
    #expect(answer.fields[.contentType] == "application/json")
    #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    let record = try answer.decode(SnapshotRecord.self)
    #expect(record.id == bundle.id && record.manifestID == nil)
    #expect(answer.fields[.location] == "/v1/snapshots/\(record.id)")
    #expect(record.report.description == "BUG-1")
    #expect(record.sha256 == bundle.sha256)
    #expect(record.size == Int64(bundle.bytes.count))
    #expect(answer.text.contains(#""bundle":"/v1/snapshots/\#(record.id).zip""#))
    #expect(api.store.ends == .init(begun: 1, committed: 1, discarded: 0))
    let again = try await api.upload(bundle.bytes)
    #expect(again.status == 201)
    #expect(try again.decode(SnapshotRecord.self).id != record.id)
  }

  @Test(arguments: [1, 7, 4096]) func `a body of unknown length is accepted`(pieceSize: Int) async throws {
    let body = HTTPRequestBody.pieces(of: bundle.bytes, size: pieceSize, isChunked: true)
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", [.contentType: "application/zip"], body: body)
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).sha256 == bundle.sha256)
  }

  @Test func `pieces reach the store as they were received`() async throws {
    let store = PieceStore()
    let handler = SnapshotHandler(
      SnapshotService(store: store, catalog: InMemoryCatalog()),
      logger: .init(label: "test") { _ in CapturedLog() })
    let pieces = (0..<3).map { IOBuffer([UInt8](repeating: $0, count: 10)) }
    let rest = Lock(pieces[...])
    let body = HTTPRequestBody(declaredLength: nil) { rest.withLock { $0.popFirst() } }
    await #expect(throws: HTTPProblem.self) {
      try await handler.respond(
        to: HTTPServerRequest(
          method: .post, path: "/v1/reports/a/snapshots", headerFields: [.contentType: "application/zip"],
          body: body))
    }
    #expect(store.pieces.map(ObjectIdentifier.init) == pieces.map(ObjectIdentifier.init))
  }

  @Test func `a report id can contain slashes and symbols`() async throws {
    for report in ["proj/issue/9", "#4567", "a+b@c:d~e"] {
      let answer = try await api.upload(bundle.bytes, report: report)
      #expect(try answer.decode(SnapshotRecord.self).report.description == report)
    }
  }

  @Test func `the client's UUID is used, and repeating the upload is safe`() async throws {
    let first = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(first.status == 201)
    #expect(first.fields[.location] == "/v1/snapshots/\(bundle.id)")
    let second = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(second.status == 200)
    #expect(second.bytes == first.bytes)
    #expect(second.fields[.location] == nil)
    #expect(api.store.ends == .init(begun: 2, committed: 2, discarded: 0))
  }

  @Test func `the UUID in the path overrides the one in the manifest`() async throws {
    let id = SnapshotID()
    let answer = try await api.upload(bundle.bytes, .put, id: id)
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).id == id)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
  }

  @Test func `a UUID can be in upper case`() async throws {
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id.description.uppercased())"
    let answer = try await api.send(
      .put, path, [.contentType: "application/zip"], body: .pieces(of: bundle.bytes))
    #expect(answer.fields[.location] == "/v1/snapshots/\(bundle.id)")
  }

  // MARK: An existing UUID

  @Test func `other bytes under an existing UUID are refused`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let other = try ZippedSample("other")
    let unstated = try await api.upload(other.bytes, .put, id: bundle.id)
    #expect(unstated.status == 409)
    #expect(unstated.kind == "snapshot-differs")
    #expect(api.store.ends.begun == 2)
    let stated = try await api.upload(
      other.bytes, .put, id: bundle.id, fields: [.reprDigest: other.digestField])
    #expect(stated.status == 409)
    #expect(api.store.ends.begun == 2, "what is stated to differ is refused before its body comes")
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id).zip").bytes == bundle.bytes)
  }

  @Test func `an existing UUID can't be attached to another report`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(try await api.upload(bundle.bytes, .put, report: "BUG-2", id: bundle.id).status == 409)
  }

  @Test func `a deleted UUID stays deleted`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    try await api.send(.delete, "/v1/snapshots/\(bundle.id)")
    let answer = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(answer.status == 410)
    #expect(api.store.ends.begun == 1)
  }

  @Test(arguments: [HTTPField.Name.reprDigest, .contentDigest])
  func `a digest without padding is accepted`(name: HTTPField.Name) async throws {
    for (digest, status) in [
      ("sha-256=:" + bundle.digestField.dropFirst(9).replacing("=", with: ""), 201),
      ("sha-256=:" + ZippedSample.digestField([1]).dropFirst(9).replacing("=", with: ""), 400),
    ] {
      let answer = try await api.upload(bundle.bytes, fields: [name: digest])
      #expect(answer.status == status, "\(digest)")
      if status == 400 { #expect(answer.kind == "digest-mismatch") }
    }
  }

  @Test func `If-None-Match with a star only creates`() async throws {
    let fields: HTTPFields = [.ifNoneMatch: "*"]
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields).status == 201)
    let answer = try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields)
    #expect(answer.status == 412)
    #expect(answer.kind == "snapshot-exists")
    #expect(api.store.ends.begun == 1)
  }

  @Test func `other conditions are compared with the bundle's entity tag`() async throws {
    let tag = "\"\(bundle.sha256)\""
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifMatch: tag]).status == 412)
    #expect(
      try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifNoneMatch: tag]).status == 201)
    #expect(
      try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifNoneMatch: tag]).status == 412)
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifMatch: tag]).status == 200)
  }

  @Test(arguments: [true, false]) func `one of two concurrent uploads to a UUID creates it`(
    isSame: Bool
  ) async throws {
    let other = isSame ? bundle : try ZippedSample("other")
    let meeting = Meeting(of: 2)
    let bodies = [bundle, other].map { bundle in
      HTTPRequestBody.pieces(of: bundle.bytes) { await meeting.arrive() }
    }
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id)"
    let fields: HTTPFields = [.contentType: "application/zip"]
    async let first = api.send(.put, path, fields, body: bodies[0])
    async let second = api.send(.put, path, fields, body: bodies[1])
    let statuses = try await [first.status, second.status].sorted()
    #expect(statuses == (isSame ? [200, 201] : [201, 409]))
    #expect(api.store.ends == .init(begun: 2, committed: isSame ? 2 : 1, discarded: isSame ? 0 : 1))
  }

  @Test func `one of two concurrent uploads that must create is refused`() async throws {
    let meeting = Meeting(of: 2)
    let fields: HTTPFields = [.contentType: "application/zip", .ifNoneMatch: "*"]
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id)"
    let bytes = bundle.bytes
    async let first = api.send(.put, path, fields, body: .pieces(of: bytes) { await meeting.arrive() })
    async let second = api.send(.put, path, fields, body: .pieces(of: bytes) { await meeting.arrive() })
    #expect(try await [first.status, second.status].sorted() == [201, 412])
  }
}
