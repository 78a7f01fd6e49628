import AccessControl
import FileStore
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import ServerTesting
import SnapshotFormat
import SnapshotServer
import SnapshotStore
import StoreTesting
import TestSupport
import Testing

/// The snapshots that each token can see.
@Suite struct VisibilityTests {
  private let guarded: GuardedAPI
  private let bundle: ZippedSample
  private var path: String { "/v1/snapshots/\(bundle.id)" }

  init() throws {
    guarded = try GuardedAPI()
    bundle = try ZippedSample()
  }

  /// Requests about a snapshot get the same responses as for one that never existed.
  private func expectUnseen(
    _ method: HTTPRequest.Method, _ suffix: String, _ fields: HTTPFields, in other: GuardedAPI? = nil
  ) async throws {
    let (guarded, never) = (other ?? guarded, SnapshotID())
    let answer = try await guarded.api.send(method, path + suffix, fields)
    let absent = try await guarded.api.send(method, "/v1/snapshots/\(never)" + suffix, fields)
    #expect(answer.status == 404)
    #expect(absent.status == 404)
    #expect(answer.problem?.detail == absent.problem?.detail)
    #expect(answer.kind == absent.kind)
    #expect(answer.fields == absent.fields)
  }

  @Test func `a caller who attached a snapshot sees its status, and nothing of others' snapshots`()
    async throws
  {
    let (mine, other) = (try guarded.token(.attach), try guarded.token(.attach))
    let created = try await guarded.attach(bundle, mine.fields)
    #expect(created.status == 201)
    #expect(try created.decode(SnapshotRecord.self).attachedBy == mine.id)
    let status = try await guarded.api.send(.get, path, mine.fields)
    #expect(status.status == 200)
    #expect(try status.decode(SnapshotRecord.self).verified == .intact)
    try await expectUnseen(.get, "", other.fields)
    #expect(try await guarded.api.send(.get, path + ".zip", mine.fields).status == 403)
    #expect(try await guarded.api.send(.get, "/v1/snapshots", mine.fields).status == 403)
    #expect(try await guarded.api.send(.delete, path, mine.fields).status == 403)
    #expect(try await guarded.api.send(.post, path + "/links", mine.fields).status == 403)
  }

  @Test func `data sent along with the bundle is hidden from callers who may not read`() async throws {
    let (mine, other, reader) = (
      try guarded.token(.attach), try guarded.token(.attach), try guarded.token(.read)
    )
    let form = TestAPI.form([
      (head: "Content-Disposition: form-data; name=note", data: Array("secret".utf8)),
      (head: "Content-Disposition: form-data; name=snapshot; filename=a.zip", data: bundle.bytes),
    ])
    var fields = mine.fields
    fields[.contentType] = "multipart/form-data; boundary=XX"
    let put = "/v1/reports/BUG-1/snapshots/\(bundle.id)"
    #expect(try await guarded.api.send(.put, put, fields, body: .pieces(of: form)).status == 201)
    #expect(try await !guarded.api.send(.get, path, mine.fields).text.contains("secret"))
    let again = try await guarded.attach(bundle, other.fields)
    #expect(again.status == 200)
    #expect(!again.text.contains("secret"))
    #expect(!again.text.contains(mine.id))
    #expect(try await guarded.api.send(.get, path, reader.fields).text.contains("secret"))
  }

