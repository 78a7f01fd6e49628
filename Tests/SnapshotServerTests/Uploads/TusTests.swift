import Crypto
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import Testing

@testable import SnapshotServer

@Suite struct TusTests {
  private let api = TestAPI()
  private let bundle: SampleBundle
  private var count: Int { bundle.bytes.count }

  init() throws { bundle = try SampleBundle() }

  // MARK: Core

  @Test func `OPTIONS says what is spoken, whatever version is asked for`() async throws {
    for path in ["/v1/uploads", "/v1/uploads/\(UploadID())"] {
      for fields in [[:], [.tusResumable: "0.2.2"]] as [HTTPFields] {
        let answer = try await api.send(.options, path, fields)
        #expect(answer.status == 204)
        #expect(answer.fields[.tusVersion] == "1.0.0")
        #expect(
          answer.fields[.tusExtension]
            == "creation,creation-with-upload,creation-defer-length,expiration,checksum,checksum-trailer,termination,concatenation"
        )
        #expect(answer.fields[.tusMaxSize] == "\(2 << 30)")
        #expect(answer.fields[.tusChecksumAlgorithm] == "sha1,sha256")
      }
    }
  }

  @Test(arguments: [nil, "0.2.2", "1.0.1", "", "1.0.0, 1.0.0"]) func `no other version is spoken`(
    version: String?
  ) async throws {
    let path = try await api.open(count)
    var fields: HTTPFields = [.uploadOffset: "0", .contentType: TestAPI.tusType, .uploadLength: "5"]
    fields[.tusResumable] = version
    for (method, path) in [
      (.post, "/v1/uploads"), (.head, path), (.get, path), (.patch, path), (.delete, path), (.post, path),
    ] as [(HTTPRequest.Method, String)] {
      let answer = try await api.send(method, path, fields, body: .pieces(of: bundle.bytes))
      #expect(answer.status == 412)
      #expect(answer.kind == "tus-version")
      #expect(answer.fields[.tusVersion] == "1.0.0")
      #expect(answer.fields[.tusResumable] == "1.0.0")
    }
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }

  @Test func `a bundle comes in pieces, and is a snapshot then`() async throws {
    let metadata = [
      ("report", "team/BUG 1".replacing(" ", with: "-")), ("id", "\(bundle.id)"), ("filename", "ä.zip"),
    ]
    let path = try await api.open(count, metadata)
    let half = count / 2
    let first = try await api.patch(path, at: 0, bundle.bytes[..<half])
    #expect(first.status == 204)
    #expect(first.fields[.uploadOffset] == "\(half)")
    #expect(first.fields[.tusResumable] == "1.0.0")
    #expect(try #require(first.fields[.uploadExpires].flatMap(HTTPDate.init)).secondsSince1970 > 0)
    let head = try await api.tus(.head, path)
    #expect(head.status == 200)
    #expect(head.fields[.uploadOffset] == "\(half)")
    #expect(head.fields[.uploadLength] == "\(count)")
    #expect(head.fields[.cacheControl] == "no-store")
    #expect(head.fields[.uploadMetadata] == TestAPI.metadata(metadata))
    #expect(head.fields[.uploadDeferLength] == nil)
    #expect(head.fields[.uploadConcat] == nil)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
    let second = try await api.patch(path, at: half, bundle.bytes[half...])
    #expect(second.status == 204)
    #expect(second.fields[.uploadOffset] == "\(count)")
    #expect(second.fields[.link] == "</v1/snapshots/\(bundle.id)>; rel=\"describedby\"")
    let record = try await api.store.record(bundle.id)
    #expect(record.report.description == "team/BUG-1")
    #expect(record.metadata == ["filename": "ä.zip"])
    #expect(record.sha256 == bundle.sha256)
    // Whoever did not hear the end may ask for it.
    let again = try await api.tus(.head, path)
    #expect(again.fields[.uploadOffset] == "\(count)")
    #expect(again.fields[.link] == second.fields[.link])
    #expect(try await api.patch(path, at: count, []).status == 204)
  }

  @Test func `an unknown upload is one whatever is done to it`() async throws {
    for name in ["\(UploadID())", "x", String(repeating: "A", count: 32)] {
      let path = "/v1/uploads/" + name
      for method in [.head, .get, .patch, .delete] as [HTTPRequest.Method] {
        let answer = try await api.tus(
          method, path, [.uploadOffset: "0", .contentType: TestAPI.tusType])
        #expect(answer.status == 404, "\(method)")
        #expect(answer.fields[.uploadOffset] == nil)
        #expect(answer.kind == "no-such-upload")
      }
    }
  }

  @Test func `bytes come under their type, and with their offset`() async throws {
    let path = try await api.open(count)
    #expect(try await api.patch(path, at: 0, [1], [.contentType: "application/zip"]).status == 415)
    #expect(
      try await api.tus(.patch, path, [.uploadOffset: "0"], body: .pieces(of: [1])).kind
        == "unsupported-media-type")
    for offset in [nil, "", "-1", "+0", "0x0", "9223372036854775808", "0, 0"] {
      var fields: HTTPFields = [.contentType: TestAPI.tusType]
      fields[.uploadOffset] = offset
      #expect(
        try await api.tus(.patch, path, fields, body: .pieces(of: [1])).status == 400, "\(offset ?? "-")")
    }
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }

  @Test func `an offset that is not the upload's changes nothing`() async throws {
    let path = try await api.open(count)
    try await api.patch(path, at: 0, bundle.bytes[..<10])
    for offset in [0, 9, 11, count, Int.max] {
      let answer = try await api.patch(path, at: offset, [1])
      #expect(answer.status == 409)
      #expect(
        answer.problem?.type == "https://iana.org/assignments/http-problem-types#mismatching-upload-offset")
      #expect(answer.problem?.numbers.first { $0.key == "expected-offset" }?.value == 10)
    }
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "10")
  }

  @Test func `nothing is kept past the length that was said`() async throws {
    let path = try await api.open(10)
    #expect(try await api.patch(path, at: 0, bundle.bytes[..<11]).status == 413)
    #expect(try await api.patch(path, at: 0, bundle.bytes[..<11], isChunked: true).status == 413)
    let offset = try #require(try await api.tus(.head, path).fields[.uploadOffset].flatMap(Int.init))
    #expect(offset <= 10)
  }

  @Test func `what came before the connection broke is there`() async throws {
    let path = try await api.open(count)
    await #expect(throws: (any Error).self) {
      try await api.tus(
        .patch, path, [.uploadOffset: "0", .contentType: TestAPI.tusType],
        body: .breaking(bundle.bytes[..<250], declaredLength: Int64(count)))
    }
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "250")
    #expect(try await api.patch(path, at: 250, bundle.bytes[250...]).status == 204)
  }

  @Test func `what is no bundle is refused in the end, and whenever somebody asks`() async throws {
    let path = try await api.open(3)
    for _ in 0..<2 {
      let answer = try await api.patch(path, at: 0, [1, 2, 3])
      if answer.status == 409 { break }
      #expect(answer.status == 422)
      #expect(answer.kind == "invalid-bundle")
    }
    let head = try await api.tus(.head, path)
    #expect(head.status == 422)
    #expect(head.fields[.uploadOffset] == nil)
    #expect(try await api.patch(path, at: 3, []).kind == "invalid-bundle")
  }

  // MARK: Creation

  @Test(arguments: ["-1", "x", "", "1.5", "9223372036854775808", "+5"]) func `a length is a number of bytes`(
    length: String
  ) async throws {
    let fields: HTTPFields = [.uploadLength: length, .uploadMetadata: TestAPI.metadata([("report", "B")])]
    #expect(try await api.tus(.post, fields: fields).status == 400)
  }

  @Test func `a length is said now, or later, and not beyond the limit`() async throws {
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

  @Test func `a length that comes later comes once`() async throws {
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

  @Test func `an upload can come with what opens it`() async throws {
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

  @Test func `bytes that open an upload come under their type`() async throws {
    let fields: HTTPFields = [
      .uploadLength: "\(count)", .uploadMetadata: TestAPI.metadata([("report", "B")]),
      .contentType: "application/zip",
    ]
    #expect(try await api.tus(.post, "/v1/uploads", fields, body: .pieces(of: bundle.bytes)).status == 415)
  }

  @Test func `an upload of nothing is complete at once, and no bundle`() async throws {
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
    ] as [(String?, String)]) func `metadata that can't be read is refused`(text: String?, kind: String)
    async throws
  {
    var fields: HTTPFields = [.uploadLength: "5"]
    fields[.uploadMetadata] = text
    let answer = try await api.tus(.post, fields: fields)
    #expect(answer.status == 400)
    #expect(answer.kind.map(String.init) == kind)
  }

  @Test func `metadata has its limits`() async throws {
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
    // All of it together is bounded too.
    let all = (0..<4).map { ("k\($0)", String(repeating: "v", count: self.api.uploadLimits.termsBytes / 4)) }
    let answer = try await self.api.tus(
      .post, fields: [.uploadLength: "5", .uploadMetadata: TestAPI.metadata([("report", "B")] + all)])
    #expect(answer.status == 413)
    #expect(answer.kind == "upload-metadata-too-large")
  }

  @Test func `what is bound to be refused is refused before it comes`() async throws {
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

  @Test func `a digest of all is looked at in the end`() async throws {
    let path = try await api.open(count, [("report", "B"), ("digest", "\(ContentDigest.of([1]))")])
    let answer = try await api.patch(path, at: 0, bundle.bytes)
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
  }

  // MARK: Checksums

  private func sha1(_ bytes: some Collection<UInt8>) -> String {
    "sha1 " + Data(Insecure.SHA1.hash(data: Array(bytes))).base64EncodedString()
  }

  private func sha256(_ bytes: some Collection<UInt8>) -> String {
    "sha256 " + Data(SHA256.hash(data: Array(bytes))).base64EncodedString()
  }

  @Test func `a checksum is looked at before anything counts`() async throws {
    let path = try await api.open(count)
    let piece = Array(bundle.bytes[..<100])
    for wrong in [sha1([1]), sha256([1])] {
      let answer = try await api.patch(path, at: 0, piece, [.uploadChecksum: wrong])
      #expect(answer.status == 460)
      #expect(answer.kind == "checksum-mismatch")
      #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
    }
    #expect(try await api.patch(path, at: 0, piece, [.uploadChecksum: sha1(piece)]).status == 204)
    #expect(
      try await api.patch(
        path, at: 100, bundle.bytes[100...], [.uploadChecksum: sha256(bundle.bytes[100...])]
      )
      .status == 204)
  }

  @Test(arguments: [
    "md5 x", "crc32 AAAA", "sha1", "sha1 ", "sha1 !", "sha1 AAAA", "SHA1 2jmj7l5rSw0yVb/vlWAYkK/YBwk=",
  ])
  func `a checksum that can't be read is refused`(text: String) async throws {
    let path = try await api.open(count)
    #expect(try await api.patch(path, at: 0, [1], [.uploadChecksum: text]).status == 400)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }

  @Test func `a checksum may come behind the body, where the head says so`() async throws {
    let path = try await api.open(count)
    let piece = Array(bundle.bytes[..<100])
    func patch(at offset: Int, _ announced: String, _ trailers: HTTPFields) async throws -> Int {
      try await api.tus(
        .patch, path,
        [.uploadOffset: "\(offset)", .contentType: TestAPI.tusType, .trailer: announced],
        body: .chunked(piece, trailers: trailers)
      ).status
    }
    #expect(try await patch(at: 0, "Upload-Checksum", [.uploadChecksum: sha1([1])]) == 460)
    #expect(try await patch(at: 0, "Upload-Checksum", [:]) == 460)
    #expect(try await patch(at: 0, "Upload-Checksum", [.uploadChecksum: "md5 x"]) == 400)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
    #expect(try await patch(at: 0, "X, upload-checksum", [.uploadChecksum: sha1(piece)]) == 204)
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "100")
  }

  @Test func `a checksum that does not fit what opens an upload leaves it open`() async throws {
    let answer = try await api.tus(
      .post, "/v1/uploads",
      [
        .uploadLength: "\(count)", .contentType: TestAPI.tusType, .uploadChecksum: sha1([1]),
        .uploadMetadata: TestAPI.metadata([("report", "B")]),
      ], body: .pieces(of: bundle.bytes))
    #expect(answer.status == 460)
    let path = try #require(answer.fields[.location])
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "0")
  }

  // MARK: Termination and expiration

  @Test func `an upload can be ended`() async throws {
    let path = try await api.open(count)
    #expect(try await api.tus(.delete, path).status == 204)
    #expect([404, 410].contains(try await api.tus(.head, path).status))
    #expect([404, 410].contains(try await api.patch(path, at: 0, [1]).status))
    #expect([404, 410].contains(try await api.tus(.delete, path).status))
  }

  @Test func `what was published stays when its upload is ended`() async throws {
    let path = try await api.open(count, [("report", "B"), ("id", "\(bundle.id)")])
    try await api.patch(path, at: 0, bundle.bytes)
    #expect(try await api.tus(.delete, path).status == 204)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 200)
  }

  // MARK: Concatenation

  private func part(_ bytes: some Collection<UInt8>) async throws -> String {
    let path = try await api.open(bytes.count, [], [.uploadConcat: "partial"])
    #expect(try await api.patch(path, at: 0, bytes).status == 204)
    return path
  }

  private func join(_ parts: [String], _ more: HTTPFields = [:]) async throws -> TestAPI.Answer {
    var fields = more
    fields[.uploadConcat] = "final;" + parts.joined(separator: " ")
    fields[.uploadMetadata] = TestAPI.metadata([("report", "BUG-1")])
    return try await api.tus(.post, fields: fields)
  }

  @Test func `an upload is joined from parts, which may be used again`() async throws {
    let half = count / 2
    let parts = [try await part(bundle.bytes[..<half]), try await part(bundle.bytes[half...])]
    let first = try await api.tus(.head, parts[0])
    #expect(first.fields[.uploadConcat] == "partial")
    #expect(first.fields[.uploadOffset] == "\(half)")
    #expect(first.fields[.uploadMetadata] == nil || first.fields[.uploadMetadata] == "")
    for parts in [parts, parts.map { "https://snapshots.example" + $0 }] {
      let answer = try await join(parts)
      #expect(answer.status == 201)
      let path = try #require(answer.fields[.location])
      let head = try await api.tus(.head, path)
      #expect(
        head.fields[.uploadConcat] == "final;"
          + parts.map { $0.replacing("https://snapshots.example", with: "") }.joined(separator: " "))
      #expect(head.fields[.uploadOffset] == "\(count)")
      #expect(head.fields[.uploadLength] == "\(count)")
      #expect(head.fields[.link] != nil)
      let patch = try await api.patch(path, at: count, [1])
      #expect([400, 403].contains(patch.status))
    }
  }

  @Test func `what can't be joined is refused`() async throws {
    let done = try await part(bundle.bytes[..<10])
    let open = try await api.open(10, [], [.uploadConcat: "partial"])
    let whole = try await api.open(10)
    for parts in [
      [open], [whole], ["/v1/uploads/\(UploadID())"], [done, "/v1/uploads/x"], ["/elsewhere/\(UploadID())"],
      [],
    ] {
      let answer = try await join(parts)
      #expect(answer.status == 400, "\(parts)")
      #expect(answer.kind == "malformed-concatenation")
    }
    #expect(try await join([done], [.uploadLength: "10"]).status == 400)
    #expect(try await join([done], [.uploadDeferLength: "1"]).status == 400)
    #expect(
      try await api.tus(.post, fields: [.uploadConcat: "whole", .uploadLength: "5"]).kind
        == "malformed-concatenation")
  }

  // MARK: Methods

  @Test func `another method can stand for the one that is meant`() async throws {
    let path = try await api.open(count)
    let patch = try await api.tus(
      .post, path,
      [.xHTTPMethodOverride: "patch", .uploadOffset: "0", .contentType: TestAPI.tusType],
      body: .pieces(of: Array(bundle.bytes[..<10])))
    #expect(patch.status == 204)
    #expect(patch.fields[.uploadOffset] == "10")
    let head = try await api.tus(.post, path, [.xHTTPMethodOverride: "HEAD"])
    #expect(head.status == 200)
    #expect(head.fields[.uploadOffset] == "10")
    // What changes nothing never becomes what does.
    #expect(try await api.tus(.get, path, [.xHTTPMethodOverride: "DELETE"]).status == 400)
    #expect(try await api.tus(.post, path).status == 405)
    #expect(try await api.tus(.post, path, [.xHTTPMethodOverride: "PUT"]).status == 405)
    let bare = try await api.tus(.post, path, [:])
    #expect(bare.status == 405)
    #expect(bare.fields[.allow] == "DELETE, GET, HEAD, OPTIONS, PATCH")
    #expect(try await api.tus(.post, "/v1/uploads", [.xHTTPMethodOverride: "PATCH"]).status == 405)
    #expect(try await api.tus(.post, path, [.xHTTPMethodOverride: "DELETE"]).status == 204)
    #expect([404, 410].contains(try await api.tus(.head, path).status))
  }
}
