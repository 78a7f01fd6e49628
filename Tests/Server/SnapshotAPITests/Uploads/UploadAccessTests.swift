import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

/// Which callers can continue an upload, and which web origins are allowed.
@Suite struct UploadAccessTests {
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  private func fields(_ fields: HTTPFields, _ more: HTTPFields) -> HTTPFields {
    var all = fields
    for field in more { all[field.name] = field.value }
    return all
  }

  @Test func `an upload is accessible only with the token that created it`() async throws {
    let guarded = try GuardedAPI()
    let (mine, other, admin) = (
      try guarded.token(.attach), try guarded.token(.attach), try guarded.token(.admin)
    )
    let tus = try await guarded.api.tus(
      .post, "/v1/uploads",
      fields(mine.fields, [.uploadLength: "10", .uploadMetadata: TestAPI.metadata([("report", "BUG-1")])]))
    let draft = try await guarded.api.upload(
      Array(bundle.bytes[..<10]), fields: fields(mine.fields, [.uploadComplete: "?0"]))
    for path in [tus, draft].compactMap({ $0.fields[.location] }) {
      for token in [other, admin] {
        for method in [.head, .get, .patch, .delete] as [HTTPRequest.Method] {
          let answer = try await guarded.api.tus(
            method, path,
            fields(
              token.fields,
              [
                .uploadOffset: "0", .uploadComplete: "?0",
                .contentType: path.contains("resumable") ? "application/partial-upload" : TestAPI.tusType,
              ]))
          #expect(answer.status == 404)
          #expect(answer.kind == "no-such-upload")
        }
      }
      #expect(try await guarded.api.tus(.head, path, mine.fields).fields[.uploadOffset] != nil)
      #expect(try await guarded.api.tus(.head, path, [:]).status == 401)
    }
    #expect(await guarded.api.store.uploads.uploadSessions().count == 2)
  }

  @Test func `a limited token creates no uploads for other reports`() async throws {
    let guarded = try GuardedAPI()
    let token = try guarded.token(.attach, limits: CallerLimits(reportPrefixes: ["ok-"]))
    for (report, status) in [("ok-1", 201), ("no-1", 403)] {
      let answer = try await guarded.api.tus(
        .post, "/v1/uploads",
        fields(token.fields, [.uploadLength: "10", .uploadMetadata: TestAPI.metadata([("report", report)])]))
      #expect(answer.status == status)
      let draft = try await guarded.api.upload(
        [1], report: report, fields: fields(token.fields, [.uploadComplete: "?0"]))
      #expect(draft.status == status)
    }
    #expect(try await guarded.api.tus(.post, "/v1/uploads", try guarded.token(.read).fields).status == 403)
  }

  @Test func `a revoked token can't continue its uploads`() async throws {
    let guarded = try GuardedAPI()
    let token = try guarded.token(.attach)
    let opened = try await guarded.api.upload([1], fields: fields(token.fields, [.uploadComplete: "?0"]))
    try guarded.tokens.revoke(token.id)
    let path = try #require(opened.fields[.location])
    #expect(try await guarded.api.send(.head, path, token.fields).status == 401)
  }

  @Test func `an upload that is complete is not published for a token that was revoked`() async throws {
    let guarded = try GuardedAPI()
    let store = guarded.api.store
    let (revoked, valid) = (try guarded.token(.attach), try guarded.token(.attach))
    var uploads: [UploadID] = []
    for token in [revoked, valid] {
      let bytes = try ZippedSample(token.id).bytes
      let attachment = Attachment(report: try ReportID(validating: "BUG-1"), attachedBy: token.id)
      var terms = UploadTerms(.whole(attachment), length: Int64(bytes.count), dialect: "test")
      terms.owner = token.id
      let id = try await store.createUpload(terms).id
      let appending = try await store.beginAppending(
        AppendRequest(offset: 0), bytes: Int64(bytes.count), to: id)
      try await appending.write(IOBuffer(bytes[...]))
      #expect(try await appending.end(.finished).isDue)
      uploads.append(id)
    }
    try guarded.tokens.revoke(revoked.id)
    await guarded.api.application.uploads.publishDue()
    #expect(try await store.uploadSession(uploads[0]).isDue)
    #expect(try await store.allRecords().map(\.attachedBy) == [valid.id])
  }

