import AccessControl
import Dispatch
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SnapshotViewer
import SystemIO

/// The pages that search the contents of snapshots.
struct SearchPages: Sendable {
  private let pages: PageMaker
  private let service: SnapshotService
  private let scanLimits: ContentScan.Limits

  init(_ pages: PageMaker, _ service: SnapshotService, limits: ContentScan.Limits = .default) {
    self.pages = pages
    self.service = service
    scanLimits = limits
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(.searchContents, .get, "/snapshots/{id}/search", .read, handler: searchSnapshot),
      .page(.searchContents, .get, "/reports/{report}/search", .read, handler: searchReport),
      .page(.searchContents, .get, "/search", .read, handler: searchNewest),
    ]
  }

  private func searchSnapshot(_ call: PageCall) async throws -> HTTPServerResponse {
    let bundle = try await service.bundle(for: call.asAPI)
    return try await show(SearchPage(scope: .snapshot(bundle.record.id), find: ""), [bundle.record], call)
  }

  private func searchReport(_ call: PageCall) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw HTTPProblem.outsideLimits("reports") }
    return try await search(.report(report), CatalogQuery(report: report), call)
  }

  private func searchNewest(_ call: PageCall) async throws -> HTTPServerResponse {
    try await search(.newest, CatalogQuery(), call)
  }

  /// Searches the newest snapshots that `query` finds and the visitor may read.
  private func search(
    _ scope: SearchPage.Scope, _ query: CatalogQuery, _ call: PageCall
  ) async throws -> HTTPServerResponse {
    var query = query
    query.scope = CatalogQuery.Scope(call.caller.limits)
    do {
      let found = try await service.page(query, PageRequest(limit: SearchPage.snapshots))
        .filtered(call.caller.mayRead)
      return try await show(SearchPage(scope: scope, find: ""), found.records, call)
    } catch let error as CatalogError where error.isTemporary {
      var page = SearchPage(scope: scope, find: "")
      page.outage = SnapshotList.outage.outage
      return try await pages.render(page, for: call.visitor, status: .serviceUnavailable)
    }
  }

  /// Searches `records` from the position on that the visitor asks for, and shows what was found.
  private func show(
    _ page: SearchPage, _ records: [SnapshotRecord], _ call: PageCall
  ) async throws -> HTTPServerResponse {
    let fields = try call.query([PageField.find.rawValue, PageField.cursor.rawValue])
    var page = page
    page.find = try fields.value(PageField.find.rawValue) ?? ""
    guard !page.find.isEmpty else {
      page.snapshots = records.map { SearchedSnapshot(record: $0) }
      return try await pages.render(page, for: call.visitor)
    }
    let query: ContentQuery
    var rest = records[...]
    var start = 0
    do {
      query = try ContentQuery(page.find)
    } catch {
      page.mistake = error.description
      return try await pages.render(page, for: call.visitor, status: .badRequest)
    }
    if let cursor = try fields.value(PageField.cursor.rawValue) {
      guard let position = SearchPosition(cursor) else {
        throw HTTPProblem.badRequest("‘\(PageField.cursor.rawValue)’ must be one from a page of this search.")
      }
      guard let index = records.firstIndex(where: { $0.id == position.snapshot }) else {
        page.mistake =
          "The snapshot at which the search would go on is no longer among the newest ones. Search again."
        return try await pages.render(page, for: call.visitor, status: .badRequest)
      }
      (rest, start, page.isContinued) = (records[index...], position.file, true)
    }
    return try await show(page, rest, from: start, query, call)
  }

  /// Searches `records` when it is its turn among searches and comparisons, since it keeps a processor busy for a second.
  private func show(
    _ page: SearchPage, _ records: ArraySlice<SnapshotRecord>, from start: Int, _ query: ContentQuery,
    _ call: PageCall
  ) async throws -> HTTPServerResponse {
    let weight = records.reduce(0) { min($0 + $1.size, scanLimits.bytes) }
    let searched = try await ComparisonPages.comparisons.perform(weight: weight) { queue in
      try await search(page, records, from: start, query, on: queue)
    }
    return try await pages.render(searched, for: call.visitor)
  }

  private func search(
    _ page: SearchPage, _ records: ArraySlice<SnapshotRecord>, from start: Int, _ query: ContentQuery,
    on queue: DispatchQueue
  ) async throws -> SearchPage {
    var page = page
    var scan = ContentScan(query, limits: scanLimits)
    for (index, record) in records.enumerated() {
      guard !scan.isOver else {
        page.next = SearchPosition(record.id, file: 0)
        break
      }
      guard record.sealed == nil else {
        var sealed = SearchedSnapshot(record: record)
        sealed.isSealed = true
        page.snapshots.append(sealed)
        continue
      }
      guard let bundle = try await readable(record.id) else {
        var damaged = SearchedSnapshot(record: record)
        damaged.isDamaged = true
        page.snapshots.append(damaged)
        continue
      }
      let (begun, first) = (scan, index == 0 ? start : 0)
      let (after, result, next) = try await queue.perform { () throws(any Error) in
        var scan = begun
        let (result, next) = try scan.search(bundle, from: first)
        return (scan, result, next)
      }
      scan = after
      page.snapshots.append(result)
      if let next {
        page.next = SearchPosition(record.id, file: next)
        break
      }
    }
    return page
  }

  /// Returns the bundle; `nil` if it is damaged, or was deleted meanwhile.
  private func readable(_ id: SnapshotID) async throws(StoreError) -> StoredBundle? {
    do {
      return try await service.open(id)
    } catch {
      switch error {
      case .damaged, .notFound, .deleted: return nil
      default: throw error
      }
    }
  }
}
