import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

@Suite(.everyStore) struct FetchTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var path: String { "/v1/snapshots/\(bundle.id)" }

  init() async throws {
    bundle = try ZippedSample()
    try await api.upload(bundle.bytes, .put, id: bundle.id)
  }

  // MARK: The bundle

  @Test(arguments: [HTTPRequest.Method.get, .head]) func `a bundle is a download with its digest`(
    method: HTTPRequest.Method
  ) async throws {
    let answer = try await api.send(method, path + ".zip")
    #expect(answer.status == 200)
    #expect(answer.bytes == bundle.bytes)
    #expect(answer.fields[.contentType] == "application/zip")
    #expect(answer.fields[.contentDisposition] == "attachment; filename=\"\(bundle.id).zip\"")
    #expect(answer.fields[.eTag] == "\"\(bundle.sha256)\"")
    #expect(answer.fields[.reprDigest] == bundle.digestField)
    #expect(answer.fields[.cacheControl] == "private, no-cache")
    #expect(answer.fields[.acceptRanges] == "bytes")
    #expect(answer.fields[.xContentTypeOptions] == "nosniff")
  }

  @Test func `an interrupted download can be resumed`() async throws {
    let tag = "\"\(bundle.sha256)\""
    let rest = try await api.send(.get, path + ".zip", [.range: "bytes=10-", .ifRange: tag])
    #expect(rest.status == 206)
    #expect(rest.bytes == Array(bundle.bytes.dropFirst(10)))
    #expect(rest.fields[.contentRange] == "bytes 10-\(bundle.bytes.count - 1)/\(bundle.bytes.count)")
    #expect(rest.fields[.reprDigest] == bundle.digestField)
    let anew = try await api.send(.get, path + ".zip", [.range: "bytes=10-", .ifRange: "\"other\""])
    #expect(anew.status == 200)
    #expect(anew.bytes == bundle.bytes)
    let several = try await api.send(.get, path + ".zip", [.range: "bytes=0-1,-2"])
    #expect(several.status == 206)
    #expect(several.fields[.contentType]?.hasPrefix("multipart/byteranges; boundary=") == true)
    let beyond = try await api.send(.get, path + ".zip", [.range: "bytes=\(bundle.bytes.count)-"])
    #expect(beyond.status == 416)
    #expect(beyond.fields[.contentRange] == "bytes */\(bundle.bytes.count)")
    #expect(beyond.fields[.xContentTypeOptions] == "nosniff")
  }

  @Test func `a client that has the bundle gets a 304`() async throws {
    let answer = try await api.send(.get, path + ".zip", [.ifNoneMatch: "\"\(bundle.sha256)\""])
    #expect(answer.status == 304)
    #expect(answer.bytes.isEmpty)
    #expect(answer.fields[.eTag] == "\"\(bundle.sha256)\"")
    #expect(answer.fields[.contentDisposition] == nil)
    #expect(try await api.send(.get, path + ".zip", [.ifMatch: "\"other\""]).status == 412)
  }

  @Test func `a bundle has the time of its receipt, which conditions are compared with`() async throws {
    let record = try await api.store.record(bundle.id)
    let received = Int64(record.receivedAt.timeIntervalSince1970)
    for method in [.get, .head] as [HTTPRequest.Method] {
      let answer = try await api.send(method, path + ".zip")
      #expect(answer.fields[.lastModified] == HTTPDate(secondsSince1970: received).description)
      for (seconds, status) in [(received - 1, 200), (received, 304), (received + 1, 304)] {
        let date = HTTPDate(secondsSince1970: seconds).description
        let answer = try await api.send(method, path + ".zip", [.ifModifiedSince: date])
        #expect(answer.status == status)
        #expect(answer.fields[.lastModified] != nil)
      }
    }
    let before = HTTPDate(secondsSince1970: received - 1).description
    #expect(try await api.send(.get, path + ".zip", [.ifUnmodifiedSince: before]).status == 412)
    #expect(try await api.send(.delete, path, [.ifUnmodifiedSince: before]).status == 412)
    // The entity tag takes precedence.
    #expect(
      try await api.send(
        .get, path + ".zip",
        [.ifNoneMatch: "\"x\"", .ifModifiedSince: HTTPDate(secondsSince1970: received).description]
      ).status == 200)
  }

  @Test func `If-None-Match with a star matches any existing content`() async throws {
    for path in [
      path + ".zip", path, path + "/files", "/v1/snapshots", "/v1/reports/BUG-1/snapshots", "/openapi.json",
      "/healthz", "/v1/reindex",
    ] {
      for method in [.get, .head] as [HTTPRequest.Method] {
        let answer = try await api.send(method, path, [.ifNoneMatch: "*"])
        #expect(answer.status == 304, "\(method) \(path)")
        #expect(answer.bytes.isEmpty)
      }
    }
    #expect(try await api.send(.get, "/v1/snapshots/\(SnapshotID())", [.ifNoneMatch: "*"]).status == 404)
  }

  @Test func `a declined digest is left out`() async throws {
    let answer = try await api.send(.get, path + ".zip", [.wantReprDigest: "sha-256=0"])
    #expect(answer.fields[.reprDigest] == nil)
  }

  // MARK: The record

  @Test func `a record has the path of its bundle`() async throws {
    let answer = try await api.send(.get, path)
    #expect(answer.status == 200)
    #expect(answer.fields[.contentType] == "application/json")
    let record = try answer.decode(SnapshotRecord.self)
    #expect(record.id == bundle.id)
    #expect(record.application == bundle.manifest.application)
    #expect(record.recordingCount == 1)
    let place = try answer.decode([String: Ignored].self)["bundle"]
    #expect(place?.text == "\(path).zip")
  }

  @Test func `a record's entity tag changes with the record`() async throws {
    let tag = try #require(try await api.send(.get, path).fields[.eTag])
    #expect(try await api.send(.get, path, [.ifNoneMatch: tag]).status == 304)
    try await api.store.change(RecordChange(verified: .damaged), of: bundle.id)
    #expect(try await api.send(.get, path, [.ifNoneMatch: tag]).status == 200)
  }

  // MARK: Missing snapshots

  @Test(arguments: [".zip", ""]) func `an unknown snapshot is a 404`(suffix: String) async throws {
    for method in [HTTPRequest.Method.get, .head] {
      let answer = try await api.send(method, "/v1/snapshots/\(SnapshotID())\(suffix)")
      #expect(answer.status == 404)
      #expect(answer.kind == "no-such-snapshot")
    }
  }

  @Test(arguments: [
    "x", "x.zip", "..%2F..%2Fetc%2Fpasswd", "%2e%2e%2f.zip", "00000000-0000-0000-0000-00000000000",
  ])
  func `a malformed UUID is a 400`(id: String) async throws {
    #expect(try await api.send(.get, "/v1/snapshots/\(id)").status == 400)
  }

  @Test func `a bundle that vanished from the disk is a 503 that discloses nothing about it`() async throws {
    api.store.fail(.open, with: .system(SystemError(operation: "open", path: "/secret/place", code: 5)))
    let answer = try await api.send(.get, path + ".zip")
    #expect(answer.status == 503)
    #expect(answer.problem?.detail.contains("secret") == false)
    #expect(api.log.lines.contains { $0.contains("/secret/place") })
  }

  // MARK: Deletion

  @Test func `a deleted snapshot is gone everywhere`() async throws {
    let answer = try await api.send(.delete, path)
    #expect(answer.status == 204)
    #expect(answer.bytes.isEmpty)
    #expect(try await api.send(.get, path).status == 410)
    #expect(try await api.send(.get, path + ".zip").status == 410)
    #expect(try await api.send(.head, path + ".zip").status == 410)
    #expect(try await api.send(.delete, path).status == 410)
    let list = try await api.send(.get, "/v1/reports/BUG-1/snapshots")
    #expect(list.text == #"{"snapshots":[]}"#)
  }

  @Test func `deletion obeys conditions`() async throws {
    #expect(try await api.send(.delete, path, [.ifMatch: "\"other\""]).status == 412)
    #expect(try await api.send(.get, path).status == 200)
    #expect(try await api.send(.delete, path, [.ifMatch: "\"\(bundle.sha256)\""]).status == 204)
    #expect(try await api.send(.delete, "/v1/snapshots/\(SnapshotID())").status == 404)
  }
}

/// Any JSON value, as text if it is a string.
private struct Ignored: Decodable {
  var text: String?

  init(from decoder: any Decoder) throws {
    do { text = try decoder.singleValueContainer().decode(String.self) } catch { text = nil }
  }
}