  @Test func `a token limited to some reports has no access to others`() async throws {
    let admin = try guarded.token(.admin)
    let limited = try guarded.token(
      .attach, .read, .delete, limits: CallerLimits(reportPrefixes: ["WEB-", "IOS-"]))
    try await guarded.attach(bundle, admin.fields)
    let own = try ZippedSample("other")
    #expect(try await guarded.attach(own, report: "IOS-1", limited.fields).status == 201)
    let refused = try await guarded.attach(try ZippedSample("third"), report: "BUG-1", limited.fields)
    #expect(refused.status == 403)
    #expect(refused.kind == "outside-limits")
    for suffix in ["", ".zip", "/files", "/files/manifest.json"] {
      try await expectUnseen(.get, suffix, limited.fields)
    }
    try await expectUnseen(.delete, "", limited.fields)
    try await expectUnseen(.post, "/links", limited.fields)
    #expect(try await guarded.api.send(.get, "/v1/snapshots/\(own.id).zip", limited.fields).status == 200)
    let list = try await guarded.api.send(.get, "/v1/snapshots", limited.fields)
    #expect(list.text.contains("\(own.id)"))
    #expect(!list.text.contains("\(bundle.id)"))
    #expect(
      try await guarded.api.send(.get, "/v1/reports/BUG-1/snapshots", limited.fields).status == 403)
    #expect(
      try await guarded.api.send(.get, "/v1/reports/IOS-1/snapshots", limited.fields).status == 200)
  }

  @Test func `a token limited to some applications has no access to others`() async throws {
    let admin = try guarded.token(.admin)
    let limited = try guarded.token(
      .attach, .read, limits: CallerLimits(applications: ["com.example.weather"]))
    try await guarded.attach(bundle, admin.fields)
    try await expectUnseen(.get, ".zip", limited.fields)
    try await expectUnseen(.get, "/files", limited.fields)
    try await expectUnseen(.get, "/files/manifest.json", limited.fields)
    let refused = try await guarded.api.upload(bundle.bytes, fields: limited.fields)
    #expect(refused.status == 403)
    #expect(refused.kind == "outside-limits")
    #expect(guarded.api.store.ends == .init(begun: 2, committed: 1, discarded: 1))
    let weather = try ZippedSample { $0.application.identifier = "com.example.weather" }
    #expect(try await guarded.attach(weather, limited.fields).status == 201)
    #expect(try await guarded.api.send(.get, "/v1/snapshots/\(weather.id).zip", limited.fields).status == 200)
  }

  @Test func `a deleted snapshot is gone, but unknown to callers who could not see it`() async throws {
    let admin = try guarded.token(.admin)
    try await guarded.attach(bundle, admin.fields)
    #expect(try await guarded.api.send(.delete, path, admin.fields).status == 204)
    #expect(try await guarded.api.send(.get, path, admin.fields).status == 410)
    #expect(try await guarded.api.send(.get, path, try guarded.token(.read).fields).status == 410)
    #expect(try await guarded.api.send(.delete, path, try guarded.token(.delete).fields).status == 410)
    try await expectUnseen(.get, "", try guarded.token(.attach).fields)
    let limited = try guarded.token(.read, .delete, limits: CallerLimits(reportPrefixes: ["BUG-"]))
    try await expectUnseen(.get, ".zip", limited.fields)
    try await expectUnseen(.delete, "", limited.fields)
  }

  /// Callers who may not see a snapshot that another caller attached to BUG-1, and the reports to which they attach.
  enum Stranger: CaseIterable, Sendable {
    case ofOtherReports, ofOtherApplications, withoutReading

    var report: String { self == .ofOtherApplications ? "BUG-1" : "IOS-1" }

    func token(_ guarded: GuardedAPI) throws -> HTTPFields {
      switch self {
      case .ofOtherReports:
        try guarded.token(.attach, .read, .delete, limits: .init(reportPrefixes: ["IOS-"])).fields
      case .ofOtherApplications:
        try guarded.token(.attach, .read, .delete, limits: .init(applications: ["com.example.weather"]))
          .fields
      case .withoutReading: try guarded.token(.attach).fields
      }
    }
  }

  /// A store in a folder has at hand what was read recently.
  @Test(arguments: Stranger.allCases)
  func `what another caller has just read remains hidden`(stranger: Stranger) async throws {
    let (folder, catalog) = (try TemporaryFolder(), InMemoryCatalog())
    let store = try await FileBundleStore.open(
      .init(path: folder.path + "/storage", reserve: 0), logger: .quiet)
    let guarded = try GuardedAPI(over: (ServerStorage(store, catalog: catalog), catalog))
    let (admin, token) = (try guarded.token(.admin).fields, try stranger.token(guarded))
    try await guarded.attach(bundle, admin)
    let suffixes = stranger == .withoutReading ? [""] : ["", ".zip"]
    for method in [HTTPRequest.Method.get, .head] {
      for suffix in suffixes {
        for _ in 0..<2 { #expect(try await guarded.api.send(method, path + suffix, admin).status == 200) }
        try await expectUnseen(method, suffix, token, in: guarded)
      }
    }
    await store.close()
  }

  /// The responses to every way to attach under `id`, by the conditions in the request.
  private func attempts(_ id: SnapshotID, _ stranger: Stranger, _ token: HTTPFields) async throws
    -> [TestAPI.Answer]
  {
    let weather = try ZippedSample { $0.application.identifier = "com.example.weather" }
    let conditions: [HTTPFields] = [
      [:], [.ifNoneMatch: "*"], [.ifMatch: "*"], [.ifMatch: "\"\(bundle.sha256)\""], [.ifNoneMatch: "\"x\""],
      [.reprDigest: bundle.digestField],
    ]
    var answers: [TestAPI.Answer] = []
    for condition in conditions {
      var fields = token
      fields.append(contentsOf: condition)
      answers.append(
        try await guarded.api.upload(weather.bytes, .put, report: stranger.report, id: id, fields: fields))
      var draft = fields
      draft[.uploadComplete] = "?0"
      answers.append(try await guarded.api.upload([1], .put, report: stranger.report, id: id, fields: draft))
      fields[.uploadLength] = "10"
      fields[.uploadMetadata] = TestAPI.metadata([("report", stranger.report), ("id", "\(id)")])
      answers.append(try await guarded.api.tus(.post, "/v1/uploads", fields))
    }
    return answers
  }

  @Test(arguments: Stranger.allCases)
  func `a UUID that another caller took gets the same response as a deleted one`(stranger: Stranger)
    async throws
  {
    let (admin, token) = (try guarded.token(.admin), try stranger.token(guarded))
    let deleted = try ZippedSample("deleted")
    for each in [bundle, deleted] { try await guarded.attach(each, admin.fields) }
    try await guarded.api.send(.delete, "/v1/snapshots/\(deleted.id)", admin.fields)
    let (taken, gone) = (
      try await attempts(bundle.id, stranger, token), try await attempts(deleted.id, stranger, token)
    )
    #expect(taken.map(\.status) == taken.indices.map { (3...5).contains($0) ? 412 : 409 })
    #expect(taken.map(\.status) == gone.map(\.status))
    #expect(taken.map(\.kind) == gone.map(\.kind))
    #expect(taken.map(\.problem?.detail) == gone.map(\.problem?.detail))
    #expect(taken.map(\.fields) == gone.map(\.fields))
    if stranger != .withoutReading {
      for id in [bundle.id, deleted.id, SnapshotID()] {
        for (method, suffix) in [(HTTPRequest.Method.patch, ""), (.delete, ""), (.post, "/links")] {
          let answer = try await guarded.api.send(method, "/v1/snapshots/\(id)" + suffix, token)
          #expect(answer.status == 404)
          #expect(answer.kind == "no-such-snapshot")
        }
      }
    }
    let all = try guarded.token(.admin).fields
    #expect(try await guarded.attach(deleted, all).status == 410, "who may read may know")
  }

  @Test(arguments: [false, true], [false, true])
  func `an upload whose UUID is taken meanwhile gets the same response after that is deleted`(
    isDeleted: Bool, isResumed: Bool
  ) async throws {
    let (admin, token) = (try guarded.token(.admin), try Stranger.ofOtherReports.token(guarded))
    let own = try ZippedSample("own") { $0.id = bundle.id }
    let take: @Sendable () async throws -> Void = { [guarded, bundle, path] in
      try await guarded.attach(bundle, admin.fields)
      if isDeleted { try await guarded.api.send(.delete, path, admin.fields) }
    }
    let metadata = [("report", "IOS-1"), ("id", "\(bundle.id)")]
    if isResumed {
      let upload = try await guarded.api.open(own.bytes.count, metadata, token)
      try await take()
      var fields = token
      fields[.uploadOffset] = "0"
      fields[.contentType] = TestAPI.tusType
      let answer = try await guarded.api.tus(.patch, upload, fields, body: .pieces(of: own.bytes))
      #expect(answer.status == 409)
      #expect(answer.kind == "snapshot-differs")
      let again = try await guarded.api.tus(.head, upload, token)
      #expect(again.status == 409)
      #expect(again.problem?.detail == answer.problem?.detail)
    } else {
      var fields = token
      fields[.contentType] = "application/zip"
      let answer = try await guarded.api.send(
        .put, "/v1/reports/IOS-1/snapshots/\(bundle.id)", fields, body: .pieces(of: own.bytes, end: take))
      #expect(answer.status == 409)
      #expect(answer.kind == "snapshot-differs")
    }
  }

  @Test func `an admin limited to some snapshots can't make calls about all of them`() async throws {
    var observation = Observation()
    observation.metricsText = (text: { "metrics" }, contentType: "text/plain")
    let guarded = try GuardedAPI(observation: observation)
    let limited = try guarded.token(.admin, limits: CallerLimits(reportPrefixes: ["BUG-"])).fields
    let admin = try guarded.token(.admin).fields
    for (method, path) in [
      (HTTPRequest.Method.get, "/metrics"), (.get, "/v1/reindex"), (.post, "/v1/reindex"),
      (.get, "/v1/expirations"), (.post, "/v1/expirations"), (.get, "/v1/scrub"), (.post, "/v1/scrub"),
      (.get, "/v1/webhooks"),
    ] {
      let refused = try await guarded.api.send(method, path, limited)
      #expect(refused.status == 403)
      #expect(refused.kind == "caller-limited")
      #expect(try await guarded.api.send(method, path, admin).status / 100 == 2)
    }
  }

  @Test func `an open store does not record who attached a snapshot`() async throws {
    let answer = try await guarded.api.upload(bundle.bytes)
    #expect(!answer.text.contains("attachedBy"))
    #expect(try answer.decode(SnapshotRecord.self).attachedBy == nil)
  }
}
