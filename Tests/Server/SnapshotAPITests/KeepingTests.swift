import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// Calls that change how long snapshots are kept, and calls that show their state.
@Suite(.timeLimit(.minutes(5 * Sanitizer.slowness))) struct KeepingTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var path: String { "/v1/snapshots/\(bundle.id)" }

  init() throws { bundle = try ZippedSample() }

  private func patch(
    _ text: String, _ fields: HTTPFields = [:], path: String? = nil
  ) async throws -> TestAPI.Answer {
    var fields = fields
    if fields[.contentType] == nil { fields[.contentType] = "application/merge-patch+json" }
    return try await api.send(
      .patch, path ?? self.path, fields, body: .pieces(of: Array(text.utf8), size: 3))
  }

  // MARK: Pins and expiry dates

  @Test func `a pin and an expiry date are set and removed`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let steps: [(text: String, isPinned: Bool, end: String?)] = [
      (#"{"pinned":true}"#, true, nil),
      (#"{"expiresAt":"2027-03-01T01:00:00+01:00"}"#, true, "2027-03-01T00:00:00.000Z"),
      ("{}", true, "2027-03-01T00:00:00.000Z"),
      (#"{"pinned":null,"expiresAt":"2027-03-01T00:00:00.5Z"}"#, false, "2027-03-01T00:00:00.500Z"),
      (#"{"pinned":true,"expiresAt":null}"#, true, nil),
      (#"{"pinned":false,"expiresAt":"never"}"#, false, nil),
    ]
    for (text, isPinned, end) in steps {
      let answer = try await patch(text)
      #expect(answer.status == 200)
      let record = try answer.decode(SnapshotRecord.self)
      #expect(record.isPinned == isPinned)
      #expect(record.expiresAt.map(SnapshotJSON.text) == end)
      let fetched = try await api.send(.get, path)
      #expect(fetched.bytes == answer.bytes)
      #expect(fetched.fields[.eTag] == answer.fields[.eTag])
      let listed = try await api.catalog.records(of: nil, page: PageRequest()).records
      #expect(listed == [record])
    }
  }

  @Test func `a snapshot is marked as good, and the mark is removed`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    for (text, isGood) in [
      (#"{"good":true}"#, true), (#"{"pinned":true}"#, true), (#"{"good":null}"#, false),
      (#"{"good":true}"#, true), (#"{"good":false,"pinned":false}"#, false),
    ] {
      let answer = try await patch(text)
      #expect(answer.status == 200)
      let record = try answer.decode(SnapshotRecord.self)
      #expect(record.isGood == isGood)
      #expect(try await api.send(.get, path).bytes == answer.bytes)
      #expect(try await api.catalog.records(of: nil, page: PageRequest()).records == [record])
    }
  }

  @Test func `an expiry date can be a duration from now`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let before = Date()
    let end = try #require(
      try await patch(#"{"expiresAt":"30d"}"#, [.contentType: "application/json; charset=utf-8"])
        .decode(SnapshotRecord.self).expiresAt)
    #expect(end.timeIntervalSince(before) > 30 * 86_400 - 1)
    #expect(end.timeIntervalSince(Date()) < 30 * 86_400 + 1)
  }

  @Test(arguments: [
    ("", "malformed-change"), ("[]", "malformed-change"), ("{", "malformed-change"),
    (#"{"pinned":1}"#, "malformed-change"), (#"{"pinned":"true"}"#, "malformed-change"),
    (#"{"good":1}"#, "malformed-change"),
    (#"{"expiresAt":5}"#, "malformed-change"), (#"{"expiresAt":"soon"}"#, "malformed-end"),
    (#"{"expiresAt":"2027-02-30T00:00:00Z"}"#, "malformed-end"), (#"{"size":1}"#, "malformed-change"),
    (#"{"verified":"intact"}"#, "malformed-change"),
  ])
  func `an invalid change is refused`(text: String, kind: String) async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let before = try await api.send(.get, path).bytes
    let answer = try await patch(text)
    #expect(answer.status == 422)
    #expect(answer.kind.map(String.init) == kind)
    #expect(try await api.send(.get, path).bytes == before)
  }

  @Test func `a change that is too large or of another type is refused`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let answer = try await patch("{}", [.contentType: "application/zip"])
    #expect(answer.status == 415)
    #expect(answer.fields[.acceptPatch] == "application/merge-patch+json")
    let padding = String(repeating: " ", count: 4096 - 15)
    #expect(try await patch(#"{"pinned":true}"# + padding).status == 200)
    await #expect(throws: HTTPBodyError.tooLarge(limit: 4096)) {
      try await patch(#"{"pinned":true}"# + padding + " ")
    }
  }

  @Test func `changes obey conditions`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let tag = try #require(try await api.send(.get, path).fields[.eTag])
    #expect(try await patch(#"{"pinned":true}"#, [.ifMatch: tag]).status == 200)
    let answer = try await patch(#"{"pinned":false}"#, [.ifMatch: tag])
    #expect(answer.status == 412)
    #expect(try await api.send(.get, path).decode(SnapshotRecord.self).isPinned)
  }

  @Test func `unknown and deleted snapshots can't be changed`() async throws {
    #expect(try await patch("{}").kind == "no-such-snapshot")
    #expect(try await patch("{}", path: "/v1/snapshots/x").kind == "malformed-snapshot-id")
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    try await api.send(.delete, path)
    #expect(try await patch("{}").kind == "snapshot-deleted")
  }

  // MARK: Expiry dates in uploads

  @Test func `an upload sets its expiry date in a header field or a form field`() async throws {
    let end = "2027-03-01T00:00:00Z"
    let head = try await api.upload(bundle.bytes, fields: [.snapshotExpires: end])
    #expect(try head.decode(SnapshotRecord.self).expiresAt == Date(timeIntervalSince1970: 1_803_859_200))
    let form = try await api.uploadForm([field("expires", end), field("note", "x"), snapshot])
    let record = try form.decode(SnapshotRecord.self)
    #expect(record.expiresAt == Date(timeIntervalSince1970: 1_803_859_200))
    #expect(record.metadata == ["note": "x"])
    let both = try await api.uploadForm([snapshot, field("expires", end)], [.snapshotExpires: end])
    #expect(try both.decode(SnapshotRecord.self).expiresAt == record.expiresAt)
    for text in ["never", "12h"] {
      let answer = try await api.upload(bundle.bytes, fields: [.snapshotExpires: text])
      #expect(try (answer.decode(SnapshotRecord.self).expiresAt == nil) == (text == "never"))
    }
  }

  @Test func `a malformed expiry date is refused, in the head before the body is read`() async throws {
    let head = try await api.upload(bundle.bytes, fields: [.snapshotExpires: "soon"])
    #expect(head.status == 400 && head.kind == "malformed-end")
    #expect(api.store.ends.begun == 0)
    let form = try await api.uploadForm([snapshot, field("expires", "soon")])
    #expect(form.status == 400 && form.kind == "malformed-end")
    let two = try await api.uploadForm([snapshot, field("expires", "1h")], [.snapshotExpires: "2h"])
    #expect(two.status == 400 && two.kind == "malformed-form")
    #expect(api.store.ends == .init(begun: 2, committed: 0, discarded: 2))
  }

  private var snapshot: (head: String, data: [UInt8]) {
    ("Content-Disposition: form-data; name=\"snapshot\"; filename=\"a.zip\"", bundle.bytes)
  }

  private func field(_ name: String, _ value: String) -> (head: String, data: [UInt8]) {
    ("Content-Disposition: form-data; name=\"\(name)\"", Array(value.utf8))
  }

  // MARK: Space

  @Test func `a full store refuses an upload before its body is read`() async throws {
    api.store.fail(.begin, with: .quotaExceeded(limit: 1000))
    let asked = Lock(false)
    let body = HTTPRequestBody(declaredLength: 500) {
      asked.set(true)
      return nil
    }
    let answer = try await api.send(
      .post, "/v1/reports/B/snapshots", [.contentType: "application/zip"], body: body)
    #expect(answer.status == 507)
    #expect(answer.kind == "quota-exceeded")
    #expect(answer.problem?.detail.contains("1000 bytes") == true)
    let isAsked = asked.value
    #expect(!isAsked)
    #expect(api.store.expectedLengths == [500])
  }

  @Test func `a store that fills up while the body is read refuses the upload`() async throws {
    api.store.fail(.append, with: .quotaExceeded(limit: 1000))
    let answer = try await api.upload(bundle.bytes, isChunked: true)
    #expect(answer.status == 507 && answer.kind == "quota-exceeded")
    #expect(api.store.expectedLengths == [nil])
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test func `the expected length of a form is at most the length of its bundle`() async throws {
    try await api.uploadForm([snapshot])
    let expected = try #require(api.store.expectedLengths.first ?? nil)
    #expect(expected <= Int64(bundle.bytes.count))
  }

  // MARK: Damage

  @Test(arguments: [HTTPRequest.Method.get, .head])
  func `a damaged bundle is not sent, and its record shows the damage`(method: HTTPRequest.Method)
    async throws
  {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    try await api.store.setAside(bundle.id)
    for fields: HTTPFields in [[:], [.range: "bytes=0-10"], [.ifNoneMatch: "\"\(bundle.sha256)\""]] {
      let answer = try await api.send(method, path + ".zip", fields)
      #expect(answer.status == 500)
      #expect(answer.kind == "snapshot-damaged")
      #expect(answer.bytes.isEmpty)
    }
    #expect(try await api.send(.get, path).decode(SnapshotRecord.self).verified == .damaged)
    #expect(try await api.upload(bundle.bytes, .put, id: bundle.id).status == 200)
    #expect(try await api.send(.get, path + ".zip").bytes == bundle.bytes)
    try await api.store.setAside(bundle.id)
    #expect(try await api.send(.delete, path).status == 204)
    #expect(try await api.send(method, path + ".zip").status == 410)
  }

  @Test func `every bundle is verified on request`() async throws {
    let idle = try await api.send(.get, "/v1/scrub").decode(ScrubReport.self)
    #expect(idle == ScrubReport())
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let file = try await api.store.open(bundle.id).file
    try file.write([bundle.bytes[50] ^ 1], at: 50)
    let begun = try await api.send(.post, "/v1/scrub")
    #expect(begun.status == 202)
    #expect(begun.fields[.location] == "/v1/scrub")
    #expect(try begun.decode(ScrubReport.self).startedAt != nil)
    var report = ScrubReport()
    repeat { report = try await api.send(.get, "/v1/scrub").decode(ScrubReport.self) } while report.isRunning
    #expect(report.bundles == 1 && report.damagedSnapshots == [bundle.id])
    #expect(try await api.send(.get, path + ".zip").kind == "snapshot-damaged")
  }

  // MARK: Retention rules

  @Test func `expirations are listed page by page, and performed on request`() async throws {
    struct Plan: Decodable {
      var count: Int
      var bytes: Int64
      var expirations: [Expiration]
      var next: String?
    }
    struct Outcome: Decodable {
      var expirations: [Expiration]
      var remaining: Int
    }
    let api = TestAPI(rules: RetentionRules(.init(countPerReport: 2)))
    for _ in 0..<7 { try await api.upload(bundle.bytes) }
    var told: [Expiration] = []
    var query = "limit=2"
    while true {
      let answer = try await api.send(.get, "/v1/expirations", query: query)
      let plan = try answer.decode(Plan.self)
      #expect(plan.count == 5 && plan.bytes == 5 * Int64(bundle.bytes.count))
      told += plan.expirations
      guard let next = plan.next else {
        #expect(answer.fields[.link] == nil)
        break
      }
      query = "limit=2&cursor=\(PercentCoding.encode(next))"
      #expect(answer.fields[.link] == "</v1/expirations?\(query)>; rel=\"next\"")
    }
    #expect(told.count == 5)
    #expect(told.allSatisfy { $0.rule == .countPerReport })
    #expect(try await api.store.allRecords().count == 7)
    let first = try await api.send(.post, "/v1/expirations", query: "limit=1").decode(Outcome.self)
    #expect(first.expirations == [told[0]] && first.remaining == 4)
    let rest = try await api.send(.post, "/v1/expirations").decode(Outcome.self)
    #expect(rest.expirations == Array(told[1...]) && rest.remaining == 0)
    #expect(try await api.store.allRecords().count == 2)
    #expect(try await api.send(.get, "/v1/snapshots/\(told[0].id)").status == 410)
  }

  @Test func `deleting more than a fifth of all snapshots needs confirmation`() async throws {
    struct Plan: Decodable {
      var count: Int
      var needsConfirmation: Bool
    }
    struct Outcome: Decodable {
      var expirations: [Expiration]
      var remaining: Int
    }
    let api = TestAPI(rules: RetentionRules(.init(countPerReport: 1)))
    for _ in 0..<100 { try await api.upload(bundle.bytes) }
    let below = try await api.send(.get, "/v1/expirations", query: "limit=1").decode(Plan.self)
    #expect(below.count == 99 && !below.needsConfirmation)
    try await api.upload(bundle.bytes)
    let held = try await api.send(.get, "/v1/expirations", query: "limit=1").decode(Plan.self)
    #expect(held.count == 100 && held.needsConfirmation)
    for query in [nil, "limit=1", "confirm=false"] {
      let refused = try await api.send(.post, "/v1/expirations", query: query)
      #expect(refused.status == 409)
      #expect(refused.kind == "confirmation-needed")
      #expect(refused.problem?.detail.contains("100 of 101 snapshots") == true)
    }
    #expect(try await api.send(.post, "/v1/expirations", query: "confirm=yes").status == 400)
    #expect(try await api.store.allRecords().count == 101)
    let first = try await api.send(.post, "/v1/expirations", query: "limit=60&confirm=true")
      .decode(Outcome.self)
    #expect(first.expirations.count == 60 && first.remaining == 40)
    let rest = try await api.send(.post, "/v1/expirations", query: "confirm=true").decode(Outcome.self)
    #expect(rest.expirations.count == 40 && rest.remaining == 0)
    #expect(try await api.store.allRecords().count == 1)
  }

  @Test(arguments: ["limit=0", "limit=1001", "limit=x", "cursor=x", "cursor=2027-03-01T00:00:00Z_x"])
  func `an invalid page is refused`(query: String) async throws {
    #expect(try await api.send(.get, "/v1/expirations", query: query).status == 400)
  }
}
