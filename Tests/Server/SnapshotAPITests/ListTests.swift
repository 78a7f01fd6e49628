import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Logging
import Observability
import ServerTesting
import SnapshotAPI
import SnapshotFormat
import SnapshotServer
import SnapshotService
import SnapshotStore
import StoreTesting
import SystemIO
import Testing

@Suite(.everyStore) struct ListTests {
  private let api = TestAPI()

  private struct List: Decodable {
    var snapshots: [SnapshotRecord]
    var next: String?
  }

  private func list(
    _ query: String? = nil, report: String = "proj%2F9", of api: TestAPI? = nil
  ) async throws -> (list: List, answer: TestAPI.Answer) {
    let answer = try await (api ?? self.api).send(.get, "/v1/reports/\(report)/snapshots", query: query)
    #expect(answer.status == 200, "\(String(describing: answer.problem))")
    return (try answer.decode(List.self), answer)
  }

  /// Attaches `count` bundles to `proj/9`, and one to another report.
  private func fill(_ count: Int) async throws -> [SnapshotID] {
    let bundle = try ZippedSample()
    try await api.upload(bundle.bytes, report: "other")
    var ids: [SnapshotID] = []
    for _ in 0..<count {
      let answer = try await api.upload(bundle.bytes, report: "proj/9")
      ids.append(try answer.decode(SnapshotRecord.self).id)
    }
    return ids
  }

  @Test func `a report's snapshots are listed page by page, each once`() async throws {
    let ids = try await fill(5)
    var (page, answer) = try await list("limit=2")
    var seen = page.snapshots
    #expect(page.snapshots.count == 2)
    while let next = page.next {
      let link = "</v1/reports/proj%2F9/snapshots?limit=2&cursor=\(next)>; rel=\"next\""
      #expect(answer.fields[.link] == link)
      (page, answer) = try await list("limit=2&cursor=\(next)")
      seen += page.snapshots
    }
    #expect(answer.fields[.link] == nil)
    #expect(seen.count == 5)
    #expect(Set(seen.map(\.id)) == Set(ids))
    #expect(zip(seen, seen.dropFirst()).allSatisfy { $0.receivedAt >= $1.receivedAt })
  }

  @Test func `a page has its content type and records`() async throws {
    _ = try await fill(1)
    let (page, answer) = try await list()
    #expect(page.snapshots.count == 1)
    #expect(answer.fields[.contentType] == "application/json")
    #expect(answer.fields[.cacheControl] == "private, no-cache")
    #expect(answer.text.contains(#""bundle":"/v1/snapshots/\#(page.snapshots[0].id).zip""#))
  }

  @Test func `without a report all snapshots are listed, page by page`() async throws {
    let ids = try await fill(2)
    let first = try await api.send(.get, "/v1/snapshots", query: "limit=2")
    let page = try first.decode(List.self)
    let next = try #require(page.next)
    #expect(first.fields[.link] == "</v1/snapshots?limit=2&cursor=\(next)>; rel=\"next\"")
    let rest = try await api.send(.get, "/v1/snapshots", query: "cursor=\(next)").decode(List.self)
    let seen = (page.snapshots + rest.snapshots).map(\.id)
    #expect(seen.count == 3)
    #expect(Set(seen).isSuperset(of: ids))
  }

  @Test func `an unknown report has an empty list`() async throws {
    let (page, answer) = try await list(report: "nobody")
    #expect(page.snapshots.isEmpty)
    #expect(page.next == nil)
    #expect(answer.fields[.link] == nil)
  }

  @Test func `the length of a page is limited, and has a default`() async throws {
    var limits = ServiceLimits()
    limits.pageLength = 3
    limits.defaultPageLength = 2
    let api = TestAPI(limits: limits)
    let bundle = try ZippedSample()
    for _ in 0..<4 { try await api.upload(bundle.bytes, report: "proj/9") }
    #expect(try await list(of: api).list.snapshots.count == 2)
    #expect(try await list("limit=1", of: api).list.snapshots.count == 1)
    #expect(try await list("limit=3", of: api).list.snapshots.count == 3)
    for query in ["limit=4", "limit=0"] {
      let answer = try await api.send(.get, "/v1/reports/proj%2F9/snapshots", query: query)
      #expect(answer.status == 400)
      #expect(answer.problem?.detail.contains("1 to 3") == true)
    }
  }

