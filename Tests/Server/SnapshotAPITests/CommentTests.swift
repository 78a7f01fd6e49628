import AccessControl
import Foundation
import HTTPEngine
import HTTPTypes
import ServerTesting
import SnapshotFormat
import SnapshotStore
import Testing

/// Comments on snapshots, written with the API.
@Suite struct CommentTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private var path: String { "/v1/snapshots/\(bundle.id)" }

  init() async throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
    try await guarded.attach(bundle, guarded.token(.admin).fields)
  }

  private struct Body: Encodable {
    let text: String
  }

  private func comment(_ text: String, _ token: HTTPFields) async throws -> TestAPI.Answer {
    var fields = token
    fields[.contentType] = "application/json"
    let body = Array(try SnapshotJSON.encode(Body(text: text)))
    return try await guarded.api.send(.post, "\(path)/comments", fields, body: .pieces(of: body))
  }

  @Test func `a comment is added to the record, with its author, and is not in lists`() async throws {
    let writer = try guarded.token(.comment)
    let answer = try await comment(" Seen it\n", writer.fields)
    #expect(answer.status == 201)
    let written = try answer.decode(SnapshotComment.self)
    #expect(written.text == "Seen it")
    #expect(written.author == writer.id && written.token == writer.id)
    let reader = try guarded.token(.read).fields
    let record = try await guarded.api.send(.get, path, reader).decode(SnapshotRecord.self)
    #expect(record.comments == [written])
    #expect(try await !guarded.api.send(.get, "/v1/snapshots", reader).text.contains("Seen it"))
    // The token that attached the snapshot can only see its status.
    let own = try guarded.token(.attach)
    let other = try ZippedSample("{\"other\":1}")
    try await guarded.attach(other, own.fields)
    try await guarded.api.store.change(.init(comment: written), of: other.id)
    let status = try await guarded.api.send(.get, "/v1/snapshots/\(other.id)", own.fields)
    #expect(status.status == 200 && !status.text.contains("Seen it"))
  }

  @Test func `a comment that is sent again is stored once`() async throws {
    let token = try guarded.token(.delete).fields
    let first = try await comment("Again", token).decode(SnapshotComment.self)
    #expect(try await comment("Again", token).decode(SnapshotComment.self) == first)
    #expect(try await guarded.api.store.record(bundle.id).comments == [first])
  }

  @Test(arguments: [(4095, 201), (4096, 201), (4097, 422), (30_000, 413)])
  func `a comment has a limited length`(length: Int, status: Int) async throws {
    let token = try guarded.token(.comment).fields
    #expect(try await comment(String(repeating: "x", count: length), token).status == status)
    #expect(try await comment(String(repeating: "\u{1}", count: min(length, 4096)), token).status == 201)
  }

  @Test func `a snapshot has a limited number of comments`() async throws {
    let token = try guarded.token(.comment).fields
    for number in 1...100 { #expect(try await comment("\(number)", token).status == 201) }
    let refused = try await comment("101", token)
    #expect(refused.status == 422)
    #expect(refused.kind == "malformed-change")
    #expect(refused.problem?.detail.contains("100") == true)
    #expect(try await guarded.api.store.record(bundle.id).comments?.count == 100)
  }

  @Test(arguments: [
    "", "{}", "[]", #"{"text":1}"#, #"{"text":""}"#, #"{"text":" "}"#, #"{"text":"a\u0000"}"#,
  ])
  func `a body without a text is refused`(body: String) async throws {
    var fields = try guarded.token(.comment).fields
    fields[.contentType] = "application/json"
    let answer = try await guarded.api.send(
      .post, "\(path)/comments", fields, body: .pieces(of: Array(body.utf8)))
    #expect(answer.status == 422)
    fields[.contentType] = "text/plain"
    let plain = try await guarded.api.send(
      .post, "\(path)/comments", fields, body: .pieces(of: Array(body.utf8)))
    #expect(plain.status == 415)
  }

  @Test func `only tokens that may comment on the snapshot can`() async throws {
    for scope in [Scope.attach, .read] {
      #expect(try await comment("x", guarded.token(scope).fields).status == 403)
    }
    let limited = try guarded.token(.comment, limits: CallerLimits(reportPrefixes: ["WEB-"]))
    #expect(try await comment("x", limited.fields).status == 404)
    #expect(try await guarded.api.store.record(bundle.id).comments == nil)
  }
}
