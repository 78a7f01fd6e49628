import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import Testing

@Suite(.everyStore) struct TusTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var count: Int { bundle.bytes.count }

  init() throws { bundle = try ZippedSample() }

  // MARK: Core

  @Test func `OPTIONS describes the supported protocol, for any requested version`() async throws {
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

  @Test(arguments: [nil, "0.2.2", "1.0.1", "", "1.0.0, 1.0.0"]) func `other versions are refused`(
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

  @Test func `a bundle can be sent in pieces, and is then a snapshot`() async throws {
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
    // A client that did not receive the last response can ask again.
    let again = try await api.tus(.head, path)
    #expect(again.fields[.uploadOffset] == "\(count)")
    #expect(again.fields[.link] == second.fields[.link])
    #expect(try await api.patch(path, at: count, []).status == 204)
  }

  @Test func `every operation on an unknown upload is answered with not found`() async throws {
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

  @Test func `bytes require their content type and offset`() async throws {
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

  @Test func `a wrong offset changes nothing`() async throws {
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

  @Test func `no bytes beyond the stated length are stored`() async throws {
    let path = try await api.open(10)
    #expect(try await api.patch(path, at: 0, bundle.bytes[..<11]).status == 413)
    #expect(try await api.patch(path, at: 0, bundle.bytes[..<11], isChunked: true).status == 413)
    let offset = try #require(try await api.tus(.head, path).fields[.uploadOffset].flatMap(Int.init))
    #expect(offset <= 10)
  }

  @Test func `bytes received before the connection broke are stored`() async throws {
    let path = try await api.open(count)
    await #expect(throws: (any Error).self) {
      try await api.tus(
        .patch, path, [.uploadOffset: "0", .contentType: TestAPI.tusType],
        body: .breaking(bundle.bytes[..<250], declaredLength: Int64(count)))
    }
    #expect(try await api.tus(.head, path).fields[.uploadOffset] == "250")
    #expect(try await api.patch(path, at: 250, bundle.bytes[250...]).status == 204)
  }

  @Test func `an upload that is not a bundle is refused at the end, and whenever its status is requested`()
    async throws
  {
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

  // MARK: Termination and expiration

  @Test func `an upload can be terminated`() async throws {
    let path = try await api.open(count)
    #expect(try await api.tus(.delete, path).status == 204)
    #expect([404, 410].contains(try await api.tus(.head, path).status))
    #expect([404, 410].contains(try await api.patch(path, at: 0, [1]).status))
    #expect([404, 410].contains(try await api.tus(.delete, path).status))
  }

  @Test func `a published bundle remains when its upload is terminated`() async throws {
    let path = try await api.open(count, [("report", "B"), ("id", "\(bundle.id)")])
    try await api.patch(path, at: 0, bundle.bytes)
    #expect(try await api.tus(.delete, path).status == 204)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 200)
  }

  // MARK: Methods

  @Test func `a method can be overridden`() async throws {
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
    // A safe method is never overridden by an unsafe one.
    #expect(try await api.tus(.get, path, [.xHTTPMethodOverride: "DELETE"]).status == 400)
    #expect(try await api.tus(.post, path).status == 405)
    #expect(try await api.tus(.post, path, [.xHTTPMethodOverride: "PUT"]).status == 405)
    for path in [path, "/v1/uploads"] {
      let offer = try await api.tus(.post, path, [.xHTTPMethodOverride: "OPTIONS"])
      let asked = try await api.tus(.options, path)
      #expect(offer.status == 204)
      for name in [HTTPField.Name.allow, .tusVersion, .tusExtension, .tusMaxSize, .tusChecksumAlgorithm] {
        #expect(offer.fields[name] != nil && offer.fields[name] == asked.fields[name], "\(name)")
      }
    }
    let bare = try await api.tus(.post, path, [:])
    #expect(bare.status == 405)
    #expect(bare.fields[.allow] == "DELETE, GET, HEAD, OPTIONS, PATCH")
    #expect(try await api.tus(.post, "/v1/uploads", [.xHTTPMethodOverride: "PATCH"]).status == 405)
    #expect(try await api.tus(.post, path, [.xHTTPMethodOverride: "DELETE"]).status == 204)
    #expect([404, 410].contains(try await api.tus(.head, path).status))
  }
}