  @Test(arguments: [
    "limit=x", "limit=-1", "limit=", "limit=1001", "limit=99999999999999999999", "limit=1&limit=2",
    "cursor=x", "cursor=",
    "cursor=1_2", "cursor=%00", "limit=%", "cursor=1_00000000-0000-0000-0000-000000000000&cursor=2",
  ])
  func `an invalid query is a 400`(query: String) async throws {
    #expect(try await api.send(.get, "/v1/reports/BUG-1/snapshots", query: query).status == 400)
  }

  @Test func `the report id is checked`() async throws {
    #expect(try await api.send(.get, "/v1/reports/%20/snapshots").status == 400)
  }

  @Test func `snapshots that the store has at the start are listed`() async throws {
    let bundle = try ZippedSample()
    try await api.upload(bundle.bytes, .put, id: bundle.id)
    let catalog = InMemoryCatalog()
    let service = SnapshotService(store: api.store, catalog: catalog)
    let report = try ReportID(validating: "BUG-1")
    #expect(try await service.page(CatalogQuery(report: report), PageRequest()).records.isEmpty)
    let indexer = CatalogIndexer(
      store: api.store, catalog: catalog, logger: .init(label: "test") { _ in CapturedLog() })
    try await indexer.update()
    #expect(indexer.progress == .ready)
    #expect(
      try await service.page(CatalogQuery(report: report), PageRequest()).records.map(\.id) == [bundle.id])
  }

  @Test func `the result of verification is listed`() async throws {
    let bundle = try ZippedSample()
    let answer = try await api.upload(
      bundle.bytes, report: "proj/9", fields: [.reprDigest: bundle.digestField])
    var record = try answer.decode(SnapshotRecord.self)
    #expect(try await list().list.snapshots.map(\.verified) == [.pending])
    record.verified = .damaged
    try await api.catalog.insert(record)
    #expect(try await list().list.snapshots.map(\.verified) == [.damaged])
  }

  @Test func `a snapshot that was published but not indexed is listed after it is sent again`() async throws {
    let bundle = try ZippedSample()
    let catalog = FailingCatalog()
    let service = SnapshotService(store: api.store, catalog: catalog)
    let handler = SnapshotHandler(service, logger: .init(label: "test") { _ in CapturedLog() })
    func put() async throws -> Int {
      let request = HTTPServerRequest(
        method: .put, path: "/v1/reports/BUG-1/snapshots/\(bundle.id)",
        headerFields: [.contentType: "application/zip"], body: .pieces(of: bundle.bytes))
      do { return try await handler.respond(to: request).status.code } catch let problem as HTTPProblem {
        return problem.status.code
      }
    }
    catalog.isFailing.set(true)
    #expect(try await put() == 500)
    catalog.isFailing.set(false)
    #expect(try await put() == 200)
    let page = try await service.page(CatalogQuery(report: ReportID(validating: "BUG-1")), PageRequest())
    #expect(page.records.map(\.id) == [bundle.id])
  }

  @Test func `lists are refused while the catalogue does not answer, and snapshots are fetched`() async throws
  {
    let bundle = try ZippedSample()
    _ = try await api.upload(bundle.bytes, report: "BUG-1", fields: [.reprDigest: bundle.digestField])
    let catalog = FailingCatalog()
    let logger = Logger(label: "test") { _ in CapturedLog() }
    let indexer = CatalogIndexer(store: api.store, catalog: catalog, logger: logger)
    try await indexer.update()
    let handler = SnapshotHandler(
      SnapshotService(store: api.store, catalog: catalog, indexer: indexer), logger: logger)
    func get(_ path: String, _ fields: HTTPFields = [:]) async throws -> HTTPServerResponse {
      let request = HTTPServerRequest(method: .get, path: path, headerFields: fields)
      do { return try await handler.respond(to: request) } catch let problem as HTTPProblem {
        #expect(problem.kindName == "catalog-unavailable" && problem.headerFields[.retryAfter] == "5")
        return HTTPServerResponse(status: problem.status)
      }
    }
    #expect(try await get("/readyz").status == .ok)
    catalog.isUnavailable.set(true)
    #expect(try await get("/v1/snapshots").status == .serviceUnavailable)
    #expect(try await get("/v1/reports/BUG-1/snapshots").status == .serviceUnavailable)
    #expect(try await get("/", [.accept: "text/html"]).status == .serviceUnavailable)
    #expect(try await get("/v1/snapshots/\(bundle.id).zip").status == .ok)
    let readiness = try await get("/readyz")
    #expect(readiness.status == .serviceUnavailable)
    guard case .bytes(let body) = readiness.body else { return #expect(Bool(false), "no body") }
    #expect(String(decoding: body, as: UTF8.self).contains("unlisted"))
    catalog.isUnavailable.set(false)
    #expect(try await get("/v1/snapshots").status == .ok)
  }
}
