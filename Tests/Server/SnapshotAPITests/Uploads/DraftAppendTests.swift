import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import Testing

/// Uploads by the IETF draft that are sent in several parts, and the digests of the parts.
@Suite(.everyStore) struct DraftAppendTests: DraftCalls {
  let api = TestAPI()
  let bundle: ZippedSample
  private static let numbers = DraftDialect.all.map(\.number)

  init() throws { bundle = try ZippedSample() }

  // MARK: In parts

  @Test(arguments: numbers) func `a bundle can be sent in parts, and the last response is the usual one`(
    number: Int
  )
    async throws
  {
    let created = try await create(bundle.bytes[..<10], says(false, number))
    #expect(created.status == 201)
    #expect(created.fields[.location] == created.interim.first?.fields[.location])
    #expect(created.fields[.uploadLimit] != nil)
    #expect(created.fields[number < 5 ? .uploadIncomplete : .uploadComplete] == (number < 5 ? "?1" : "?0"))
    let path = try #require(created.fields[.location])
    let more = try await patch(path, at: 10, bundle.bytes[10..<20], says(false, number))
    #expect(more.status == (number < 7 ? 201 : 204))
    #expect(more.fields[.location] == nil)
    for method in [.head, .get] as [HTTPRequest.Method] {
      let head = try await api.send(method, path, [.uploadDraftInteropVersion: "\(number)"])
      #expect(head.status == 204)
      #expect(head.fields[.uploadOffset] == "20")
      #expect(head.fields[number < 5 ? .uploadIncomplete : .uploadComplete] == (number < 5 ? "?1" : "?0"))
      #expect(head.fields[.uploadLength] == nil)
      #expect(head.fields[.uploadLimit] != nil)
      #expect(head.fields[.cacheControl] == "no-store")
    }
    let last = try await patch(path, at: 20, bundle.bytes[20...], says(true, number))
    #expect(last.status == 201)
    #expect(last.fields[.location] == "/v1/snapshots/\(bundle.id)")
    #expect(last.fields[number < 5 ? .uploadIncomplete : .uploadComplete] == (number < 5 ? "?0" : "?1"))
    #expect(try last.decode(JSONValue.self)["sha256"]?.text == "\(bundle.sha256)")
    let head = try await api.send(.head, path, [.uploadDraftInteropVersion: "\(number)"])
    #expect(head.fields[.uploadOffset] == "\(count)")
    #expect(head.fields[.uploadLength] == "\(count)")
    #expect(head.fields[number < 5 ? .uploadIncomplete : .uploadComplete] == (number < 5 ? "?0" : "?1"))
    // A client that did not receive the last response can ask for it.
    let again = try await patch(path, at: count, [], says(true, number))
    #expect(again.status == 201)
    #expect(again.bytes == last.bytes)
  }

