import AccessControl
import Foundation
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotDiff
import SnapshotFormat
import SnapshotService
import SnapshotStore
import SnapshotViewer
import SystemIO
import ZipArchive

/// The pages of a snapshot and its files, and the forms that change it.
struct SnapshotPages: Sendable {
  private static let readers = ServerQueues.shared.longReaders

  private let pages: PageMaker
  private let service: SnapshotService
  private let access: AccessPolicy
  private let limits: ServiceLimits
  private let showsHistory: Bool
  private let viewer: ViewerCache
  private let contents = ContentsCache()
  private let filter: ComparisonFilter

  init(
    _ pages: PageMaker, _ service: SnapshotService, access: AccessPolicy, limits: ServiceLimits,
    showsHistory: Bool, viewer: ViewerCache, filter: ComparisonFilter
  ) {
    self.pages = pages
    self.service = service
    self.viewer = viewer
    self.filter = filter
    self.access = access
    self.limits = limits
    self.showsHistory = showsHistory
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    [
      .page(.readSnapshot, .get, "/snapshots/{id}", .read, handler: showSnapshot),
      .page(.fetchBundle, .get, "/snapshots/{id}/bundle", .bundle) { call in
        try await SnapshotRoutes(service, limits: limits).bundle(call.asAPI)
      },
      .page(.fetchFile, .get, "/snapshots/{id}/files/{path...}", .read, handler: showFile),
      .page(.fetchFile, .get, "/snapshots/{id}/raw/{path...}", .read) { call in
        try await FileRoutes(service: service, limits: limits).file(call.asAPI)
      },
      .page(.fetchFile, .get, "/snapshots/{id}/decoded/{path...}", .read, handler: sendDecoded),
      .page(.fetchFolder, .get, "/snapshots/{id}/files.zip", .read) { call in
        try await FileRoutes(service: service, limits: limits).folder(call.asAPI)
      },
      .page(.deleteSnapshot, .post, Self.template(.delete), .delete, handler: delete),
      .page(.changeSnapshot, .post, Self.template(.pin), .delete) {
        try await change($0, RecordChange(isPinned: true), .pinned)
      },
      .page(.changeSnapshot, .post, Self.template(.unpin), .delete) {
        try await change($0, RecordChange(isPinned: false), .unpinned)
      },
      .page(.changeSnapshot, .post, Self.template(.markGood), .delete) {
        try await change($0, RecordChange(isGood: true), .good)
      },
      .page(.changeSnapshot, .post, Self.template(.unmarkGood), .delete) {
        try await change($0, RecordChange(isGood: false), .notGood)
      },
      .page(.commentOnSnapshot, .post, Self.template(.comment), .comment, handler: comment),
      .page(.createLink, .post, Self.template(.link), .read, handler: makeLink),
    ]
  }

  // MARK: - Showing

  private func showSnapshot(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query(([.show, .done, .next] + ListSelection.fields).map(\.rawValue))
    let selection = try ListSelection(query)
    let panel = try Self.panel(query)
    let notice = try query.value(PageField.done.rawValue).flatMap(PageNotice.init)
    let id = try call.value(of: .id)
    let record = try await service.record(id, visibleTo: call.caller)
    call.asAPI.concerns(record)
    var shown = page(of: record, call)
    shown.cameFrom =
      try query.value(PageField.next.rawValue).flatMap { ListPath($0) }
      ?? ListPath(referrerOf: call.request)
    if panel == .details { shown.neighbours = try await service.neighbours(of: record, for: call.caller) }
    let bundle = try await readable(record)
    if record.sealed == nil {
      shown.other = try await service.otherSnapshots(for: record, call.caller).proposed
    }
    // On an object store, a bundle that nobody asked for is not worth a long download.
    let isShort = (shown.other?.size ?? 0) <= RecordedChanges.mostBytes
    let (other, _) = try await other(panel == nil && isShort ? shown.other?.id : nil, call)
    let complete = shown
    var response = try await pages.render(call.visitor, notice: notice, on: Self.readers.next) {
      [viewer, contents, filter] renderer, frame in
      var page = complete
      page.selected = panel.map { .panel($0) } ?? .nothing
      if let bundle {
        page.contents = try BundleReading.list(
          of: bundle, selection, cache: contents, with: other, filter: filter)
        if panel == nil { try page.selectFirst(of: bundle, cache: viewer, with: other, filter) }
      }
      // Without a list, there is still the record.
      if case .failure = page.contents, panel == nil { page.selected = .panel(.details) }
      return renderer.render(page, in: frame)
    }
    // The script loads parts of the first file.
    if panel == nil { response.allowRequestsOfScripts() }
    return response
  }

