import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotStore
import SystemIO

/// The pages that compare two snapshots.
struct ComparisonPages: Sendable {
  private static let comparisons = ComparisonQueue()

  private let pages: PageMaker
  private let service: SnapshotService
  private let filter: ComparisonFilter

  /// Creates the pages.
  /// - Parameter filter: the values that are not compared unless a visitor enters other rules.
  init(_ pages: PageMaker, _ service: SnapshotService, filter: ComparisonFilter) {
    self.pages = pages
    self.service = service
    self.filter = filter
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [.page(.compareSnapshots, .get, "/snapshots/{id}/diff", .read, handler: show)]
  }

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query([PageField.with.rawValue] + DiffSelection.fields.map(\.rawValue))
    let entered = (try query.value(PageField.with.rawValue) ?? "").filter { !$0.isWhitespace }
    let id = try call.value(of: .id)
    let first = try await service.record(id, visibleTo: call.caller)
    call.asAPI.concerns(first)
    var page = DiffPage(first: first, entered: entered)
    page.selection = try DiffSelection(query)
    page.origin = PageOrigin(call.request).description
    var status = HTTPResponse.Status.ok
    var bundles: (first: StoredBundle, second: StoredBundle)?
    do {
      if !entered.isEmpty {
        guard let other = SnapshotID(entered) else { throw HTTPProblem.malformedID(entered) }
        page.second = try await service.record(other, visibleTo: call.caller)
        call.compares(with: other)
        bundles = (try await service.open(id), try await service.open(other))
      }
    } catch {
      guard let problem = SnapshotProblem.answer(to: error), problem.status.code < 500 || problem.isDamage
      else {
        throw error
      }
      page.second = nil
      page.mistake = .init(.with, problem.detail)
      status = problem.isDamage ? .ok : problem.status
    }
    if page.second == nil { page.candidates = try await candidates(for: first, call.caller) }
    do {
      page.filter =
        try page.selection.ignored.map { (text) throws(ComparisonFilter.MalformedRule) in
          try ComparisonFilter(text)
        } ?? filter
    } catch {
      if bundles != nil { page.mistake = .init(.ignore, error.description) }
      (bundles, status) = (nil, .badRequest)
    }
    let (base, shownStatus) = (page, status)
    guard let bundles else {
      return try await pages.render(base, for: call.visitor, status: status)
    }
    return try await Self.comparisons.perform(weight: weight(of: bundles, base.selection)) { queue in
      try await pages.render(call.visitor, status: shownStatus, on: queue) { renderer, frame in
        var page = base
        page.content = try BundleReading.differences(
          bundles.first, bundles.second, base.selection, base.filter)
        return renderer.render(page, in: frame)
      }
    }
  }

  /// Returns about how many bytes a comparison reads. Finding the sizes of an item is short, and comes first.
  private func weight(
    of bundles: (first: StoredBundle, second: StoredBundle), _ selection: DiffSelection
  ) async throws -> Int64 {
    let (first, second) = bundles
    guard let item = selection.item else {
      return min(first.record.size + second.record.size, ComparisonLimits.list.totalBytes)
    }
    return try await Self.comparisons.perform(weight: 0) { queue in
      try await queue.perform { () throws(any Error) in try BundleReading.size(of: item, first, second) }
    }
  }

  /// Returns snapshots to compare with `record`: those of its report, or if there are none, of its application.
  private func candidates(for record: SnapshotRecord, _ caller: Caller) async throws -> [SnapshotRecord] {
    var query = CatalogQuery(report: record.report)
    query.scope = CatalogQuery.Scope(caller.limits)
    let found = try await others(query, than: record, caller)
    guard found.isEmpty else { return found }
    query.report = nil
    query.application = record.application.identifier
    return try await others(query, than: record, caller)
  }

  private func others(
    _ query: CatalogQuery, than record: SnapshotRecord, _ caller: Caller
  ) async throws -> [SnapshotRecord] {
    do {
      return try await service.page(query, PageRequest(limit: PageLimits.rows)).filtered {
        caller.mayRead($0) && $0.id != record.id
      }.records
    } catch {
      // While the catalogue is not available, none are proposed.
      guard error.isTemporary else { throw error }
      return []
    }
  }
}

extension SnapshotService {
  /// Returns the record of a snapshot that `caller` may read.
  func record(_ id: SnapshotID, visibleTo caller: Caller) async throws -> SnapshotRecord {
    try await caller.lookUp { () throws(StoreError) in
      try await record(id)
    } visible: {
      caller.mayRead($0)
    }
  }
}

extension HTTPProblem {
  /// Whether the problem is a damaged bundle. Its record can still be shown.
  var isDamage: Bool { ProblemKind(self) == .snapshotDamaged }
}
