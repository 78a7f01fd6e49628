import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import SystemIO
import TestSupport
import Testing

/// Refused uploads: wrong digests, heads and bundles.
@Suite(.everyStore, .timeLimit(.minutes(5 * Sanitizer.slowness))) struct AttachRefusalTests {
  private let api = TestAPI()
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  // MARK: Digests

  @Test(arguments: [HTTPField.Name.reprDigest, .contentDigest])
  func `a correct digest is verified and stored`(name: HTTPField.Name) async throws {
    let answer = try await api.upload(bundle.bytes, fields: [name: bundle.digestField])
    #expect(answer.status == 201)
    // Only the structure was checked before the response; the digest shows that the transfer was complete.
    #expect(try answer.decode(SnapshotRecord.self).verified == .pending)
  }

  @Test(arguments: [HTTPField.Name.reprDigest, .contentDigest])
  func `a wrong digest is a 400, and nothing is stored`(name: HTTPField.Name) async throws {
    let answer = try await api.upload(
      bundle.bytes, .put, id: bundle.id, fields: [name: ZippedSample.digestField([1, 2, 3])])
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 404)
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
  }

  @Test(arguments: ["sha-256=AAAA", "sha-256=:AAAA:", "sha-256", "("])
  func `a malformed digest is a 400 before the body is read`(value: String) async throws {
    let answer = try await api.upload(bundle.bytes, fields: [.reprDigest: value])
    #expect(answer.status == 400)
    #expect(api.store.ends.begun == 0)
  }

  @Test func `two different digests are a 400 before the body is read`() async throws {
    let answer = try await api.upload(
      bundle.bytes, fields: [.reprDigest: bundle.digestField, .contentDigest: ZippedSample.digestField([])])
    #expect(answer.status == 400)
    #expect(answer.kind == "digest-mismatch")
    #expect(api.store.ends.begun == 0)
  }

  @Test func `digests of other algorithms are ignored`() async throws {
    let answer = try await api.upload(bundle.bytes, fields: [.reprDigest: "sha-512=:AAAA:"])
    #expect(answer.status == 201)
    #expect(try answer.decode(SnapshotRecord.self).verified == .intact)
  }

  // MARK: Refused before the body

  @Test(arguments: [
    "", "text/plain", "application/json", "application/octet-stream", "application/zip/x",
    "multipart/mixed; boundary=x",
    "application/zip; a=b; a=c",
  ])
  func `another media type is a 415 with the accepted types`(type: String) async throws {
    var fields: HTTPFields = [:]
    fields[.contentType] = type
    let answer = try await api.send(
      .post, "/v1/reports/BUG-1/snapshots", fields, body: .pieces(of: bundle.bytes))
    #expect(answer.status == 415)
    #expect(answer.fields[.acceptPost] == "application/zip, multipart/form-data")
    #expect(api.store.ends.begun == 0)
  }

  @Test func `a body without a type is treated as a bundle`() async throws {
    let path = "/v1/reports/BUG-1/snapshots"
    #expect(try await api.send(.post, path, body: .pieces(of: bundle.bytes)).status == 201)
    #expect(try await api.send(.post, path, body: .pieces(of: Array("{}".utf8))).status == 422)
  }

  @Test func `a body with a content coding is a 415`() async throws {
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
  func `a malformed UUID is a 400 with the reason`(id: String) async throws {
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
  func `a malformed report id is a 400 with the reason`(report: String) async throws {
    let answer = try await api.send(
      .post, "/v1/reports/\(report)/snapshots", [.contentType: "application/zip"],
      body: .pieces(of: bundle.bytes))
    #expect(answer.status == 400)
    #expect(answer.kind == "malformed-report-id")
    #expect(answer.problem?.detail.contains("report id") == true)
    #expect(api.store.ends.begun == 0)
  }

  // MARK: Refused bundles

  private func expectRefused(_ bytes: [UInt8], _ hint: String? = nil) async throws {
    let answer = try await api.upload(bytes)
    #expect(answer.status == 422)
    #expect(answer.kind == "invalid-bundle")
    let detail = try #require(answer.problem?.detail)
    if let hint { #expect(detail.contains(hint), "\(detail)") }
    #expect(api.store.ends == .init(begun: 1, committed: 0, discarded: 1))
    #expect(try await api.store.allRecords().isEmpty)
  }

  @Test func `a body that is not a zip is a 422`() async throws {
    try await expectRefused(Array("hello".utf8))
  }

  @Test func `an empty body is a 422`() async throws { try await expectRefused([]) }

  @Test func `a truncated zip is a 422`() async throws {
    try await expectRefused(bundle.bytes.dropLast(30))
  }

  @Test func `a zip with an entry outside of its folder is a 422`() async throws {
    let sample = try ZippedSample(extra: ["attachments/x": "evil"])
    try await expectRefused(sample.replacing("attachments/x", with: "../../../../x"))
  }

  @Test func `a damaged recording without a digest is a 422`() async throws {
    let sample = try ZippedSample("unmistakable")
    try await expectRefused(sample.replacing("unmistakable", with: "unmistakablX"))
  }

  @Test func `a manifest with wrong contents is a 422`() async throws {
    try await expectRefused(ZippedSample { $0.recordings[0].sha256 = .of([]) }.bytes, "feed")
  }

  @Test func `a manifest that lists a missing file is a 422`() async throws {
    try await expectRefused(ZippedSample { $0.recordings[0].path = "recordings/other" }.bytes)
  }

  @Test func `a manifest of a newer format is a 422 that names both versions`() async throws {
    try await expectRefused(ZippedSample { $0.formatVersion = 3 }.bytes, "3")
  }
}