  @Test func `the number of open uploads is limited`() async throws {
    var limits = UploadLimits()
    limits.openPerOwner = 2
    let api = TestAPI(uploadLimits: limits)
    let first = try await api.open(10)
    _ = try await api.open(10)
    let third = try await api.tus(
      .post, fields: [.uploadLength: "5", .uploadMetadata: TestAPI.metadata([("report", "B")])])
    #expect(third.status == 429)
    #expect(third.kind == "too-many-uploads")
    #expect(third.fields[.retryAfter] != nil)
    try await api.tus(.delete, first)
    _ = try await api.open(10)
  }

  /// Whether a limit is reached in total, by one token, or from one address.
  enum Limit: CaseIterable { case all, token, address }

  @Test(arguments: Limit.allCases) func `a bundle in one request is accepted even at a limit of open uploads`(
    limit: Limit
  ) async throws {
    var limits = UploadLimits()
    switch limit {
    case .all: limits.open = 2
    case .token: limits.openPerOwner = 2
    case .address: limits.openPerAddress = 2
    }
    let api = TestAPI(uploadLimits: limits)
    let interim: HTTPFields = [.uploadDraftInteropVersion: "8"]
    let whole = fields(interim, [.uploadComplete: "?1"])
    // Below the limit a bundle can be resumed, at the limit it can't.
    let first = try await api.open(10)
    let resumable = try ZippedSample()
    let below = try await api.upload(resumable.bytes, .put, id: resumable.id, fields: whole)
    #expect((below.status, below.interim.first?.status) == (201, 104))
    _ = try await api.open(10)
    for id in [bundle.id, nil] {
      let answer = try await api.upload(bundle.bytes, id == nil ? .post : .put, id: id, fields: whole)
      #expect(answer.status == 201)
      #expect(answer.interim.isEmpty)
    }
    #expect(try await api.store.record(bundle.id).sha256 == bundle.sha256)
    let wrong = try await api.upload(
      bundle.bytes, fields: fields(whole, [.reprDigest: ZippedSample.digestField([1])]))
    #expect((wrong.status, wrong.kind) == (400, "digest-mismatch"))
    // An upload in parts, or with a digest as a trailer, has to be stored as a resumable upload.
    for more in [[.uploadComplete: "?0"], [.trailer: "Content-Digest"]] as [HTTPFields] {
      let answer = try await api.upload(bundle.bytes, fields: fields(whole, more), isChunked: true)
      #expect((answer.status, answer.kind) == (429, "too-many-uploads"))
    }
    let third = try await api.tus(
      .post, fields: [.uploadLength: "5", .uploadMetadata: TestAPI.metadata([("report", "B")])])
    #expect(third.status == 429)
    try await api.tus(.delete, first)
    _ = try await api.open(10)
  }

  @Test func `uploads from one address leave room for others`() async throws {
    var limits = UploadLimits()
    limits.openPerAddress = 2
    let api = TestAPI(uploadLimits: limits)
    func open(_ peer: String) async throws -> Int {
      try await api.send(
        .post, "/v1/uploads",
        [
          .tusResumable: "1.0.0", .uploadLength: "10",
          .uploadMetadata: TestAPI.metadata([("report", "BUG-1")]),
        ], peer: peer
      ).status
    }
    for (peer, status) in [
      ("192.0.2.1:1", 201), ("192.0.2.1:2", 201), ("192.0.2.1:3", 429), ("192.0.2.2:1", 201),
      // An IPv6 client is identified by the first 64 bits of its address.
      ("[2001:db8::1]:1", 201), ("[2001:db8::2]:1", 201), ("[2001:db8::3]:1", 429),
      ("[2001:db8:0:1::1]:1", 201),
    ] {
      #expect(try await open(peer) == status, "\(peer)")
    }
  }

  @Test func `an expired upload is gone`() async throws {
    let clock = HandClock()
    var limits = UploadLimits()
    limits.idle = .seconds(60)
    let api = TestAPI(uploadLimits: limits, now: { clock.now })
    // The store dates uploads by the system's clock.
    let before = Int64(Date().timeIntervalSince1970)
    let path = try await api.open(10)
    let after = Int64(Date().timeIntervalSince1970) + 1
    let head = try await api.tus(.head, path)
    let expires = try #require(head.fields[.uploadExpires].flatMap(HTTPDate.init)).secondsSince1970
    #expect((before + 60...after + 60).contains(expires))
    clock.pass(.seconds(Double(expires) + 1 - clock.now.timeIntervalSince1970))
    for method in [.head, .patch, .delete] as [HTTPRequest.Method] {
      let answer = try await api.tus(method, path, [.uploadOffset: "0", .contentType: TestAPI.tusType])
      #expect([404, 410].contains(answer.status))
      #expect(answer.fields[.uploadOffset] == nil)
    }
  }

