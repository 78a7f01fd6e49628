import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import Synchronization
import SystemIO
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct AttachTests {
  private let api = TestAPI()
  private let bundle: SampleBundle

  init() throws { bundle = try SampleBundle() }

  // MARK: What works

  @Test func `a bundle is attached under a UUID of the server's making`() async throws {
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 201)
    #expect(answer.fields[.contentType] == "application/json")
    #expect(answer.fields[.xContentTypeOptions] == "nosniff")
    let record = try answer.decode(SnapshotRecord.self)
    #expect(record.id != bundle.id)
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

  @Test(arguments: [1, 7, 4096]) func `a body of unknown length is taken`(pieceSize: Int) async throws {
    let body = HTTPRequestBody.pieces(of: bundle.bytes, size: pieceSize, isChunked: true)
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", [.contentType: "application/zip"], body: body)
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).sha256 == bundle.sha256)
  }

  @Test func `pieces reach the store as they came`() async throws {
    let store = PieceStore()
    let handler = SnapshotHandler(
      SnapshotService(store: store, catalog: InMemoryCatalog()),
      logger: .init(label: "test") { _ in CapturedLog() })
    let pieces = (0..<3).map { IOBuffer([UInt8](repeating: $0, count: 10)) }
    let rest = Mutex(pieces[...])
    let body = HTTPRequestBody(declaredLength: nil) { rest.withLock { $0.popFirst() } }
    await #expect(throws: HTTPProblem.self) {
      try await handler.respond(
        to: HTTPServerRequest(
          method: .post, path: "/v1/reports/a/snapshots", headerFields: [.contentType: "application/zip"],
          body: body))
    }
    #expect(store.pieces.map(ObjectIdentifier.init) == pieces.map(ObjectIdentifier.init))
  }

  @Test func `a report may have slashes and signs`() async throws {
    for report in ["proj/issue/9", "#4567", "a+b@c:d~e"] {
      let answer = try await api.upload(bundle.bytes, report: report)
      #expect(try answer.decode(SnapshotRecord.self).report.description == report)
    }
  }

  @Test func `the device's UUID is kept, and the same bytes again are no harm`() async throws {
    let first = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(first.status == 201)
    #expect(first.fields[.location] == "/v1/snapshots/\(bundle.id)")
    let second = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(second.status == 200)
    #expect(second.bytes == first.bytes)
    #expect(second.fields[.location] == nil)
    #expect(api.store.ends == .init(begun: 2, committed: 2, discarded: 0))
  }

  @Test func `the UUID in the path wins over the manifest's`() async throws {
    let id = SnapshotID()
    let answer = try await api.upload(bundle.bytes, .put, id: id)
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).id == id)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
  }

  @Test func `a UUID may be written in capitals`() async throws {
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id.description.uppercased())"
    let answer = try await api.send(
      .put, path, [.contentType: "application/zip"], body: .pieces(of: bundle.bytes))
    #expect(answer.fields[.location] == "/v1/snapshots/\(bundle.id)")
  }

  // MARK: A UUID that is taken

  @Test func `other bytes under a taken UUID are refused`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let other = try SampleBundle("other")
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

  @Test func `a taken UUID can't be attached to another report`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(try await api.upload(bundle.bytes, .put, report: "BUG-2", id: bundle.id).status == 409)
  }

  @Test func `a deleted UUID is gone for good`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    try await api.send(.delete, "/v1/snapshots/\(bundle.id)")
    let answer = try await api.upload(bundle.bytes, .put, id: bundle.id)
    #expect(answer.status == 410)
    #expect(api.store.ends.begun == 1)
  }

  @Test func `If-None-Match with a star only creates`() async throws {
    let fields: HTTPFields = [.ifNoneMatch: "*"]
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields).status == 201)
    let answer = try await api.upload(bundle.bytes, .put, id: bundle.id, fields: fields)
    #expect(answer.status == 412)
    #expect(answer.kind == "snapshot-exists")
    #expect(api.store.ends.begun == 1)
  }

  @Test func `other conditions are judged by the bundle's tag`() async throws {
    let tag = "\"\(bundle.sha256)\""
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifMatch: tag]).status == 412)
    #expect(
      try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifNoneMatch: tag]).status == 201)
    #expect(
      try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifNoneMatch: tag]).status == 412)
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id, fields: [.ifMatch: tag]).status == 200)
  }

  @Test(arguments: [true, false]) func `of two uploads that race for a UUID one creates it`(
    isSame: Bool
  ) async throws {
    let other = isSame ? bundle : try SampleBundle("other")
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

  @Test func `of two uploads that race to create, one is told that it came late`() async throws {
    let meeting = Meeting(of: 2)
    let fields: HTTPFields = [.contentType: "application/zip", .ifNoneMatch: "*"]
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id)"
    let bytes = bundle.bytes
    async let first = api.send(.put, path, fields, body: .pieces(of: bytes) { await meeting.arrive() })
    async let second = api.send(.put, path, fields, body: .pieces(of: bytes) { await meeting.arrive() })
    #expect(try await [first.status, second.status].sorted() == [201, 412])
  }

  // MARK: Digests

  @Test(arguments: [HTTPField.Name.reprDigest, .contentDigest])
  func `a digest that is right is checked and kept to`(name: HTTPField.Name) async throws {
    let answer = try await api.upload(bundle.bytes, fields: [name: bundle.digestField])
    #expect(answer.status == 201)
    // Only the structure was looked at before the answer: the digest shows that the transfer was whole.
    #expect(try answer.decode(SnapshotRecord.self).verified == .pending)
  }

  @Test(arguments: [HTTPField.Name.reprDigest, .contentDigest])
  func `a digest that is wrong is a 400, and nothing is kept`(name: HTTPField.Name) async throws {
    let answer = try await api.upload(
      bundle.bytes, .put, id: bundle.id, fields: [name: SampleBundle.digestField([1, 2, 3])])
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test(arguments: ["sha-256=AAAA", "sha-256=:AAAA:", "sha-256", "("])
  func `a malformed digest is a 400 before the body`(value: String) async throws {
    let answer = try await api.upload(bundle.bytes, fields: [.reprDigest: value])
    #expect(answer.status == 400)
    #expect(api.store.ends.begun == 0)
  }

  @Test func `two digests that disagree are a 400 before the body`() async throws {
    let answer = try await api.upload(
      bundle.bytes, fields: [.reprDigest: bundle.digestField, .contentDigest: SampleBundle.digestField([])])
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    #expect(api.store.ends.begun == 0)
  }

  @Test func `digests of other algorithms are ignored`() async throws {
    let answer = try await api.upload(bundle.bytes, fields: [.reprDigest: "sha-512=:AAAA:"])
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).verified == .intact)
  }

  // MARK: Heads that are refused before the body

  @Test(arguments: [
    "", "text/plain", "application/json", "application/octet-stream", "application/zip/x",
    "multipart/mixed; boundary=x",
    "application/zip; a=b; a=c",
  ])
  func `another media type is a 415 that says what is taken`(type: String) async throws {
    var fields: HTTPFields = [:]
    fields[.contentType] = type
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", fields, body: .pieces(of: bundle.bytes))
    #expect(answer.status == 415)
    #expect(answer.fields[.acceptPost] == "application/zip, multipart/form-data")
    #expect(api.store.ends.begun == 0)
  }

  @Test func `a body that has no type is taken for a bundle`() async throws {
    let path = "/v1/reports/BUG-1/snapshots"
    #expect(try await api.send(.post, path, body: .pieces(of: bundle.bytes)).status == 201)
    #expect(try await api.send(.post, path, body: .pieces(of: Array("{}".utf8))).status == 422)
  }

  @Test func `a coded body is a 415`() async throws {
    let answer = try await api.upload(bundle.bytes, fields: [.contentEncoding: "gzip"])
    #expect(answer.status == 415)
    #expect(answer.fields[.acceptEncoding] == "identity")
    #expect(try await api.upload(bundle.bytes, fields: [.contentEncoding: "identity"]).status == 201)
  }

  @Test func `a bundle's size is limited, declared or not`() async throws {
    for (extra, status) in [(-1, 413), (0, 201), (1, 201)] {
      var limits = ServiceLimits()
      limits.bundleBytes = Int64(bundle.bytes.count + extra)
      let api = TestAPI(limits: limits)
      let declared = try await api.upload(bundle.bytes)
      #expect(declared.status == status)
      #expect(api.store.ends.begun == (status == 413 ? 0 : 1), "a declared length is refused before the body")
      #expect(try await api.upload(bundle.bytes, isChunked: true).status == status)
      #expect(api.store.ends.discarded == (status == 413 ? 1 : 0))
    }
  }

  @Test(arguments: [
    "1", "3f2b", "g0000000-0000-0000-0000-000000000000", "00000000000000000000000000000000", "%20",
  ])
  func `what is no UUID is a 400 that says so`(id: String) async throws {
    let answer = try await api.send(
      .put, "/v1/reports/BUG-1/snapshots/\(id)", [.contentType: "application/zip"],
      body: .pieces(of: bundle.bytes))
    #expect(answer.status == 400)
    #expect(answer.kind == "malformed-snapshot-id")
    #expect(answer.problem?.detail.contains("UUID") == true)
  }

  @Test(arguments: [
    "a%20b", "%C3%BC", "..%2Fx", "a%2F%2Fb", "%2F", String(repeating: "a", count: ReportID.maximumLength + 1),
  ])
  func `what is no report's name is a 400 with the reason`(report: String) async throws {
    let answer = try await api.send(
      .post, "/v1/reports/\(report)/snapshots", [.contentType: "application/zip"],
      body: .pieces(of: bundle.bytes))
    #expect(answer.status == 400)
    #expect(answer.kind == "malformed-report-id")
    #expect(answer.problem?.detail.contains("report id") == true)
    #expect(api.store.ends.begun == 0)
  }

  // MARK: Bundles that are refused

  private func expectRefused(_ bytes: [UInt8], _ hint: String? = nil) async throws {
    let answer = try await api.upload(bytes)
    #expect(answer.status == 422)
    #expect(answer.kind == "invalid-bundle")
    let detail = try #require(answer.problem?.detail)
    if let hint { #expect(detail.contains(hint), "\(detail)") }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    #expect(try await api.store.allRecords().isEmpty)
  }

  @Test func `what is no zip is a 422`() async throws { try await expectRefused(Array("hello".utf8)) }

  @Test func `an empty body is a 422`() async throws { try await expectRefused([]) }

  @Test func `a zip that is cut off is a 422`() async throws {
    try await expectRefused(bundle.bytes.dropLast(30))
  }

  @Test func `a zip that would be unpacked outside of its folder is a 422`() async throws {
    let sample = try SampleBundle(extra: ["attachments/x": "evil"])
    try await expectRefused(sample.replacing("attachments/x", with: "../../../../x"))
  }

  @Test func `a damaged recording is a 422 where no digest came along`() async throws {
    let sample = try SampleBundle("unmistakable")
    try await expectRefused(sample.replacing("unmistakable", with: "unmistakablX"))
  }

  @Test func `a manifest that lies is a 422`() async throws {
    try await expectRefused(SampleBundle { $0.recordings[0].sha256 = .of([]) }.bytes, "feed")
  }

  @Test func `a manifest that names what is not there is a 422`() async throws {
    try await expectRefused(SampleBundle { $0.recordings[0].path = "recordings/other" }.bytes)
  }

  @Test func `a manifest of a newer format is a 422 that names both versions`() async throws {
    try await expectRefused(SampleBundle { $0.formatVersion = 2 }.bytes, "2")
  }

  // MARK: What the server can't help

  @Test(arguments: [ObservedStore.Step.begin, .append, .commit])
  func `no room is a 507, and nothing is kept`(step: ObservedStore.Step) async throws {
    api.store.fail(step, with: .outOfSpace)
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 507)
    #expect(answer.kind == "out-of-space")
    #expect(api.store.ends.discarded == api.store.ends.begun)
    #expect(api.log.lines.contains { $0.contains("outOfSpace") || $0.contains("no room") })
  }

  @Test(arguments: [ObservedStore.Step.begin, .append, .commit])
  func `a failing disk is a 500 that says nothing of it`(step: ObservedStore.Step) async throws {
    let failure = SystemError(operation: "pwrite", path: "/secret/place", code: 5)
    api.store.fail(step, with: .system(failure))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 500)
    let problem = try #require(answer.problem)
    #expect(!"\(problem)".contains("secret"))
    #expect(api.log.lines.contains { $0.hasPrefix("error") && $0.contains("/secret/place") })
    #expect(api.store.ends.discarded == api.store.ends.begun)
  }

  @Test func `a disk that fails while a bundle is read is no fault of the bundle`() async throws {
    api.store.fail(
      .commit, with: .invalid(.system(SystemError(operation: "pread", path: "/secret", code: 5))))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 500)
    #expect(answer.problem?.detail.contains("secret") == false)
  }

  @Test func `no descriptor left is a 503 that says when to try again`() async throws {
    api.store.fail(.begin, with: .system(SystemError(operation: "open", code: 24)))
    let answer = try await api.upload(bundle.bytes)
    #expect(answer.status == 503)
    #expect(answer.fields[.retryAfter] == "5")
  }

  @Test(arguments: [HTTPBodyError.disconnected, .tooSlow, .malformed, .tooLarge(limit: 5)])
  func `an upload whose body breaks off is discarded`(failure: HTTPBodyError) async throws {
    let half = Array(bundle.bytes.prefix(bundle.bytes.count / 2))
    await #expect(throws: failure) {
      try await api.send(
        .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)", [.contentType: "application/zip"],
        body: .pieces(of: half, size: 50) { throw failure })
    }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
  }

  @Test func `an upload whose task is cancelled is discarded`() async throws {
    let (reached, signal) = AsyncStream.makeStream(of: Void.self)
    let half = Array(bundle.bytes.prefix(100))
    let task = Task {
      try await api.send(
        .post, "/v1/reports/BUG-1/snapshots", [.contentType: "application/zip"],
        body: .pieces(of: half) {
          signal.yield()
          // Nothing ever comes out of this one: it ends by cancellation alone.
          for await _ in AsyncStream.makeStream(of: Never.self).stream {}
          try Task.checkCancellation()
        })
    }
    for await _ in reached { break }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }
}
