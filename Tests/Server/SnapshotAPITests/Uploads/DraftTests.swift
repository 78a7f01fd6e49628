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

/// The IETF draft for resumable uploads, on the endpoints that attach snapshots.
@Suite(.everyStore) struct DraftTests: DraftCalls {
  let api = TestAPI()
  let bundle: ZippedSample
  private static let numbers = DraftDialect.all.map(\.number)

  init() throws { bundle = try ZippedSample() }

  // MARK: In one request

  @Test(arguments: numbers) func `a bundle in one request gets the usual response, after an interim response`(
    number: Int
  ) async throws {
    let answer = try await create(bundle.bytes, says(true, number))
    #expect(answer.status == 201)
    #expect(answer.fields[.location] == "/v1/snapshots/\(bundle.id)")
    #expect(try answer.decode(JSONValue.self)["sha256"]?.text == "\(bundle.sha256)")
    #expect(answer.fields[number < 5 ? .uploadIncomplete : .uploadComplete] == (number < 5 ? "?0" : "?1"))
    let first = try #require(answer.interim.first)
    #expect(first.status == 104)
    #expect(first.fields[.uploadDraftInteropVersion] == "\(number)")
    #expect(first.fields[.location]?.hasPrefix("/v1/uploads/resumable/") == true)
    let limit = try #require(first.fields[.uploadLimit].flatMap { UploadLimitField($0) })
    #expect(limit.maximumSize == api.uploadLimits.length)
    // The expiration is known once the first byte has arrived.
    #expect(limit.maximumAge == nil)
    #expect(
      answer.interim.dropFirst().allSatisfy { $0.fields[.location] == nil && $0.fields[.uploadOffset] != nil }
    )
    let again = try await create(bundle.bytes, says(true, number))
    #expect(again.status == 200)
  }

  @Test(arguments: ["1", "2", "9", "99", "x", "?1", "8.0", "-8", "3, 5"])
  func `an upload with an unknown version is a plain upload`(
    version: String
  ) async throws {
    let answer = try await create(
      bundle.bytes, [.uploadDraftInteropVersion: version, .uploadComplete: "?1", .uploadIncomplete: "?0"])
    #expect(answer.status == 201)
    #expect(answer.interim.isEmpty)
    #expect(answer.fields[.uploadComplete] == nil)
    #expect(api.store.ends.committed == 1)
  }

  @Test(arguments: ["1", "true", "?2", "", "?1, ?1"]) func `a value that is not a boolean counts as absent`(
    text: String
  ) async throws {
    let answer = try await create(bundle.bytes, [.uploadDraftInteropVersion: "8", .uploadComplete: text])
    #expect(answer.status == 201)
    #expect(answer.interim.isEmpty)
    #expect(api.store.ends.committed == 1)
  }

  @Test func `a client that states no version gets no interim response, but can resume`() async throws {
    let answer = try await create(bundle.bytes[..<10], [.uploadComplete: "?0"])
    #expect(answer.status == 201)
    #expect(answer.interim.isEmpty)
    #expect(answer.fields[.uploadComplete] == "?0")
    let path = try #require(answer.fields[.location])
    #expect(try await patch(path, at: 10, bundle.bytes[10...], [.uploadComplete: "?1"]).status == 201)
  }

  @Test func `interim responses can be switched off`() async throws {
    var offer = ResumableUploads.Configuration()
    offer.sendsInterimAnswers = false
    let answer = try await create(bundle.bytes, says(true, 8), api: TestAPI(offer: offer))
    #expect(answer.status == 201)
    #expect(answer.interim.isEmpty)
    #expect(answer.fields[.uploadComplete] == "?1")
  }

  @Test func `a form is a plain upload, and can't be sent in parts`() async throws {
    let part = (head: #"Content-Disposition: form-data; name="snapshot""#, data: bundle.bytes)
    let answer = try await api.uploadForm([part], says(true, 8))
    #expect(answer.status == 201)
    #expect(answer.interim.isEmpty)
    #expect(try await api.uploadForm([part], says(false, 8)).status == 415)
  }

  @Test func `without a UUID the manifest's is used if it is free`() async throws {
    let answer = try await api.upload(bundle.bytes, fields: says(true, 6))
    #expect(answer.status == 201)
    let location = try #require(answer.fields[.location])
    #expect(try await api.send(.get, location).status == 200)
    #expect(location == "/v1/snapshots/\(bundle.id)")
    let again = try await api.upload(bundle.bytes, fields: says(true, 6))
    #expect(again.status == 201)
    #expect(again.fields[.location] != location)
  }

  // MARK: The end

  @Test func `an upload can be cancelled`() async throws {
    let path = try await open(10)
    #expect(try await api.send(.delete, path).status == 204)
    for method in [.head, .get, .delete] as [HTTPRequest.Method] {
      #expect([404, 410].contains(try await api.send(method, path).status))
    }
    #expect([404, 410].contains(try await patch(path, at: 10, [1], says(false, 8)).status))
  }

  @Test func `an upload that is not a bundle is refused as usual, and reported as complete`() async throws {
    let answer = try await create([1, 2, 3], says(true, 8))
    #expect(answer.status == 422)
    #expect(answer.kind == "invalid-bundle")
    #expect(answer.fields[.uploadComplete] == "?1")
  }

  @Test func `an upload whose URL no client received leaves nothing behind`() async throws {
    await #expect(throws: (any Error).self) {
      try await api.send(
        .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)",
        [.contentType: "application/zip", .uploadComplete: "?1"],
        body: .breaking(bundle.bytes[..<100], declaredLength: Int64(count)))
    }
    #expect(await api.store.uploads.uploadSessions().isEmpty)
    await #expect(throws: (any Error).self) {
      try await api.send(
        .put, "/v1/reports/BUG-1/snapshots/\(bundle.id)",
        with(says(true, 8), [.contentType: "application/zip"]),
        body: .breaking(bundle.bytes[..<100], declaredLength: Int64(count)))
    }
    #expect(await api.store.uploads.uploadSessions().map(\.offset) == [100])
  }

  @Test func `an upload that is certain to be refused is refused before its bytes arrive`() async throws {
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let other = HTTPRequestBody(declaredLength: 10) {
      Issue.record("the body is read")
      return nil
    }
    func status(_ path: String, _ fields: HTTPFields) async throws -> Int {
      try await api.send(
        .put, path, with(with(says(true, 8), [.contentType: "application/zip"]), fields), body: other
      ).status
    }
    let path = "/v1/reports/BUG-1/snapshots/\(bundle.id)"
    #expect(try await status("/v1/reports/BUG-2/snapshots/\(bundle.id)", [:]) == 409)
    #expect(try await status(path, [.reprDigest: ZippedSample.digestField([1])]) == 409)
    #expect(try await status(path, [.ifNoneMatch: "*"]) == 412)
    #expect(try await status(path, [.contentType: "text/plain"]) == 415)
    #expect(try await status(path, [.contentEncoding: "gzip"]) == 415)
    #expect(await api.store.uploads.uploadSessions().isEmpty)
  }

  @Test func `OPTIONS reports the limits and the accepted patch type`() async throws {
    for path in [
      "/v1/reports/BUG-1/snapshots", "/v1/reports/BUG-1/snapshots/\(bundle.id)", "/v1/uploads/resumable/x",
    ] {
      let answer = try await api.send(.options, path)
      #expect(answer.status == 204)
      #expect(answer.fields[.uploadLimit] == "max-size=\(api.uploadLimits.length)")
      #expect(answer.fields[.acceptPatch] == "application/partial-upload")
    }
    #expect(try await api.send(.options, "/v1/snapshots").fields[.uploadLimit] == nil)
  }

  @Test func `each of the two protocols accepts its own uploads only`() async throws {
    let path = try await open(10)
    let id = try #require(path.split(separator: "/").last)
    #expect(try await api.tus(.head, "/v1/uploads/\(id)").status == 404)
    let other = try #require(try await api.open(10).split(separator: "/").last)
    #expect(try await api.send(.head, "/v1/uploads/resumable/\(other)").status == 404)
  }
}