  // MARK: Pages of other origins

  private let page: HTTPFields = [.origin: "https://bugs.example"]

  @Test func `a page of another origin can upload with a token`() async throws {
    let guarded = try GuardedAPI()
    let token = try guarded.token(.attach)
    for (path, method) in [
      ("/v1/uploads", "POST"), ("/v1/uploads/x", "PATCH"), ("/v1/uploads/resumable/x", "PATCH"),
      ("/v1/reports/BUG-1/snapshots", "POST"), ("/v1/reports/BUG-1/snapshots/\(bundle.id)", "PUT"),
    ] {
      let asked = fields(
        page,
        [
          .accessControlRequestMethod: method,
          .accessControlRequestHeaders: "authorization, tus-resumable, upload-length",
        ])
      let answer = try await guarded.api.send(.options, path, asked)
      #expect(answer.status == 204)
      #expect(answer.fields[.accessControlAllowOrigin] == "*")
      #expect(answer.fields[.accessControlAllowMethods]?.contains(method) == true)
      let names = try #require(answer.fields[.accessControlAllowHeaders]).lowercased()
      for name in ["authorization", "tus-resumable", "upload-length", "upload-complete", "content-type"] {
        #expect(names.contains(name))
      }
      #expect(answer.fields[.accessControlMaxAge] != nil)
    }
    let opened = try await guarded.api.tus(
      .post, "/v1/uploads",
      fields(
        fields(token.fields, page),
        [.uploadLength: "10", .uploadMetadata: TestAPI.metadata([("report", "BUG-1")])]))
    #expect(opened.status == 201)
    for name in ["Location", "Upload-Offset", "Tus-Resumable", "Upload-Expires"] {
      #expect(opened.fields[.accessControlExposeHeaders]?.contains(name) == true)
    }
    // Error responses can be read by the page too.
    for answer in [
      try await guarded.api.tus(.head, "/v1/uploads/x", page),
      try await guarded.api.tus(.head, "/v1/uploads/x", fields(token.fields, page)),
      try await guarded.api.upload([1], fields: fields(token.fields, page)),
    ] {
      #expect(answer.status >= 400)
      #expect(answer.fields[.accessControlAllowOrigin] == "*")
    }
  }

  @Test func `no page of another origin can read lists`() async throws {
    let api = TestAPI()
    for path in ["/v1/snapshots", "/v1/reports/BUG-1/snapshots", "/v1/snapshots/\(bundle.id)"] {
      let answer = try await api.send(.get, path, page)
      #expect(answer.fields[.accessControlAllowOrigin] == nil)
    }
    let asked = fields(page, [.accessControlRequestMethod: "GET"])
    let methods = try await api.send(.options, "/v1/reports/BUG-1/snapshots", asked)
      .fields[.accessControlAllowMethods]
    #expect(methods?.contains("GET") == false)
  }

  @Test func `an open store accepts nothing from pages of other sites`() async throws {
    let guarded = try GuardedAPI()
    let answer = try await guarded.api.tus(
      .post, "/v1/uploads",
      fields(page, [.uploadLength: "10", .uploadMetadata: TestAPI.metadata([("report", "BUG-1")])]))
    #expect(answer.status == 403)
    #expect(answer.kind == "cross-site")
  }

  @Test func `the allowed origins can be configured`() async throws {
    var offer = ResumableUploads.Configuration()
    offer.origins = try #require(AllowedOrigins("https://bugs.example, https://other.example:8443"))
    let api = TestAPI(offer: offer)
    let right = try await api.tus(.head, "/v1/uploads/x", page)
    #expect(right.fields[.accessControlAllowOrigin] == "https://bugs.example")
    #expect(right.fields[.vary] == "Origin")
    let wrong = try await api.tus(.head, "/v1/uploads/x", [.origin: "https://evil.example"])
    #expect(wrong.fields[.accessControlAllowOrigin] == nil)
    #expect(wrong.fields[.vary] == "Origin")
    #expect(AllowedOrigins("*") == .all)
    #expect(AllowedOrigins("") == .some([]))
    for text in ["bugs.example", "https://", "://x", "https://a/b", "*, https://a", "https://a b"]
    where text != "https://a b" {
      #expect(AllowedOrigins(text) == nil, "\(text)")
    }
    #expect(AllowedOrigins(offer.origins.description) == offer.origins)
  }
}
