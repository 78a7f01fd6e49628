import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO

/// The page of a report, with the timeline of its snapshots.
struct ReportPages: Sendable {
  private let pages: PageMaker
  private let service: SnapshotService
  private let limits: ServiceLimits
  /// Whether the pages' script can upload in several requests.
  private let uploadsAreResumable: Bool
  /// The values that are not compared.
  private let filter: ComparisonFilter

  init(
    _ pages: PageMaker, _ service: SnapshotService, limits: ServiceLimits,
    uploadsAreResumable: Bool,
    filter: ComparisonFilter
  ) {
    self.filter = filter
    self.pages = pages
    self.service = service
    self.limits = limits
    self.uploadsAreResumable = uploadsAreResumable
  }

  /// All endpoints.
  var endpoints: [Endpoint] { [.page(.listReport, .get, "/reports/{report}", .read, handler: show)] }

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw HTTPProblem.outsideLimits("reports") }
    let query = try call.query([PageField.cursor, .done].map(\.rawValue))
    let cursor = try query.value(PageField.cursor.rawValue)
    let notice = try query.value(PageField.done.rawValue).flatMap(PageNotice.init)
    var page: ReportPage
    var status = HTTPResponse.Status.ok
    do {
      page = try await self.page(of: report, cursor, call.caller)
      page.recorded = try await recordedChanges(of: page.list.records + (page.before.map { [$0] } ?? []))
    } catch let error as CatalogError where error.isTemporary {
      page = ReportPage(report: report, list: .outage)
      status = .serviceUnavailable
    }
    if cursor == nil, call.caller.mayAttach(to: report) {
      page.upload = ReportPage.Upload(isResumable: uploadsAreResumable)
    }
    page.offersLinks = call.caller.mayMakeLinks(to: report)
    var response = try await pages.render(page, for: call.visitor, status: status, notice: notice)
    if page.upload?.isResumable == true { response.allowRequestsOfScripts() }
    return response
  }

  /// Compares the newest of these snapshots with each other, as many as a page can. Returns none while too many
  /// comparisons wait.
  private func recordedChanges(of records: [SnapshotRecord]) async throws -> [SnapshotID: RecordedChanges] {
    var bytes: Int64 = 0
    let compared = records.prefix(RecordedChanges.mostSnapshots).prefix { record in
      bytes += record.size
      return bytes <= RecordedChanges.mostBytes
    }
    guard compared.count > 1 else { return [:] }
    do {
      return try await ComparisonPages.comparisons.perform(weight: bytes) { [filter] queue in
        var bundles: [StoredBundle?] = []
        for record in compared { bundles.append(try await openIfPossible(record)) }
        let opened = bundles
        return try await queue.perform { () throws(StoreError) in
          try RecordedChanges.between(opened, filter: filter)
        }
      }
    } catch let problem as HTTPProblem where ProblemKind(problem) == .busy {
      return [:]
    }
  }

  /// Opens a bundle; `nil` if it is damaged, sealed, or was deleted meanwhile.
  private func openIfPossible(_ record: SnapshotRecord) async throws(StoreError) -> StoredBundle? {
    guard record.verified != .damaged, record.sealed == nil else { return nil }
    do {
      return try await service.open(record.id)
    } catch {
      switch error {
      case .damaged, .deleted, .notFound, .unavailable: return nil
      default: throw error
      }
    }
  }

  /// Returns the page of `report` that starts at `cursor`.
  private func page(of report: ReportID, _ cursor: String?, _ caller: Caller) async throws -> ReportPage {
    let length = min(ReportPage.pageLength, limits.pageLength)
    let parameters = "limit=\(length)" + (cursor.map { "&cursor=\(PercentCoding.encode($0))" } ?? "")
    let request = try ListRequest(QueryParameters(parameters), report: report, limits: limits)
    var query = request.query
    query.scope = CatalogQuery.Scope(caller.limits)
    let found = try await service.page(query, request.page)
    var before: SnapshotRecord?
    if let next = found.next {
      before = try await service.page(query, PageRequest(limit: 1, cursor: next)).filtered(caller.mayRead)
        .records.first
    }
    var records: [SnapshotRecord] = []
    for record in found.filtered(caller.mayRead).records { records.append(await service.complete(record)) }
    if let oldest = before { before = await service.complete(oldest) }
    return ReportPage(
      report: report,
      list: SnapshotList(records, next: found.next?.description, isContinued: cursor != nil), before: before)
  }
}

extension SnapshotService {
  /// Returns the record of the store, which contains what lists omit. If it can't be read, for example because it was
  /// just deleted, returns `listed`, the record of the catalogue.
  func complete(_ listed: SnapshotRecord) async -> SnapshotRecord {
    do { return try await record(listed.id) } catch { return listed }
  }

  /// The maximum number of later snapshots of the same report among which the next one is searched.
  private static var neighbourSearch: Int { 200 }

  /// Returns the snapshots of the same report directly before and after `record` that `caller` may read. Without the
  /// catalogue, returns none.
  func neighbours(of record: SnapshotRecord, for caller: Caller) async throws(CatalogError) -> Neighbours {
    var query = CatalogQuery(report: record.report)
    query.scope = CatalogQuery.Scope(caller.limits)
    var neighbours = Neighbours()
    do {
      let earlier = try await page(query, PageRequest(limit: 1, cursor: Cursor(after: record)))
      neighbours.older = earlier.filtered(caller.mayRead).records.first
      query.after = record.receivedAt
      let later = try await page(query, PageRequest(limit: Self.neighbourSearch))
      // If there are more, the page has only the newest ones, and not the next one.
      if later.next == nil {
        let position = Cursor(after: record)
        neighbours.newer = later.filtered(caller.mayRead).records.last { Cursor(after: $0) > position }
      }
    } catch .incomplete {
      return Neighbours()
    }
    if let older = neighbours.older { neighbours.older = await complete(older) }
    if let newer = neighbours.newer { neighbours.newer = await complete(newer) }
    return neighbours
  }
}