  private func showFile(_ call: PageCall) async throws -> HTTPServerResponse {
    let selection = try FileSelection(call.query(FileSelection.fields.map(\.rawValue)))
    let bundle = try await service.bundle(for: call.asAPI)
    let names = try FileRoutes.names(of: call.asAPI)
    let shown = page(of: bundle.record, call)
    let (other, failure) = try await other(selection.with, call)
    var response = try await pages.render(call.visitor, on: Self.readers.next) {
      [viewer, contents, filter] renderer, frame in
      let entry = try FileRoutes.entry(named: names, in: bundle)
      var file = try BundleReading.preview(
        of: entry, in: bundle, selection, cache: viewer, with: other, filter: filter)
      if let failure { file.comparison = failure }
      if selection.isPart { return renderer.renderPart(of: file, in: frame) }
      var page = shown
      page.contents = try BundleReading.list(
        of: bundle, selection.list, current: entry.name, cache: contents, with: other, filter: filter)
      page.other = other?.record
      page.selected = .file(file)
      return renderer.render(page, in: frame)
    }
    // The script loads parts of the file.
    response.allowRequestsOfScripts()
    return response
  }

  /// The page of a snapshot without its contents.
  private func page(of record: SnapshotRecord, _ call: PageCall) -> SnapshotPage {
    SnapshotPage(
      record: record, contents: .failure(record.sealed == nil ? .damaged : .sealed),
      origin: PageOrigin(call.request).description,
      actions: Self.actions(on: record, of: call.caller),
      showsHistory: showsHistory && call.caller.may(.admin))
  }

  private static func panel(_ query: QueryParameters) throws(HTTPProblem) -> SnapshotPage.Panel? {
    guard let name = try query.value(PageField.show.rawValue) else { return nil }
    guard let panel = SnapshotPage.Panel(rawValue: name) else {
      throw .badRequest("There is no panel ‘\(name)’.")
    }
    return panel
  }

  /// Opens the snapshot with which a file is compared. If it can't be read, the file is shown nevertheless, with the
  /// reason.
  private func other(
    _ id: SnapshotID?, _ call: PageCall
  ) async throws -> (bundle: StoredBundle?, failure: FileComparison?) {
    guard let id else { return (nil, nil) }
    do {
      let record = try await service.record(id, visibleTo: call.caller)
      call.compares(with: id)
      guard record.sealed == nil else { throw HTTPProblem.sealed(record) }
      return (try await service.open(id), nil)
    } catch {
      guard let problem = SnapshotProblem.answer(to: error), problem.status.code < 500 || problem.isDamage
      else { throw error }
      return (nil, FileComparison(outcome: .failed(problem.detail)))
    }
  }

  /// Sends the decoded contents of a string in a file.
  private func sendDecoded(_ call: PageCall) async throws -> HTTPServerResponse {
    let query = try call.query([PageField.decode.rawValue])
    let string = try query.value(PageField.decode.rawValue) ?? ""
    let bundle = try await service.bundle(for: call.asAPI)
    let names = try FileRoutes.names(of: call.asAPI)
    let content = try await Self.readers.next.perform { [viewer] () throws(any Error) in
      let entry = try FileRoutes.entry(named: names, in: bundle)
      return try BundleReading.decoded(string, in: entry, of: bundle, cache: viewer)
    }
    return try content.response(to: call.request)
  }

  /// Returns the bundle, or `nil` if it is sealed or damaged, which the snapshot's page shows.
  private func readable(_ record: SnapshotRecord) async throws(StoreError) -> StoredBundle? {
    guard record.sealed == nil else { return nil }
    do {
      return try await service.open(record.id)
    } catch {
      if case .damaged = error { return nil }
      throw error
    }
  }

