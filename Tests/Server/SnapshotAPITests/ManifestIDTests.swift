import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import ServerTesting
import SnapshotFormat
import Testing

/// Under which UUID a bundle is stored when the request states none, and how its manifest's UUID finds it.
@Suite(.everyStore) struct ManifestIDTests {
  enum Way: CaseIterable, Sendable { case plain, form, draft, tus }

  private let api = TestAPI()
  private let bundle: ZippedSample

  init() throws { bundle = try ZippedSample() }

  private struct List: Decodable {
    var snapshots: [SnapshotRecord]
  }

  private func found(_ text: String, _ fields: HTTPFields = [:], in api: TestAPI? = nil) async throws
    -> [SnapshotID]
  {
    try await (api ?? self.api).send(.get, "/v1/snapshots", query: "text=\(text)", fields).decode(List.self)
      .snapshots.map(\.id)
  }

  /// Attaches the bundle without a UUID.
  private func attach(_ way: Way, report: String = "BUG-1") async throws -> SnapshotRecord {
    switch way {
    case .plain: return try await created(api.upload(bundle.bytes, report: report))
    case .form:
      return try await created(
        api.uploadForm(
          [(head: "Content-Disposition: form-data; name=snapshot", data: bundle.bytes)], report: report))
    case .draft:
      let fields: HTTPFields = [.uploadDraftInteropVersion: "8", .uploadComplete: "?1"]
      return try await created(api.upload(bundle.bytes, report: report, fields: fields))
    case .tus:
      let path = try await api.open(bundle.bytes.count, [("report", report)])
      try await api.patch(path, at: 0, bundle.bytes[..<100])
      try await api.patch(path, at: 100, bundle.bytes[100...])
      let link = try #require(try await api.tus(.head, path).fields[.link])
      let place = link.drop { $0 != "<" }.dropFirst().prefix { $0 != ">" }
      return try await api.send(.get, String(place)).decode(SnapshotRecord.self)
    }
  }

  private func created(_ answer: TestAPI.Answer) throws -> SnapshotRecord {
    #expect(answer.status == 201)
    let record = try answer.decode(SnapshotRecord.self)
    #expect(answer.fields[.location] == "/v1/snapshots/\(record.id)")
    return record
  }

  @Test(arguments: Way.allCases)
  func `the manifest's UUID is kept when it is free, and else finds the snapshot`(way: Way) async throws {
    let first = try await attach(way)
    #expect(first.id == bundle.id && first.manifestID == nil)
    let second = try await attach(way)
    let third = try await attach(way, report: "BUG-2")
    #expect(Set([first.id, second.id, third.id]).count == 3)
    #expect(second.manifestID == bundle.id && third.manifestID == bundle.id)
    #expect(Set(try await found("\(bundle.id)")) == [first.id, second.id, third.id])
    #expect(try await found("\(second.id)") == [second.id])
    #expect(try await api.send(.delete, "/v1/snapshots/\(bundle.id)").status == 204)
    #expect(Set(try await found("\("\(bundle.id)".prefix(8))")) == [second.id, third.id])
    let last = try await attach(way)
    #expect(last.id != bundle.id && last.manifestID == bundle.id)
    #expect(try await api.send(.get, "/v1/snapshots/\(bundle.id)").status == 410)
  }

  @Test func `requests at once store as many snapshots, one of them under the manifest's UUID`() async throws
  {
    let records = try await withThrowingTaskGroup(of: SnapshotRecord.self) { group in
      for _ in 0..<4 { for way in Way.allCases { group.addTask { try await attach(way) } } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(Set(records.map(\.id)).count == 16)
    #expect(records.filter { $0.id == bundle.id }.count == 1)
    #expect(records.filter { $0.manifestID == bundle.id }.count == 15)
  }

  @Test func `a snapshot that was put under another UUID is found by both`() async throws {
    let id = SnapshotID()
    let record = try await created(api.upload(bundle.bytes, .put, id: id))
    #expect(record.id == id && record.manifestID == bundle.id)
    #expect(try await found("\(id)") == [id])
    #expect(try await found("\(bundle.id)".uppercased()) == [id])
    let browser = PageBrowser(api)
    #expect(try await browser.get("/?text=\(id)").fields[.location] == "/snapshots/\(id)")
    let list = try await browser.get("/?text=\(bundle.id)")
    #expect(list.status == 200)
    #expect(list.text.contains("/snapshots/\(id)"))
    let unknown = SnapshotID()
    #expect(try await browser.get("/?text=\(unknown)").fields[.location] == "/snapshots/\(unknown)")
  }

  @Test func `a token learns nothing of a snapshot that it may not see`() async throws {
    let guarded = try GuardedAPI()
    let owner = try guarded.token(.attach, .read, .delete)
    let limited = try guarded.token(.attach, .read, limits: CallerLimits(reportPrefixes: ["OTHER-"]))
    let deleted = try ZippedSample()
    for hidden in [bundle, deleted] { #expect(try await guarded.attach(hidden, owner.fields).status == 201) }
    #expect(try await guarded.api.send(.delete, "/v1/snapshots/\(deleted.id)", owner.fields).status == 204)
    var shapes: Set<[String]> = []
    for taken in [bundle, deleted] {
      let answer = try await guarded.api.upload(taken.bytes, report: "OTHER-1", fields: limited.fields)
      #expect(answer.status == 201)
      let record = try answer.decode(SnapshotRecord.self)
      #expect(record.manifestID == taken.id)
      #expect(try await found("\(taken.id)", limited.fields, in: guarded.api) == [record.id])
      shapes.insert(answer.fields.map { $0.name.rawName }.sorted())
    }
    #expect(shapes.count == 1)
  }

  @Test func `who sees the status alone is not told the manifest's UUID of what others attached`()
    async throws
  {
    let guarded = try GuardedAPI()
    let (first, second) = (try guarded.token(.attach), try guarded.token(.attach))
    let id = SnapshotID()
    let mine = try await guarded.api.upload(bundle.bytes, .put, id: id, fields: first.fields)
    #expect(try mine.decode(SnapshotRecord.self).manifestID == bundle.id)
    let repeated = try await guarded.api.upload(bundle.bytes, .put, id: id, fields: second.fields)
    #expect(repeated.status == 200)
    #expect(try repeated.decode(SnapshotRecord.self).manifestID == nil)
  }
}