  @Test func `bytes received before the connection broke are stored`() async throws {
    let interim = HTTPRequestBody.breaking(bundle.bytes[..<250], declaredLength: Int64(count))
    let path = try await open(0)
    await #expect(throws: (any Error).self) {
      try await api.send(
        .patch, path, with(says(true, 8), [.uploadOffset: "0", .contentType: "application/partial-upload"]),
        body: interim)
    }
    let head = try await api.send(.head, path)
    #expect(head.fields[.uploadOffset] == "250")
    #expect(head.fields[.uploadComplete] == "?0")
    #expect(head.fields[.uploadLength] == "\(count)")
    #expect(try await patch(path, at: 250, bundle.bytes[250...], says(true, 8)).status == 201)
  }

  @Test func `a wrong offset is answered with the right one`() async throws {
    let path = try await open(10)
    for offset in [0, 9, 11, 900_000_000_000_000] {
      let answer = try await patch(path, at: offset, [1], says(false, 8))
      #expect(answer.status == 409)
      #expect(answer.fields[.uploadOffset] == "10")
      #expect(answer.fields[.uploadComplete] == "?0")
      let problem = try #require(answer.problem)
      #expect(problem.type == "https://iana.org/assignments/http-problem-types#mismatching-upload-offset")
      #expect(problem.numbers.map(\.key) == ["expected-offset", "provided-offset"])
      #expect(problem.numbers.map(\.value) == [10, Int64(offset)])
      let json = problem.response(requestID: "x")
      guard case .bytes(let bytes) = json.body else { continue }
      #expect(
        String(decoding: bytes, as: UTF8.self).contains(
          #""expected-offset":10,"provided-offset":\#(offset)}"#))
    }
    #expect(try await api.send(.head, path).fields[.uploadOffset] == "10")
  }

  @Test func `the length is stated once, and stays`() async throws {
    let inconsistent = "inconsistent-upload-length"
    for (fields, isTaken) in [
      ([.uploadLength: "\(count)"], true), ([.uploadLength: "\(count + 1)"], false),
      ([.uploadLength: "1"], false),
      ([.uploadLength: "-1"], true), ([.uploadLength: "x"], true),
    ] as [(HTTPFields, Bool)] {
      let answer = try await create(bundle.bytes, with(says(true, 8), fields), api: TestAPI())
      #expect(answer.status == (isTaken ? 201 : 400), "\(fields)")
      if !isTaken { #expect(answer.kind == "inconsistent-upload-length") }
    }
    let path = try await open(10, 8, [.uploadLength: "\(count)"])
    #expect(try await api.send(.head, path).fields[.uploadLength] == "\(count)")
    #expect(
      try await patch(path, at: 10, [1], with(says(true, 8), [:])).kind.map(String.init) == inconsistent)
    #expect(
      try await patch(path, at: 10, bundle.bytes[10..<20], with(says(false, 8), [.uploadLength: "5"])).kind
        .map(
          String.init) == inconsistent)
    #expect(
      try await patch(path, at: 10, bundle.bytes[10...], with(says(true, 8), [.uploadLength: "\(count)"]))
        .status == 201)
    let exceeding = try await open(0, 8, [.uploadLength: "10"])
    #expect(try await patch(exceeding, at: 0, bundle.bytes[..<11], says(false, 8)).status == 400)
  }

  @Test func `too many bytes are refused from the start, and the limit is reported`() async throws {
    var limits = UploadLimits()
    limits.length = Int64(count)
    let api = TestAPI(uploadLimits: limits)
    let answer = try await create(bundle.bytes + [1], says(true, 8), api: api)
    #expect(answer.status == 413)
    #expect(answer.fields[.uploadLimit].flatMap { UploadLimitField($0) }?.maximumSize == Int64(count))
    #expect(answer.interim.isEmpty)
    #expect(
      try await create([], with(says(false, 8), [.uploadLength: "\(count + 1)"]), api: api).status == 413)
    #expect(try await create(bundle.bytes, says(true, 8), api: api).status == 201)
  }

  @Test func `a complete upload accepts no more bytes`() async throws {
    let path = try await open(10)
    #expect(try await patch(path, at: 10, bundle.bytes[10...], says(true, 8)).status == 201)
    let more = try await patch(path, at: count, [1], says(false, 8))
    #expect(more.status == 400)
    #expect(more.problem?.type == "https://iana.org/assignments/http-problem-types#completed-upload")
    #expect(try await patch(path, at: 0, [1], says(false, 8)).status == 409)
  }

  @Test func `an append request must state its type, offset and completeness`() async throws {
    let path = try await open(10)
    let fields = with(says(false, 8), [.uploadOffset: "10"])
    for type in ["application/zip", "application/offset+octet-stream", ""] {
      let answer = try await api.send(
        .patch, path, with(fields, [.contentType: type]), body: .pieces(of: [1]))
      #expect(answer.status == 415)
      #expect(answer.fields[.acceptPatch] == "application/partial-upload")
    }
    for (number, isNeeded) in [(3, false), (5, false), (6, true), (7, true), (8, true)] {
      let path = try await open(10, number)
      let answer = try await api.send(
        .patch, path, with(says(false, number), [.uploadOffset: "10"]), body: .pieces(of: [1]))
      #expect((answer.status == 415) == isNeeded, "\(number)")
    }
    #expect(try await patch(path, at: 10, [1], [.uploadDraftInteropVersion: "8"]).status == 400)
    for offset in ["", "x", "-10", "10.0", "1e1", "10, 10"] {
      #expect(try await patch(path, at: 0, [1], with(says(false, 8), [.uploadOffset: offset])).status == 400)
    }
    #expect(try await api.send(.head, path).fields[.uploadOffset] == "10")
  }

  @Test(arguments: [3, 5, 6]) func `in old versions, an append without a statement is not the last`(
    number: Int
  ) async throws {
    let (name, unfinished): (HTTPField.Name, String) =
      number < 5 ? (.uploadIncomplete, "?1") : (.uploadComplete, "?0")
    let path = try await open(10, number)
    let version: HTTPFields = [.uploadDraftInteropVersion: "\(number)"]
    let answer = try await patch(path, at: 10, bundle.bytes[10...], version)
    #expect(answer.status == 201)
    #expect(answer.fields[name] == unfinished)
    #expect(answer.fields[.uploadOffset] == "\(count)")
    #expect(try await api.send(.head, path, version).fields[name] == unfinished)
    let last = try await patch(path, at: count, [], says(true, number))
    #expect(last.fields[.location] == "/v1/snapshots/\(bundle.id)")
  }

  @Test(arguments: numbers) func `only the old versions refuse upload fields in requests without bytes`(
    number: Int
  )
    async throws
  {
    let version: HTTPFields = [.uploadDraftInteropVersion: "\(number)"]
    let path = try await open(10, number)
    for method in [.head, .get, .delete] as [HTTPRequest.Method] {
      for field in [
        [.uploadOffset: "10"], [.uploadComplete: "?0"], [.uploadIncomplete: "?1"], [.uploadLength: "20"],
      ] as [HTTPFields] {
        let path = number <= 6 ? path : try await open(10, number)
        let answer = try await api.send(method, path, with(version, field))
        #expect(answer.status == (number <= 6 ? 400 : 204), "\(method) \(field)")
      }
    }
    #expect(try await api.send(.head, path, version).fields[.uploadOffset] == "10")
    #expect(try await api.send(.delete, path, version).status == 204)
  }

  // MARK: Digests

  @Test func `a digest of the whole upload is verified at the end`() async throws {
    let wrong = ZippedSample.digestField([1])
    let answer = try await create(bundle.bytes, with(says(true, 8), [.reprDigest: wrong]))
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    // This is the final outcome: sending the bytes again does not help.
    #expect(answer.fields[.uploadComplete] == "?1")
    let path = try await open(10, 8, [.reprDigest: bundle.digestField])
    #expect(try await patch(path, at: 10, bundle.bytes[10...], says(true, 8)).status == 201)
  }

  @Test func `the request that completes an upload can state the digest of all bytes`() async throws {
    let right: HTTPFields = [.reprDigest: bundle.digestField]
    let wrong: HTTPFields = [.reprDigest: ZippedSample.digestField([1])]
    for (fields, status) in [(right, 201), (wrong, 400)] {
      let path = try await open(10)
      let answer = try await patch(path, at: 10, bundle.bytes[10...], with(says(true, 8), fields))
      #expect(answer.status == status)
      #expect(answer.kind == (status == 400 ? "digest-mismatch" : nil))
      #expect(answer.fields[.uploadComplete] == "?1")
    }
    // In other requests it does not concern all bytes.
    let path = try await open(10)
    #expect(
      try await patch(path, at: 10, bundle.bytes[10..<20], with(says(false, 8), wrong)).status == 204)
    #expect(try await patch(path, at: 20, bundle.bytes[20...], says(true, 8)).status == 200)
  }

  @Test func `an append can't state another digest of all bytes than the creation`() async throws {
    let path = try await open(10, 8, [.reprDigest: bundle.digestField])
    let wrong = with(says(true, 8), [.reprDigest: ZippedSample.digestField([1])])
    let refused = try await patch(path, at: 10, bundle.bytes[10...], wrong)
    #expect((refused.status, refused.kind) == (400, "digest-mismatch"))
    #expect(try await api.send(.head, path).fields[.uploadOffset] == "10")
    let right = with(says(true, 8), [.reprDigest: bundle.digestField])
    #expect(try await patch(path, at: 10, bundle.bytes[10...], right).status == 201)
  }

  @Test func `a digest of one request's bytes is verified before any of them counts`() async throws {
    let path = try await open(10)
    let rest = Array(bundle.bytes[10...])
    let wrong = try await patch(
      path, at: 10, rest, with(says(true, 8), [.contentDigest: ZippedSample.digestField([1])]))
    #expect(wrong.status == 400)
    #expect(wrong.kind == "digest-mismatch")
    #expect(wrong.fields[.uploadComplete] != "?1")
    #expect(try await api.send(.head, path).fields[.uploadOffset] == "10")
    let right = with(says(true, 8), [.contentDigest: ZippedSample.digestField(rest)])
    #expect(try await patch(path, at: 10, rest, right).status == 201)
  }

  @Test func `a digest can follow the bytes as a trailer`() async throws {
    let path = try await open(10)
    let rest = Array(bundle.bytes[10...])
    for (text, status) in [(ZippedSample.digestField([1]), 400), (ZippedSample.digestField(rest), 201)] {
      let fields = with(
        says(true, 8),
        [.uploadOffset: "10", .contentType: "application/partial-upload", .trailer: "Content-Digest"])
      let answer = try await api.send(
        .patch, path, fields, body: .chunked(rest, trailers: [.contentDigest: text]))
      #expect(answer.status == status)
    }
  }
}