  /// Returns the actions that `caller` may perform on the snapshot of `record`.
  private static func actions(on record: SnapshotRecord, of caller: Caller) -> Set<SnapshotPage.Action> {
    var actions: Set<SnapshotPage.Action> = [.link]
    if caller.mayComment(on: record) { actions.insert(.comment) }
    if caller.mayDelete(record) {
      actions.formUnion([
        .delete, record.isPinned ? .unpin : .pin, record.isGood ? .unmarkGood : .markGood,
      ])
    }
    return actions
  }

  // MARK: - Changing

  private static func template(_ action: SnapshotPage.Action) -> String {
    "/snapshots/{id}/\(action.rawValue)"
  }

  private func delete(_ call: PageCall) async throws -> HTTPServerResponse {
    let (record, cameFrom) = try await changeable(call)
    try await service.delete(record.id)
    return .seeOther(
      cameFrom?.description(after: .deleted) ?? PagePath.report(record.report).description(after: .deleted))
  }

  private func change(
    _ call: PageCall, _ change: RecordChange, _ notice: PageNotice
  ) async throws -> HTTPServerResponse {
    let (record, cameFrom) = try await changeable(call)
    try await service.change(change, of: record.id)
    return Self.redirect(to: .panel(record.id, .details), after: notice, cameFrom)
  }

  private func comment(_ call: PageCall) async throws -> HTTPServerResponse {
    let form = try await pages.form(of: call)
    let (text, cameFrom) = (try form.lines(of: .comment), ListPath(try form[.next]))
    try await call.caller.requireValid()
    let id = try await service.commentable(for: call.asAPI)
    _ = try await service.comment(text, on: id, by: call.caller, limits: limits.comments)
    return Self.redirect(to: .panel(id, .comments), after: .commented, cameFrom)
  }

  /// Returns the record of the snapshot that the form changes, if the visitor may change it, and the list that the
  /// visitor came from.
  private func changeable(_ call: PageCall) async throws -> (SnapshotRecord, ListPath?) {
    let cameFrom = ListPath(try await pages.form(of: call)[.next])
    try await call.caller.requireValid()
    return (try await service.deletable(for: call.asAPI), cameFrom)
  }

  /// Redirects to a page of a snapshot, which keeps the list that the visitor came from.
  private static func redirect(
    to path: PagePath, after notice: PageNotice, _ cameFrom: ListPath?
  ) -> HTTPServerResponse {
    let next = cameFrom.map { "&\(PageField.next.rawValue)=\(PercentCoding.encode($0.description))" } ?? ""
    return .seeOther(path.description(after: notice) + next)
  }

  private func makeLink(_ call: PageCall) async throws -> HTTPServerResponse {
    let seconds = try await pages.form(of: call)[.seconds]
    try await call.caller.requireValid()
    let record = try await service.record(try call.value(of: .id), visibleTo: call.caller)
    call.asAPI.concerns(record)
    let link = try access.link(to: record.id, seconds: seconds.isEmpty ? nil : seconds)
    let page = LinkPage(
      record: record, link: PageOrigin(call.request).description + link.link, expiresAt: link.expiresAt)
    return try await pages.render(page, for: call.visitor)
  }
}

extension Unreadable {
  static let sealed = Unreadable(
    "This snapshot is sealed: the server can't read what is in it. The command below opens it with an identity."
  )
  static let damaged = Unreadable(
    "The server's copy of the bundle is damaged. Attaching the same bundle again repairs it."
  )
}

extension SnapshotPage {
  /// Selects the first file of the list, if there is one.
  fileprivate mutating func selectFirst(
    of bundle: StoredBundle, cache: ViewerCache, with other: StoredBundle?, _ filter: ComparisonFilter
  ) throws {
    guard case .success(var list) = contents, let path = list.first else { return }
    let file = FileSelection(list: list.selection, with: other?.record.id)
    let entry: ZipEntry
    do { entry = try FileRoutes.entry(named: [path], in: bundle) } catch is HTTPProblem {
      // The page of the file says why it can't be shown.
      return
    }
    selected = .first(
      try BundleReading.preview(of: entry, in: bundle, file, cache: cache, with: other, filter: filter))
    list.current = path
    contents = .success(list)
  }
}
