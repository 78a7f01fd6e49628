import AccessControl
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotStore
import SystemIO

extension WebPages {
  /// What shows a snapshot and what is in it.
  var snapshots: [Endpoint] {
    [
      .page("readSnapshot", .get, "/snapshots/{id}", .read, handler: showSnapshot),
      .page("fetchBundle", .get, "/snapshots/{id}/bundle", .bundle) { call in
        try await SnapshotRoutes(service, limits: limits).bundle(call.asAPI)
      },
      .page("fetchFile", .get, "/snapshots/{id}/files/{path...}", .read, handler: showFile),
      .page("fetchFile", .get, "/snapshots/{id}/raw/{path...}", .read) { call in
        try await FileRoutes(service: service, limits: limits).file(call.asAPI)
      },
      .page("compareSnapshots", .get, "/snapshots/{id}/diff", .read, handler: showDifferences),
    ]
  }

  private func showSnapshot(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query(
      [PageField.module, .recordings, .files, .done].map(\.rawValue))
    let selection = SnapshotPage.Selection(
      module: try query.value(PageField.module.rawValue),
      recordings: try Self.start(query, .recordings), files: try Self.start(query, .files))
    let notice = try query.value(PageField.done.rawValue).flatMap(PageNotice.init)
    let id = try call.value(of: .id)
    let record = try await visible(id, to: call.caller)
    call.asAPI.concerns(record)
    let shown = SnapshotPage(
      record: record, contents: .failure(.damaged), selection: selection,
      origin: PageOrigin(call.request).description, actions: Self.actions(on: record, of: call.caller))
    let bundle = try await readable(id)
    return try await render(call.visitor, notice: notice, on: Self.readers.next) { renderer, frame in
      var page = shown
      if let bundle { page.contents = try BundleReading.contents(of: bundle, selection) }
      return renderer.render(page, in: frame)
    }
  }

  private func showFile(_ call: PageCall) async throws -> HTTPServerResponse {
    _ = try call.query([])
    let bundle = try await service.bundle(for: call.asAPI)
    let name = try FileRoutes.name(of: call.asAPI)
    return try await render(call.visitor, on: Self.readers.next) { renderer, frame in
      let entry = try FileRoutes.entry(named: name, in: bundle)
      let page = try BundleReading.preview(of: entry, in: bundle)
      return renderer.render(page, in: frame)
    }
  }

  private func showDifferences(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query([PageField.with.rawValue])
    let entered = (try query.value(PageField.with.rawValue) ?? "").filter { !$0.isWhitespace }
    let id = try call.value(of: .id)
    let first = try await visible(id, to: call.caller)
    call.asAPI.concerns(first)
    var page = DiffPage(first: first, entered: entered)
    var status = HTTPResponse.Status.ok
    var bundles: (first: StoredBundle, second: StoredBundle)?
    do {
      if !entered.isEmpty {
        guard let other = SnapshotID(entered) else { throw HTTPProblem.malformedID(entered) }
        page.second = try await visible(other, to: call.caller)
        call.compares(with: other)
        bundles = (try await service.open(id), try await service.open(other))
      }
    } catch {
      guard let problem = SnapshotProblem.answer(to: error), problem.status.code < 500 || problem.isDamage
      else {
        throw error
      }
      (page.second, page.mistake, status) = (nil, problem.detail, problem.isDamage ? .ok : problem.status)
    }
    if page.second == nil { page.candidates = try await candidates(for: first, call.caller) }
    let (base, pair) = (page, bundles)
    return try await render(call.visitor, status: status, on: Self.readers.next) { renderer, frame in
      var page = base
      if let pair { page.differences = try BundleReading.differences(pair.first, pair.second) }
      return renderer.render(page, in: frame)
    }
  }

  /// What `record` may be compared with: others of its report, or else of its application.
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
      // While the catalogue is made anew, none is proposed.
      guard case .incomplete = error else { throw error }
      return []
    }
  }

  /// The record of a snapshot that `caller` may read.
  func visible(_ id: SnapshotID, to caller: Caller) async throws -> SnapshotRecord {
    try await caller.lookUp { () throws(StoreError) in
      try await service.record(id)
    } visible: {
      caller.mayRead($0)
    }
  }

  /// The bundle; `nil` where it is damaged, which its page tells.
  private func readable(_ id: SnapshotID) async throws(StoreError) -> StoredBundle? {
    do {
      return try await service.open(id)
    } catch {
      if case .damaged = error { return nil }
      throw error
    }
  }

  /// What `caller` may do to the snapshot of `record`.
  private static func actions(on record: SnapshotRecord, of caller: Caller) -> Set<SnapshotPage.Action> {
    var actions: Set<SnapshotPage.Action> = [.link]
    if caller.mayDelete(record) { actions.formUnion([.delete, record.isPinned ? .unpin : .pin]) }
    return actions
  }

  private static func start(_ query: QueryParameters, _ field: PageField) throws(HTTPProblem) -> Int {
    guard let text = try query.value(field.rawValue) else { return 0 }
    guard let number = Int(text), number >= 0 else {
      throw .badRequest("‘\(field.rawValue)’ is a number.")
    }
    return number
  }
}

extension HTTPProblem {
  /// Whether a bundle can't be read any more, of which the record still tells.
  fileprivate var isDamage: Bool { ProblemKind(self) == .snapshotDamaged }
}

extension Unreadable {
  static let damaged = Unreadable(
    "The server's copy of the bundle is damaged. Whoever has the bundle can put it right by attaching it again."
  )
}
