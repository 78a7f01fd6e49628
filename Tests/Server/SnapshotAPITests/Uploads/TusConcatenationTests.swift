import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotServer
import SnapshotStore
import Testing

/// Uploads by tus that are joined from others.
@Suite(.everyStore) struct TusConcatenationTests {
  private let api = TestAPI()
  private let bundle: ZippedSample
  private var count: Int { bundle.bytes.count }

  init() throws { bundle = try ZippedSample() }

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

  @Test func `an upload is joined from parts, which can be used again`() async throws {
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

  @Test(arguments: [false, true]) func `a joined upload accepts no bytes itself`(isChunked: Bool) async throws
  {
    let part = try await part(bundle.bytes)
    let answer = try await api.tus(
      .post, "/v1/uploads",
      [
        .uploadConcat: "final;\(part)", .uploadMetadata: TestAPI.metadata([("report", "BUG-1")]),
        .contentType: TestAPI.tusType,
      ], body: .pieces(of: [1, 2, 3], isChunked: isChunked))
    #expect((answer.status, answer.kind) == (400, "malformed-concatenation"))
    #expect(await api.store.uploads.uploadSessions().count == 1)
    #expect(try await join([part]).status == 201)
    #expect(try await join([part], [.contentType: TestAPI.tusType]).status == 201)
  }

  @Test func `parts that can't be joined are refused`() async throws {
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
}
