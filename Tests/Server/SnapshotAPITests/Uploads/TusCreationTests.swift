import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import Testing

/// The creation of uploads by tus: their length and metadata, and refusals.
@Suite(.everyStore) struct TusCreationTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var count: Int { bundle.bytes.count }

  init() throws { bundle = try ZippedSample() }

  @Test(arguments: ["-1", "x", "", "1.5", "9223372036854775808", "+5"]) func `a length is a number of bytes`(
    length: String
  ) async throws {
    let fields: HTTPFields = [.uploadLength: length, .uploadMetadata: TestAPI.metadata([("report", "B")])]
    #expect(try await api.tus(.post, fields: fields).status == 400)
  }

  @Test func `the length is stated at once or later, and not beyond the limit`() async throws {
    let metadata = TestAPI.metadata([("report", "B")])
    let most = api.uploadLimits.length
    for (fields, status) in [
      ([:], 400), ([.uploadLength: "5", .uploadDeferLength: "1"], 400), ([.uploadDeferLength: "0"], 400),
      ([.uploadDeferLength: "2"], 400), ([.uploadDeferLength: "1"], 201), ([.uploadLength: "\(most)"], 201),
      ([.uploadLength: "\(most + 1)"], 413), ([.uploadLength: "\(Int64.max)"], 413),
    ] as [(HTTPFields, Int)] {
      var fields = fields
      fields[.uploadMetadata] = metadata
      #expect(try await api.tus(.post, fields: fields).status == status, "\(fields)")
    }
  }

  @Test func `a deferred length is stated once`() async throws {
    let path = try await api.open(nil)
    let head = try await api.tus(.head, path)
    #expect(head.fields[.uploadDeferLength] == "1")
    #expect(head.fields[.uploadLength] == nil)
    try await api.patch(path, at: 0, bundle.bytes[..<10])
    #expect(
      try await api.patch(path, at: 10, bundle.bytes[10..<20], [.uploadLength: "\(count)"]).status == 204)
    #expect(try await api.tus(.head, path).fields[.uploadLength] == "\(count)")
    #expect(try await api.patch(path, at: 20, [], [.uploadLength: "\(count + 1)"]).status == 400)
    #expect(try await api.patch(path, at: 20, bundle.bytes[20...]).status == 204)
    #expect(try await api.tus(.head, path).fields[.link] != nil)
    let short = try await api.open(nil)
    try await api.patch(short, at: 0, bundle.bytes[..<10])
    #expect(try await api.patch(short, at: 10, [], [.uploadLength: "9"]).status == 400)
  }

  @Test func `the request that creates an upload can contain its first bytes`() async throws {
    let answer = try await api.tus(
      .post, "/v1/uploads",
      [
        .uploadLength: "\(count)", .contentType: TestAPI.tusType,
        .uploadMetadata: TestAPI.metadata([("report", "BUG-1"), ("id", "\(bundle.id)")]),
      ], body: .pieces(of: bundle.bytes))
    #expect(answer.status == 201)
    #expect(answer.fields[.uploadOffset] == "\(count)")
    #expect(answer.fields[.location]?.hasPrefix("/v1/uploads/") == true)
    #expect(try await api.store.record(bundle.id).sha256 == bundle.sha256)
  }

  @Test func `bytes in the request that creates an upload require their content type`() async throws {
    let fields: HTTPFields = [
      .uploadLength: "\(count)", .uploadMetadata: TestAPI.metadata([("report", "B")]),
      .contentType: "application/zip",
    ]
    #expect(try await api.tus(.post, "/v1/uploads", fields, body: .pieces(of: bundle.bytes)).status == 415)
  }

  @Test func `an upload of length zero is complete immediately, and not a bundle`() async throws {
    let answer = try await api.tus(
      .post, fields: [.uploadLength: "0", .uploadMetadata: TestAPI.metadata([("report", "B")])])
    #expect(answer.status == 422)
    #expect(answer.kind == "invalid-bundle")
  }

  @Test(
    arguments: [
      (nil, "malformed-upload-metadata"), ("", "malformed-upload-metadata"),
      ("id eA==", "malformed-upload-metadata"),
      ("report Qg==,report Qg==", "malformed-upload-metadata"), ("report !!!!", "malformed-upload-metadata"),
      ("report Qg== Qg==", "malformed-upload-metadata"), ("report Qg==,x /w==", "malformed-upload-metadata"),
      ("report Qg==,x AA==", "malformed-upload-metadata"), ("repört Qg==", "malformed-upload-metadata"),
      ("report", "malformed-report-id"), ("report Lg==", "malformed-report-id"),
      ("report Qg==,id eA==", "malformed-snapshot-id"), ("report Qg==,expires eA==", "malformed-end"),
      ("report Qg==,digest eA==", "malformed-upload-metadata"),
    ] as [(String?, String)]) func `malformed metadata is refused`(text: String?, kind: String)
    async throws
  {
    var fields: HTTPFields = [.uploadLength: "5"]
    fields[.uploadMetadata] = text
    let answer = try await api.tus(.post, fields: fields)
    #expect(answer.status == 400)
    #expect(answer.kind.map(String.init) == kind)
  }

  @Test func `metadata has limits`() async throws {
    let limits = ServiceLimits()
    var uploadLimits = UploadLimits()
    uploadLimits.termsBytes = 1 << 20
    let api = TestAPI(uploadLimits: uploadLimits)
    for (more, isTaken) in [(-1, true), (0, false)] {
      let keys = [("report", "B")] + (0..<limits.metadataFields + more).map { ("k\($0)", "v") }
      #expect(
        try await api.tus(.post, fields: [.uploadLength: "5", .uploadMetadata: TestAPI.metadata(keys)]).status
          == (isTaken ? 201 : 413))
    }
    for (more, isTaken) in [(0, true), (1, false)] {
      for pair in [
        (String(repeating: "k", count: limits.metadataNameBytes + more), "v"),
        ("k", String(repeating: "v", count: limits.metadataValueBytes + more)),
      ] {
        let fields: HTTPFields = [
          .uploadLength: "5", .uploadMetadata: TestAPI.metadata([("report", "B"), pair]),
        ]
        #expect(try await api.tus(.post, fields: fields).status == (isTaken ? 201 : 413))
      }
    }
    // The total size is limited too.
    let all = (0..<4).map { ("k\($0)", String(repeating: "v", count: self.api.uploadLimits.termsBytes / 4)) }
    let answer = try await self.api.tus(
      .post, fields: [.uploadLength: "5", .uploadMetadata: TestAPI.metadata([("report", "B")] + all)])
    #expect(answer.status == 413)
    #expect(answer.kind == "upload-metadata-too-large")
  }

  @Test func `an upload that is certain to be refused is refused before its bytes arrive`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let id = ("id", "\(bundle.id)")
    let same = [("report", "BUG-1"), id, ("digest", "\(bundle.sha256)")]
    func status(_ metadata: [(String, String)], _ more: HTTPFields = [:]) async throws -> Int {
      var fields = more
      fields[.uploadLength] = "\(count)"
      fields[.uploadMetadata] = TestAPI.metadata(metadata)
      return try await api.tus(.post, fields: fields).status
    }
    #expect(try await status([("report", "BUG-2"), id]) == 409)
    #expect(try await status([("report", "BUG-1"), id, ("digest", "\(ContentDigest.of([1]))")]) == 409)
    #expect(try await status(same, [.ifNoneMatch: "*"]) == 412)
    #expect(try await status(same) == 201)
    #expect(
      try await status([("report", "BUG-1"), id, ("digest", bundle.digestField)]) == 201)
    try await api.send(.delete, "/v1/snapshots/\(bundle.id)")
    #expect(try await status(same) == 410)
  }

  @Test func `a digest of the whole upload is verified at the end`() async throws {
    let path = try await api.open(count, [("report", "B"), ("digest", "\(ContentDigest.of([1]))")])
    let answer = try await api.patch(path, at: 0, bundle.bytes)
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
  }
}
