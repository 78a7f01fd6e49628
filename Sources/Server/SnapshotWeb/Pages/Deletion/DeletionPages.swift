import AccessControl
import HTTPEngine
import HTTPTypes
import Observability
import SnapshotAPI
import SnapshotFormat
import SnapshotService
import SnapshotStore

/// The page that deletes the results of a search.
struct DeletionPages: Sendable {
  /// How many snapshots are deleted at a time. An object store takes some tens of milliseconds for each.
  private static let concurrency = 8

  private let pages: PageMaker
  private let service: SnapshotService
  private let limits: ServiceLimits

  init(_ pages: PageMaker, _ service: SnapshotService, limits: ServiceLimits) {
    self.pages = pages
    self.service = service
    self.limits = limits
  }

  /// All endpoints.
  var endpoints: [Endpoint] {
    let path = PagePath.deletion().description
    return [
      .page(.listSnapshots, .get, path, .delete, handler: show),
      .page(.deleteSnapshot, .post, path, .delete, handler: delete),
    ]
  }

  private func show(_ call: PageCall) async throws -> HTTPServerResponse {
    let search = try SearchForm(call.query(SearchField.allCases.map(\.rawValue)))
    guard !search.isEmpty else {
      throw HTTPProblem.badRequest("Search first: only the results of a search are deleted.")
    }
    let request = try search.request(length: DeletionPage.maximum, call.caller, limits)
    let found = try await service.page(request.query, request.page)
    let page = DeletionPage(
      search: search,
      records: found.filtered { call.caller.mayRead($0) && call.caller.mayDelete($0) }.records,
      hasMore: found.next != nil)
    return try await pages.render(page, for: call.visitor)
  }

  private func delete(_ call: PageCall) async throws -> HTTPServerResponse {
    let form = try await pages.form(of: call, limit: DeletionPage.formBytes)
    guard let ids = DeletionPage.ids(try form[.snapshots]) else {
      throw HTTPProblem.badRequest(
        "The form must name 1 to \(DeletionPage.maximum) snapshots by their UUIDs.")
    }
    let cameFrom = ListPath(try form[.next])
    try await call.caller.requireValid()
    let problems = await delete(ids, call)
    guard let first = problems.first else {
      let home = PagePath.home().description(after: .severalDeleted)
      return .seeOther(cameFrom?.description(after: .severalDeleted) ?? home)
    }
    let page = ProblemPage(
      status: first.status.code, title: "Not all snapshots were deleted",
      detail: """
        \(Measures.count(ids.count - problems.count, "snapshot")) deleted, \(Measures.number(problems.count)) not. The \
        first of these: \(first.detail) Repeat the search to see what remains.
        """, requestID: call.request.id)
    return try await pages.render(page, for: call.visitor, status: first.status)
  }

  /// Deletes the snapshots, and returns the problems of those that were not.
  private func delete(_ ids: [SnapshotID], _ call: PageCall) async -> [HTTPProblem] {
    await withTaskGroup(of: HTTPProblem?.self) { group in
      var problems: [HTTPProblem] = []
      var waiting = ids[...]
      for id in waiting.prefix(Self.concurrency) { group.addTask { await delete(id, call) } }
      waiting = waiting.dropFirst(Self.concurrency)
      while let problem = await group.next() {
        if let problem { problems.append(problem) }
        if let id = waiting.popFirst() { group.addTask { await delete(id, call) } }
      }
      return problems
    }
  }

  /// Deletes a snapshot, and returns the problem if it is still there.
  private func delete(_ id: SnapshotID, _ call: PageCall) async -> HTTPProblem? {
    do {
      let record = try await call.caller.lookUp { () throws(StoreError) in
        try await service.record(id)
      } visible: {
        call.caller.mayRead($0) && call.caller.mayDelete($0)
      }
      do {
        try await service.delete(id)
      } catch {
        await call.audit(.deleteSnapshot, of: record, failedBy: error)
        throw error
      }
      await call.audit(.deleteSnapshot, of: record)
      return nil
    } catch StoreError.deleted {
      return nil
    } catch {
      return SnapshotProblem.answer(to: error)
        ?? HTTPProblem(.internalError, detail: "The server failed. Its log has the reason.")
    }
  }
}
