import DataSnapshots
import Foundation
import SnapshotFormat
import SystemIO
import TestSupport
import Testing

/// HTTP exchanges among the recordings.
struct ExchangeRecordingTests {
  private var app: SampleApp

  init() throws { app = try SampleApp() }

  private func record(
    _ mode: SnapshotMode, _ answer: String, at path: String = "/feed", request: String = "",
    fields: [Manifest.Exchange.Field] = [], rules: ExchangeRules = ExchangeRules()
  ) throws {
    let url = try #require(URL(string: "https://example.com" + path))
    let exchange = Manifest.Exchange(
      request: .init(method: request.isEmpty ? "GET" : "POST", url: url.absoluteString, fields: fields),
      response: .init(status: 200), startedAt: SampleApp.time, duration: 5)
    mode.record(
      CompletedExchange(StoredExchange(exchange, requestBody: Data(request.utf8)), body: Data(answer.utf8)),
      url: url, rules)
  }

  private func identifier(
    _ mode: SnapshotMode, _ method: String, _ url: String, _ body: String = "",
    _ rules: ExchangeRules = ExchangeRules()
  ) throws -> String {
    mode.identifier(method: method, url: try #require(URL(string: url)), body: Data(body.utf8), rules)
  }

  @Test func `an exchange that was not in its file when the app crashed is recovered`() async throws {
    let mode = app.launch()
    mode.state = .recording
    try record(mode, "1", at: "/login", request: "name=ann")
    try record(mode, "2", at: "/login", request: "name=ann")
    app.crash()
    let next = app.launch()
    let manifest = try await next.makeSnapshot(of: .previous, to: app.temporary.file("a.zip")).manifest
    #expect(manifest.recordings.map(\.call) == [1, 2])
    #expect(manifest.recordings.allSatisfy { $0.exchange?.request.body?.size == 8 })
    #expect(manifest.recordings.allSatisfy { $0.exchange?.duration == 5 })
  }

  @Test func `a new redaction rule applies to recorded exchanges`() async throws {
    var app = app
    let mode = app.launch()
    mode.state = .recording
    try record(
      mode, #"{"token":"s3cr3t"}"#, at: "/a?token=s3cr3t", request: "password=s3cr3t",
      fields: [.init("Authorization", "Bearer s3cr3t"), .init("Accept", "s3")])
    await mode.flush()
    app.configuration.redaction = .usualSecrets
    let next = app.launch()
    let packed = try await next.makeSnapshot(to: app.temporary.file("a.zip"))
    let recording = try #require(packed.manifest.recordings.first)
    #expect(recording.identifier.hasPrefix("POST https://example.com/a?token=[redacted] #"))
    #expect(recording.exchange?.request.url == "https://example.com/a?token=[redacted]")
    #expect(
      recording.exchange?.request.fields.map(\.value.withUniformPlaceholders) == ["[redacted]", "s3"])
    #expect(recording.exchange?.request.body?.size == Int64("password=[redacted-0F1E2D3C]".utf8.count))
    for name in try app.names(in: "exchanges") {
      #expect(
        !String(
          decoding: try Data(contentsOf: app.storage.appending(path: "exchanges/" + name)), as: UTF8.self
        )
        .contains("s3cr3t"))
    }
  }

  @Test func `the length of a body follows its redaction, and digests of the body are left out`() async throws
  {
    var app = app
    app.configuration.redaction = .usualSecrets
    let mode = app.launch()
    mode.state = .recording
    let fields: [Manifest.Exchange.Field] = [
      .init("Content-Length", "15"), .init("Content-Digest", "sha-256=:AAAA:"), .init("Content-MD5", "AAAA"),
      .init("Location", "https://example.com/?token=s3cr3t"), .init("X-Body", #"{"pin":1}"#),
    ]
    try record(mode, "1", at: "/login", request: "password=s3cr3t", fields: fields)
    try record(mode, "2", at: "/plain", request: "name=1234567890", fields: fields)
    let manifest = try await mode.makeSnapshot(to: app.temporary.file("a.zip")).manifest
    let requests = manifest.recordings.compactMap { $0.exchange?.request }
    let login = try #require(requests.first { $0.url.hasSuffix("/login") })
    #expect(login.body?.size == 28)
    #expect(login.fields.map(\.name) == ["Content-Length", "Location", "X-Body"])
    #expect(
      login.fields.map(\.value.withUniformPlaceholders) == [
        "28", "https://example.com/?token=[redacted]", #"{"pin":0}"#,
      ])
    let plain = try #require(requests.first { $0.url.hasSuffix("/plain") })
    #expect(plain.fields.count == 5 && plain.fields[0].value == "15")
  }

  @Test func `what is noted of a body that can't be redacted has no digest of it`() async throws {
    var app = app
    app.configuration.redaction = .usualSecrets
    let mode = app.launch()
    mode.state = .recording
    try record(mode, "1", at: "/a", request: "\u{0}\u{1}")
    try record(mode, "1", at: "/b", request: String(repeating: "[", count: 1_000))
    try record(mode, "1", at: "/c", request: String(repeating: "[", count: 100_000))
    let manifest = try await mode.makeSnapshot(to: app.temporary.file("a.zip")).manifest
    #expect(manifest.recordings.isEmpty)
    #expect(manifest.dropped.map(\.identifier) == ["a", "b", "c"].map { "POST https://example.com/\($0)" })
    #expect(manifest.dropped.map(\.reason) == [.unknownBinary, .tooDeep, .tooDeep])
    #expect(app.events.kinds == [.redactionFailed, .redactionFailed, .redactionFailed])
  }

  @Test func `a history of exchanges is limited, and its files are removed with it`() async throws {
    var rules = ExchangeRules()
    rules.historyLimit = 2
    let mode = app.launch()
    mode.state = .recording
    for number in 1...4 { try record(mode, "\(number)", rules: rules) }
    await mode.flush()
    #expect(try app.names(in: "exchanges").count == 2)
    #expect(try app.names(in: "recordings") == app.names(in: "exchanges"))
    _ = mode.process("plain", "GET https://example.com/feed")
    await mode.flush()
    #expect(try app.names(in: "exchanges").isEmpty)
    try record(mode, "5", rules: rules)
    try await mode.clear()
    #expect(try app.names(in: "exchanges").isEmpty)
  }

  @Test func `a description that exceeds the limit is not recorded`() async throws {
    let mode = app.launch()
    mode.state = .recording
    let limit = Manifest.Exchange.sizeLimit
    try record(mode, "1", at: "/small", fields: [.init("X", String(repeating: "x", count: limit - 600))])
    try record(mode, "2", at: "/large", fields: [.init("X", String(repeating: "x", count: limit))])
    let manifest = try await mode.makeSnapshot(to: app.temporary.file("a.zip")).manifest
    #expect(manifest.recordings.map(\.identifier) == ["GET https://example.com/small"])
    #expect(manifest.dropped.map(\.reason) == [.tooLarge])
    #expect(app.events.kinds == [.recordingRefused])
  }

  @Test func `older code replays the body of an exchange`() async throws {
    let mode = app.launch()
    mode.state = .recording
    try record(mode, "answer")
    try await mode.activate(bundle: mode.makeSnapshot(to: app.temporary.file("a.zip")).zipForTest(app))
    #expect(mode.process("live", "GET https://example.com/feed") == "answer")
    #expect(app.events.all.isEmpty)
  }

  @Test func `identifiers leave out what differs at every call`() throws {
    var app = app
    app.configuration.redaction = .usualSecrets
    let mode = app.launch()
    #expect(
      try identifier(mode, "get", "https://ann:pw@Example.com:8443/A%20b?b=2&a=1&_=7#part")
        == "GET https://example.com:8443/A%20b?a=1&b=2")
    #expect(try identifier(mode, "GET", "https://example.com") == "GET https://example.com")
    #expect(
      try identifier(mode, "GET", "https://example.com/?token=abc")
        == "GET https://example.com/?token=[redacted]")
    let first = try identifier(mode, "POST", "https://example.com/login", #"{"password":"1","a":1}"#)
    #expect(try identifier(mode, "POST", "https://example.com/login", #"{"password":"2","a":1}"#) == first)
    #expect(try identifier(mode, "POST", "https://example.com/login", #"{"password":"2","a":2}"#) != first)
  }

  @Test(arguments: [
    (#"{"query":"query Feed($a: Int) { feed }"}"#, "Feed"), (#"{"query":"{ feed }"}"#, nil),
    (#"{"operationName":"Feed","query":"query A { a } query Feed { b }"}"#, "Feed"),
    (#"{"operationName":null,"query":"mutation Like { like }"}"#, "Like"), (#"{"query":"find me"}"#, nil),
    (#"{"operationName":"no name!"}"#, nil), (#"{"broken"#, nil), ("query=Feed", nil),
  ])
  func `a GraphQL request has the name of its operation`(body: String, name: String?) throws {
    let identifier = try identifier(app.launch(), "POST", "https://example.com/graphql", body)
    let words = identifier.split(separator: " ")
    #expect(words.count == (name == nil ? 3 : 4))
    if let name { #expect(words[2] == name) }
  }

  @Test func `the nearest exchange is named with what differs`() throws {
    let mode = app.launch()
    mode.state = .recording
    for path in ["/feed?page=1&size=9", "/feed?page=1&size=10", "/users/1", "/other"] {
      try record(mode, "x", at: path)
    }
    mode.state = .replaying
    func reason(_ identifier: String) -> String {
      _ = mode.process("live", identifier)
      return app.events.all.last?.reason ?? ""
    }
    #expect(
      reason("GET https://example.com/feed?page=2&size=10").hasSuffix(
        "differs in the query (page=2 instead of page=1)"))
    #expect(
      reason("GET https://example.com/users/2").hasSuffix(
        "differs in the path (/users/2 instead of /users/1)"))
    #expect(
      reason("GET http://localhost/other").hasSuffix(
        "differs in the host (http://localhost instead of https://example.com)"))
    #expect(reason("GET https://example.com/nothing/like/it") == "nothing is recorded under this identifier")
    #expect(app.events.all[0].nearest.count == 2)
  }
}

extension SnapshotBundle.Packed {
  fileprivate func zipForTest(_ app: SampleApp) -> URL { app.temporary.file("a.zip") }
}
