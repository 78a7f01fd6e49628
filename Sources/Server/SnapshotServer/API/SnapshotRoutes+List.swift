import Dispatch
import HTTPEngine
import HTTPSemantics
import HTTPTypes
import SnapshotFormat
import SnapshotStore
import SystemIO

extension SnapshotRoutes {
  /// Sends one page of a report's records.
  func listReport(_ call: APIRequest) async throws -> HTTPServerResponse {
    let report = try call.value(of: .report)
    guard call.caller.limits.include(report) else { throw SnapshotProblem.outsideLimits("reports") }
    return try await list(call, report: report)
  }

  /// Sends one page of all records.
  func listAll(_ call: APIRequest) async throws -> HTTPServerResponse {
    try await list(call, report: nil)
  }

  private func list(_ call: APIRequest, report: ReportID?) async throws -> HTTPServerResponse {
    var list = try ListRequest(call.query(), report: report, limits: limits)
    list.query.scope = CatalogQuery.Scope(call.caller.limits)
    // The catalogue leaves out what the caller may not see; that is not all that stands in between.
    let page = try await service.page(list.query, list.page).filtered(call.caller.mayRead)
    let total = list.wantsTotal ? try await service.total(list.query) : nil
    // A thousand records take milliseconds to encode, which an event loop does not have.
    let body = try await Self.encoder.perform { () throws(any Error) in
      try JSONBody(PageAnswer(page, total: total))
    }
    var fields: HTTPFields = [:]
    if let next = page.next {
      fields[.link] = "<\(call.request.path)?\(list.queryString(after: next))>; rel=\"next\""
    }
    return body.response(.ok, fields)
  }

  private static let encoder = DispatchQueue(label: "snapshot-server.encoder")
}

extension CatalogQuery.Scope {
  /// What a caller may see; `nil` where that is everything.
  init?(_ limits: CallerLimits) {
    guard !limits.areNone else { return nil }
    self.init(
      reportPrefixes: limits.reportPrefixes?.sorted(), applications: limits.applications?.sorted())
  }
}
