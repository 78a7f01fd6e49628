import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore
import Webhooks

/// The page that finds snapshots: the search with its results.
struct ListPages: Sendable {
  /// The number of days in the chart.
  private static let chartDays = 30

  private let pages: PageMaker
  private let service: SnapshotService
  private let access: AccessPolicy
  private let limits: ServiceLimits
  private let webhooks: Webhooks?

  init(
    _ pages: PageMaker, _ service: SnapshotService, access: AccessPolicy, limits: ServiceLimits,
    webhooks: Webhooks?
  ) {
    self.webhooks = webhooks
    self.pages = pages
    self.service = service
    self.access = access
    self.limits = limits
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(.listSnapshots, .get, "/", .read, handler: showHome)
    ]
  }

  private func showHome(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query(
      SearchField.allCases.map(\.rawValue) + [PageField.cursor.rawValue, PageField.done.rawValue])
    var search = try SearchForm(query)
    let cursor = try query.value(PageField.cursor.rawValue)
    if cursor == nil, let place = try await place(named: search, for: call.caller) {
      return .seeOther(place.description)
    }
    let notice = try query.value(PageField.done.rawValue).flatMap(PageNotice.init)
    let page: HomePage
    var status = HTTPResponse.Status.ok
    do {
      page = try await homePage(search, cursor, for: call.caller)
    } catch let error as CatalogError where error.isTemporary {
      page = HomePage(search: search, list: .outage)
      status = .serviceUnavailable
    } catch {
      guard let problem = SnapshotProblem.answer(to: error), problem.status == .badRequest else {
        throw error
      }
      search.mistake = problem.detail
      page = HomePage(search: search, list: SnapshotList([]))
      status = .badRequest
    }
    return try await pages.render(page, for: call.visitor, status: status, notice: notice)
  }

  private func homePage(
    _ search: SearchForm, _ cursor: String?, for caller: Caller
  ) async throws -> HomePage {
    let length = search.values[.text] == nil ? SnapshotList.pageLength : SnapshotList.searchLength
    var request = try search.request(length: length, cursor: cursor, caller, limits)
    if let narrowed = try await reports(beginningWith: search, request.query) { request.query = narrowed }
    var list = try await list(request, isContinued: cursor != nil, caller)
    // For a caller with a limited scope, counting can read many records.
    if cursor == nil, request.query.scope == nil {
      let total = try await service.total(request.query)
      (list.total, list.totalIsExact) = (total.count, total.isExact)
    }
    let days = cursor == nil ? try await days(request.query) : []
    var page = HomePage(search: search, list: list, days: days, mayDelete: caller.may(.delete))
    page.showsWebhooks = caller.may(.admin) && caller.limits.isUnlimited && webhooks?.isEnabled == true
    return page
  }

  /// Returns the page of the snapshot or report that the search text identifies, or `nil`. A report must have
  /// snapshots.
  private func place(named search: SearchForm, for caller: Caller) async throws -> PagePath? {
    guard search.values.count == 1, let text = search.values[.text] else { return nil }
    if let id = SnapshotID(text) { return try await place(of: id, for: caller) }
    if let report = ReportID(text), caller.limits.include(report) {
      var query = CatalogQuery(report: report)
      query.scope = CatalogQuery.Scope(caller.limits)
      if try await hasRecords(query) { return .report(report) }
    }
    if Self.isVersion(text) {
      var query = CatalogQuery()
      (query.versions, query.scope) = (VersionRange(text), CatalogQuery.Scope(caller.limits))
      if try await hasRecords(query) { return .home(SearchForm([.version: text])) }
    }
    // The last component of a snapshot's URL, on this server or for the app.
    let last = text.prefix { $0 != "?" }.split(separator: "/").last ?? ""
    let name = last.hasSuffix(".zip") ? last.dropLast(4) : last
    return text.contains("/") ? SnapshotID(String(name)).map { .snapshot($0) } : nil
  }

  /// Whether `query` finds anything. Without the catalogue, it does not.
  private func hasRecords(_ query: CatalogQuery) async throws -> Bool {
    do {
      return try await !service.page(query, PageRequest(limit: 1)).records.isEmpty
    } catch {
      guard error.isTemporary else { throw error }
      return false
    }
  }

  /// Whether `text` can only be a version: at least two numbers, separated by full stops.
  private static func isVersion(_ text: String) -> Bool { text.wholeMatch(of: /[vV]?\d+(\.\d+)+/) != nil }

  /// The query for the reports whose names begin with the text of `search`, instead of those with its words: for `BUG-8`,
  /// because a single letter or digit is not the beginning of a word. `nil` for other texts, or if there are none.
  private func reports(beginningWith search: SearchForm, _ query: CatalogQuery) async throws -> CatalogQuery?
  {
    guard let text = search.values[.text], text.wholeMatch(of: /\S*[^\p{L}\p{N}\s][\p{L}\p{N}]/) != nil,
      ReportID(text) != nil
    else { return nil }
    for beginning in text == text.uppercased() ? [text] : [text, text.uppercased()] {
      var narrowed = query
      narrowed.text = nil
      narrowed.scope = (query.scope ?? CatalogQuery.Scope()).narrowed(to: beginning)
      if try await hasRecords(narrowed) { return narrowed }
    }
    return nil
  }

  /// The page of a snapshot; `nil` if `id` names none that the caller may read, but is the UUID in the manifest of one.
  private func place(of id: SnapshotID, for caller: Caller) async throws -> PagePath? {
    do {
      _ = try await caller.lookUp { () throws(StoreError) in
        try await service.record(id)
      } visible: {
        caller.mayRead($0)
      }
    } catch {
      var query = CatalogQuery()
      query.text = id.description
      query.scope = CatalogQuery.Scope(caller.limits)
      do {
        if try await !service.page(query, PageRequest(limit: 1)).records.isEmpty { return nil }
      } catch .incomplete {
        // Without the catalogue, only the snapshot's own UUID finds it.
      }
    }
    return .snapshot(id)
  }

  /// Returns one page of results.
  private func list(
    _ request: ListRequest, isContinued: Bool, _ caller: Caller
  ) async throws -> SnapshotList {
    let page = try await service.page(request.query, request.page).filtered(caller.mayRead)
    return SnapshotList(
      await withIdentifiers(page.records), text: request.query.text, next: page.next?.description,
      isContinued: isContinued)
  }

  /// Returns the records with their identifiers, which are in the store only.
  private func withIdentifiers(_ records: [SnapshotRecord]) async -> [SnapshotRecord] {
    var complete: [SnapshotRecord] = []
    for var record in records {
      do {
        record.identifiers = try await service.record(record.id).identifiers
      } catch {
        // It was deleted meanwhile, or can't be read. Its own page shows that; the row only shows less.
        record.identifiers = nil
      }
      complete.append(record)
    }
    return complete
  }

  /// Returns the activity of the last days, including days without snapshots.
  private func days(_ query: CatalogQuery) async throws -> [ActivityDay] {
    let today = CatalogActivity.day(of: access.clock.now())
    let range = today - Self.chartDays + 1...today
    let activity = try await service.activity(query, days: range)
    guard activity.firstDay <= today else { return [] }
    let found = Dictionary(activity.days.map { ($0.number, $0) }) { first, _ in first }
    return (activity.firstDay...today).map { number in
      ActivityDay(
        day: Date(timeIntervalSince1970: Double(number) * 86_400), count: found[number]?.count ?? 0,
        bytes: found[number]?.bytes ?? 0)
    }
  }
}

extension SnapshotList {
  /// Shown while the catalogue is not available.
  static let outage = SnapshotList(
    [],
    outage: """
      Lists are not available at the moment: the catalogue is being rebuilt, or its database does not answer. You can \
      open the page of a snapshot if you know its UUID.
      """)
}

extension CatalogQuery.Scope {
  /// The part of the scope with the reports whose names begin with `beginning`.
  fileprivate func narrowed(to beginning: String) -> Self {
    var scope = self
    scope.reportPrefixes =
      reportPrefixes.map { prefixes in
        prefixes.compactMap { prefix in
          if beginning.hasPrefix(prefix) { return beginning }
          return prefix.hasPrefix(beginning) ? prefix : nil
        }
      } ?? [beginning]
    return scope
  }
}
