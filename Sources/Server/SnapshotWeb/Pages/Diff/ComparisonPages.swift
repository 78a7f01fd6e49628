import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SystemIO

/// The pages that compare two snapshots.
struct ComparisonPages: Sendable {
  static let comparisons = ComparisonQueue()
  /// Comparisons that take much memory, one at a time.
  private static let largeComparisons = ComparisonQueue(workers: 1)

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
        for record in [first, page.second] {
          if let record, record.sealed != nil { throw HTTPProblem.sealed(record) }
        }
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
    if page.second == nil {
      let choice = try await service.otherSnapshots(for: first, call.caller)
      (page.candidates, page.proposed) = (choice.candidates, choice.proposed?.id)
    }
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
    let weight = try await weight(of: bundles, base.selection)
    let comparisons = weight > ComparisonLimits.large ? Self.largeComparisons : Self.comparisons
    return try await comparisons.perform(weight: weight) { queue in
      try await pages.render(call.visitor, status: shownStatus, on: queue) { renderer, frame in
        var page = base
        page.content = try BundleReading.differences(
          bundles.first, bundles.second, base.selection, base.filter)
        return renderer.render(page, in: frame)
      }
    }
  }

  /// Returns about how many bytes a comparison reads. Finding the sizes is short, and comes first.
  private func weight(
    of bundles: (first: StoredBundle, second: StoredBundle), _ selection: DiffSelection
  ) async throws -> Int64 {
    let (first, second) = bundles
    return try await Self.comparisons.perform(weight: 0) { queue in
      try await queue.perform { () throws(any Error) in try BundleReading.size(of: selection, first, second) }
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
